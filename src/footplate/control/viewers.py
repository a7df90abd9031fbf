"""Programs of the platform that show what jobs have made, such as TensorBoard: beside jobs, and after them.

To an engine each is an attempt like any other, of the jobs' owner: confined as that person's tasks are, with
an environment that is built once. It has no row, takes no part in scheduling, and only reads.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from footplate.control.context import Context
from footplate.domain.attempt import Attempt, TaskRun
from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.errors import Conflict, EngineRejected, FootplateError
from footplate.domain.ids import job_id
from footplate.domain.job import Job
from footplate.domain.jobfile import read_job
from footplate.domain.resources import GIB, Resources
from footplate.domain.storage import OWN, Volume
from footplate.engines.base import Engine, LaunchPlan, OpensStreams, Stream
from footplate.store.viewermarks import ViewerMarks

log = logging.getLogger(__name__)

ROLE = "viewer"
TASK = TaskRun(ROLE, 0)
NEEDS = Resources(1000, GIB)
GRACE_S = 2.0
LAST_BYTES = 2048
# Where a viewer finds what the jobs have made.
SHOWN = "/mnt/jobs"


@dataclass(frozen=True, slots=True)
class Viewer:
    """One that runs."""

    id: str
    engine: Engine

    @property
    def attempt(self) -> Attempt:
        return Attempt(self.id, 0, (TASK,))

    def connect(self, port: int) -> AbstractAsyncContextManager[Stream]:
        """Connect to a port at which it listens."""
        assert isinstance(self.engine, OpensStreams)
        return self.engine.connect(self.attempt, TASK, port)

    async def exit_code(self) -> int | None:
        """Say how it ended; None while it runs."""
        (seen,) = await self.engine.observe([self.attempt])
        if not seen.state.is_over:
            return None
        return -1 if seen.exit_code is None else seen.exit_code


class Viewers:
    """Begins viewers, and ends them with whoever asked for them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._marks = ViewerMarks(context.home)
        # Those that this server has begun.
        self._own: set[str] = set()

    @property
    def shown(self) -> str:
        return SHOWN

    def new_id(self) -> str:
        return job_id(self._context.clock.now(), random.getrandbits(20))

    @asynccontextmanager
    async def run(
        self, viewer_id: str, jobs: Sequence[Job], command: str, packages: Sequence[str], secret: str
    ) -> AsyncIterator[Viewer]:
        """Run a command over the output of jobs of one person; whoever leaves ends it.

        It finds each job's output below `SHOWN`, by name. `secret` is in its variable SECRET.
        """
        name, owner = self._engine_of(jobs), jobs[0].owner
        engine = self._context.engines[name]
        await self._context.people.ensure(owner)
        plan = LaunchPlan(
            job_id=viewer_id,
            owner=owner,
            attempt=0,
            spec=read_job(
                {
                    "name": ROLE,
                    "environment": {"requirements": list(packages)},
                    "roles": [{"name": ROLE, "command": command}],
                }
            ),
            placement=Placement((TaskPlacement(ROLE, 0, "", NEEDS),)),
            owner_number=self._context.people.number_of(owner),
            secrets={"SECRET": secret},
            volumes=tuple(
                Volume(OWN, "output", f"{SHOWN}/{name}", of_job=job.id)
                for name, job in shown_as(jobs).items()
            ),
        )
        viewer = Viewer(viewer_id, engine)
        self._own.add(viewer_id)
        await asyncio.to_thread(self._marks.put, viewer_id, name)
        try:
            await engine.launch(engine.compile(plan))
            yield viewer
        finally:
            await asyncio.shield(self._end(viewer))

    def _engine_of(self, jobs: Sequence[Job]) -> str:
        engines = {self._context.engines.name_of(job): self._context.engines.of(job) for job in jobs}
        if len(engines) > 1:
            raise Conflict("viewer_many_engines")
        ((name, engine),) = engines.items()
        if not engine.capabilities.views:
            raise EngineRejected("no_viewers_here")
        return name

    async def _end(self, viewer: Viewer) -> None:
        try:
            await viewer.engine.stop(viewer.attempt, GRACE_S)
            await asyncio.to_thread(self._context.files.remove, viewer.id)
            await asyncio.to_thread(self._marks.remove, viewer.id)
        except FootplateError as error:
            # As one that is left it is tried again.
            log.warning("a viewer was not ended: %s", error)
        self._own.discard(viewer.id)

    async def end_left(self) -> None:
        """End what an earlier server has begun, or this one, and could not end."""
        engines = self._context.engines
        for viewer_id, name in (await asyncio.to_thread(self._marks.all)).items():
            # One whose engine is no longer configured waits until it is again.
            if viewer_id not in self._own and (name or engines.default) in engines:
                await self._end(Viewer(viewer_id, engines[name or engines.default]))

    def last_words(self, viewer_id: str) -> str:
        """What a viewer printed last."""
        said = self._context.logs.open(f"{viewer_id}.0", TASK.name).last_bytes(LAST_BYTES)
        return said.decode(errors="replace").strip()


def shown_as(jobs: Sequence[Job]) -> Mapping[str, Job]:
    """The jobs by the names that they have in a viewer: their own, with their ids where two have the same."""
    names = [job.spec.name for job in jobs]
    return {
        job.spec.name if names.count(job.spec.name) == 1 else f"{job.spec.name}-{job.id}": job for job in jobs
    }
