"""Bodies of the REST API for nodes."""

from __future__ import annotations

from pydantic import Field

from footplate.domain.states import JobState
from footplate.wire.body import Amount, Body, Told
from footplate.wire.jobs import UsagePoint


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
    drained_by: str | None = Field(description="The admin who drained it; null while it takes tasks.")
    enforced: list[str]
    unenforced: Told | None = Field(description="Which limits are not enforced there, and why.")
    free: Amount


class CardUse(Body):
    """How busy a card is, by all that runs on it."""

    index: int
    utilisation: float
    memory_bytes: int
    power_w: float | None


class NodeTask(Body):
    """A task that holds a part of a node."""

    job_id: str
    job_name: str
    owner: str
    queue: str
    state: JobState
    task: str
    resources: Amount
    gpus: list[int]


class NodeDetail(NodeBody):
    tasks: list[NodeTask]
    n_hidden_tasks: int = Field(description="Tasks of jobs that the caller may not see.")
    used_memory_bytes: int | None = Field(description="By all that runs there; null: not measured.")
    cards: list[CardUse] = Field(description="Those that can be measured.")


class NodeUsageBody(Body):
    """What was used of a node over time, or of one of its cards."""

    node: str
    card: int | None
    points: list[UsagePoint]


class Nodes(Body):
    items: list[NodeBody]


class NodeChange(Body):
    is_schedulable: bool
