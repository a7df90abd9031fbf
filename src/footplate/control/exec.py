"""Running commands in a task that runs, or that is kept after a failure (`exec`)."""

from __future__ import annotations

from collections.abc import Sequence

from footplate.control.context import Context
from footplate.control.launch import launch_plan
from footplate.domain.errors import EngineRejected
from footplate.domain.job import Job
from footplate.engines.base import OpensStreams, Ran
from footplate.engines.streams import run


async def exec_in_task(
    context: Context,
    job: Job,
    role: str,
    index: int,
    argv: Sequence[str],
    timeout_s: float,
    stdin: bytes = b"",
) -> Ran:
    engine = context.engines.of(job)
    if not isinstance(engine, OpensStreams):
        raise EngineRejected("no_exec_here")
    request = engine.compile(launch_plan(context, job, await context.secrets_of(job)))
    return await run(engine, request, role, index, argv, timeout_s, stdin=stdin)
