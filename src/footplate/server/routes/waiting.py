"""The waiting jobs over REST, in the order in which they will start."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from footplate.server.auth import Signed, Wired
from footplate.services import waiting
from footplate.wire.body import Text
from footplate.wire.convert import estimate_view, line_view
from footplate.wire.jobs import Waiting

router = APIRouter(prefix="/waiting", tags=["queues"])


@router.get("", response_model=Waiting)
async def list_waiting(
    parts: Wired,
    caller: Signed,
    queue: Annotated[Text, Query(max_length=63, description="Only jobs of this queue.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """Who waits before whom, and why; those that the caller may see. The first have an estimate."""
    platform = parts.platform
    now = platform.clock.now()
    found = await waiting.in_order(platform, caller, queue, limit)
    return {
        "items": [
            {
                **line_view(one.seen, now),
                "estimate": estimate_view(one.estimate) if one.estimate else None,
            }
            for one in found
        ],
        "n_waiting": waiting.n_waiting(platform),
    }
