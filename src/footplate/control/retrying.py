"""Retries an action with back-off until it succeeds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from footplate.domain.errors import StaleLease

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
T = TypeVar("T")

log = logging.getLogger(__name__)


async def keep_trying(what: str, step: Callable[[], Awaitable[T]]) -> T:
    """Repeat a step until it succeeds, with growing pauses; log every failure."""
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            return await step()
        except StaleLease:
            raise
        except Exception:
            log.exception("%s failed; trying again in %g s", what, pause_s)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
