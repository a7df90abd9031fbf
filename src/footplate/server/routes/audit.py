"""The audit trail over REST."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from footplate.server.auth import Signed, Wired
from footplate.services import audit
from footplate.wire.audit import Audit
from footplate.wire.body import Text
from footplate.wire.convert import instant

router = APIRouter(prefix="/audit", tags=["accounts"])


@router.get("", response_model=Audit)
async def page(
    parts: Wired,
    caller: Signed,
    actor: Annotated[Text, Query(max_length=255, description="Only what this person did.")] = "",
    before: Annotated[int | None, Query(ge=1, le=2**60, description="Only records before this one.")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> dict[str, Any]:
    """Who changed what about people, queues, nodes, images and secrets, newest first. For platform admins."""
    records = await audit.page(parts.platform, caller, before, actor, limit)
    return {
        "items": [
            {
                "seq": one.seq,
                "at": instant(one.at),
                "actor": one.actor,
                "action": one.action,
                "subject": one.subject,
                "detail": dict(one.detail),
            }
            for one in records
        ]
    }
