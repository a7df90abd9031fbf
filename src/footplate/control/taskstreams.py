"""Ways into a task that runs, or that is kept: a command with its streams, or a port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from footplate.control.context import Context
from footplate.control.launch import launch_plan
from footplate.domain.attempt import attempt_of
from footplate.domain.errors import EngineRejected
from footplate.domain.job import Job
from footplate.engines import streams
from footplate.engines.base import OpensStreams, Ran, Request, Stream


class TaskStreams:
    """Opens streams in the engine that a job is in."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def _engine_of(self, job: Job) -> OpensStreams:
        engine = self._context.engines.of(job)
        if not isinstance(engine, OpensStreams):
            raise EngineRejected("no_exec_here")
        return engine

    @asynccontextmanager
    async def run(
        self,
        job: Job,
        role: str,
        index: int,
        argv: Sequence[str],
        terminal: tuple[int, int] | None = None,
        errors_apart: bool = False,
    ) -> AsyncIterator[Stream]:
        """Run a command in a task; whoever leaves ends it."""
        engine, request = self._engine_of(job), await self._request_of(job)
        async with engine.exec(request, role, index, argv, terminal, errors_apart) as stream:
            yield stream

    async def exec(
        self, job: Job, role: str, index: int, argv: Sequence[str], timeout_s: float, stdin: bytes = b""
    ) -> Ran:
        """Run a command in a task, and keep what it writes."""
        engine, request = self._engine_of(job), await self._request_of(job)
        return await streams.run(engine, request, role, index, argv, timeout_s, stdin=stdin)

    async def _request_of(self, job: Job) -> Request:
        context = self._context
        plan = launch_plan(context, job, await context.secrets_of(job))
        return context.engines.of(job).compile(plan)

    @asynccontextmanager
    async def connect(self, job: Job, role: str, index: int, port: int) -> AsyncIterator[Stream]:
        """Connect to a port at which a task listens."""
        attempt = attempt_of(job).only([(role, index)])
        async with self._engine_of(job).connect(attempt, attempt.tasks[0], port) as stream:
            yield stream
