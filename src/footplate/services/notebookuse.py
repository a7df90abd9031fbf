"""Whether somebody uses a JupyterLab: a kernel that is busy, or what Jupyter itself counts as activity.

Pages that are merely open ask for this and that all the time, which Jupyter does not count.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any

from footplate.engines.base import Stream

ANSWERED_WITHIN_S = 5.0
MOST_BYTES = 1024**2
Connect = Callable[[], AbstractAsyncContextManager[Stream]]


async def idle_s(connect: Connect, prefix: str, secret: str, now: float) -> float | None:
    """Say for how long nobody has used it; None when it does not tell."""
    try:
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            status = await _ask(connect, f"{prefix}api/status", secret)
            kernels = await _ask(connect, f"{prefix}api/kernels", secret)
        return _idle_s(status, kernels, now)
    except (TimeoutError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _idle_s(status: Any, kernels: Any, now: float) -> float:
    if any(kernel["execution_state"] in ("busy", "starting") for kernel in kernels):
        return 0.0
    moments = [status["last_activity"], *(kernel["last_activity"] for kernel in kernels)]
    return max(0.0, now - max(datetime.fromisoformat(moment).timestamp() for moment in moments))


async def _ask(connect: Connect, path: str, secret: str) -> Any:
    # To be asked whether there was any activity is none.
    lines = (
        f"GET {path}?no_track_activity=1 HTTP/1.0",
        "Host: 127.0.0.1",
        f"Authorization: token {secret}",
        "",
        "",
    )
    answer = b""
    async with connect() as stream:
        await stream.write("\r\n".join(lines).encode())
        while (piece := await stream.read()) and len(answer) < MOST_BYTES:
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise ValueError("Jupyter has not answered the question")
    return json.loads(body)
