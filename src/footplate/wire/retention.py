"""Bodies of the REST API for what is kept: sizes and sweeps."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from footplate.domain.retention import PARTS, Sizes
from footplate.wire.body import Body, Told


class SizesBody(Body):
    logs_bytes: int
    outputs_bytes: int = Field(description="Results and checkpoints.")
    work_bytes: int
    code_bytes: int
    total_bytes: int


class JobSizes(SizesBody):
    job_id: str
    gone: list[str] = Field(description="Parts that were removed because they are kept no longer.")


class UserSizes(SizesBody):
    user: str
    n_jobs: int
    models_bytes: int = Field(description="Of all versions; equal files are on the disk only once.")


class SizesByUser(Body):
    items: list[UserSizes]
    free_bytes: int | None = Field(description="Room on the disk of the server's home folder.")


class SweptBody(Body):
    kind: Literal["logs", "outputs", "work", "code", "uploads", "models", "trash"]
    n: int
    size_bytes: int
    faults: list[Told] = Field(description="What could not be read or removed; the next sweep tries again.")


class Sweep(Body):
    items: list[SweptBody]
    n: int
    size_bytes: int
    is_dry_run: bool


def sizes_view(sizes: Sizes) -> dict[str, Any]:
    return {**{f"{part}_bytes": getattr(sizes, part) for part in PARTS}, "total_bytes": sizes.total}
