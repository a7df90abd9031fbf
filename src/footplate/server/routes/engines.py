"""Engines over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from footplate.server.auth import SIGNED_IN, Wired
from footplate.services import engines
from footplate.wire.convert import engine_view
from footplate.wire.engines import Engines

router = APIRouter(prefix="/engines", tags=["queues"])


@router.get("", response_model=Engines, dependencies=[SIGNED_IN])
async def list_engines(parts: Wired) -> dict[str, Any]:
    """The engines that run tasks, what each can do, and whether it can be used now."""
    return {"items": [engine_view(one) for one in engines.all_engines(parts.platform)]}
