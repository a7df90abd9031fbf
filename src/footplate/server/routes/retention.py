"""What is kept over REST: sizes, and sweeps of what is kept no longer."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from footplate.server.auth import Signed, Wired
from footplate.services import retention
from footplate.wire import retention as w
from footplate.wire.told import told

router = APIRouter(tags=["platform"])


@router.get("/jobs/{job_id}/sizes", response_model=w.JobSizes)
async def of_job(parts: Wired, caller: Signed, job_id: str) -> dict[str, Any]:
    """How much of the disk a job takes, part by part."""
    job, sizes, gone = await retention.sizes_of_job(parts.platform, caller, job_id)
    return {"job_id": job.id, **w.sizes_view(sizes), "gone": list(gone)}


@router.get("/sizes", response_model=w.SizesByUser)
async def by_user(parts: Wired, caller: Signed) -> dict[str, Any]:
    """How much of the disk each person's jobs and models take: for platform admins all, else one's own."""
    found = await retention.sizes_by_user(parts.platform, caller)
    items = [
        {"user": one.user, "n_jobs": one.n_jobs, **w.sizes_view(one.sizes), "models_bytes": one.models_bytes}
        for one in found
    ]
    return {"items": items, "free_bytes": parts.platform.disk.free_bytes}


@router.post("/sweep", response_model=w.Sweep)
async def sweep(
    parts: Wired,
    caller: Signed,
    dry_run: Annotated[bool, Query(description="Only say what would go.")] = False,
) -> dict[str, Any]:
    """Remove now what is kept no longer, and say what that gave back; for platform admins."""
    swept = await retention.sweep(parts.platform, caller, dry_run)
    if not dry_run:
        await parts.controller.sweep()
    return {
        "items": [
            {"kind": one.kind, "n": one.n, "size_bytes": one.size_bytes, "faults": [*map(told, one.faults)]}
            for one in swept
        ],
        "n": sum(one.n for one in swept),
        "size_bytes": sum(one.size_bytes for one in swept),
        "is_dry_run": dry_run,
    }
