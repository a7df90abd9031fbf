"""Bodies of the REST API for nodes."""

from __future__ import annotations

from pydantic import Field

from footplate.wire.body import Amount, Body, Told


class GpuBody(Body):
    index: int
    type: str
    memory_bytes: int
    job_id: str | None
    in_use_by_others: bool


class NodeBody(Body):
    name: str
    address: str
    engine: str
    cpus: float
    memory_bytes: int
    gpus: list[GpuBody]
    is_schedulable: bool
    enforced: list[str]
    unenforced: Told | None = Field(description="Which limits are not enforced there, and why.")
    free: Amount


class Nodes(Body):
    items: list[NodeBody]


class NodeChange(Body):
    is_schedulable: bool
