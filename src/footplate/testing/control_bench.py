"""A controller on a real store with a fake engine, for tests of what it does by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from footplate.control.context import Context
from footplate.control.controller import Controller
from footplate.domain import job as jobs
from footplate.domain.clock import Clock
from footplate.domain.cluster import Node, Queue
from footplate.domain.events import Event
from footplate.domain.job import Job
from footplate.domain.resources import GIB
from footplate.domain.states import JobState
from footplate.engines.router import LOCAL, Engines
from footplate.store import queue_queries, transitions
from footplate.store.blobs import Blobs
from footplate.store.cluster import Cluster
from footplate.store.database import open_engine, sqlite_url
from footplate.store.jobfiles import JobFiles
from footplate.store.logs import Logs
from footplate.store.migrate import migrate
from footplate.store.shared import Shared
from footplate.store.store import Store
from footplate.store.usagefiles import UsageFiles
from footplate.testing.builders import spec
from footplate.testing.fake_engine import FakeEngine, FakeWorld

SMALL = Node("fake", 1000, 4 * GIB)


class Life:
    """One life of a server, over what lives longer: the database and the tasks."""

    def __init__(
        self, store: Store, cluster: Cluster, engine: FakeEngine, controller: Controller, clock: Clock
    ) -> None:
        self.store = store
        self.cluster = cluster
        self.engine = engine
        self.controller = controller
        self.clock = clock

    async def submit(self, number: int, **fields: Any) -> str:
        asked = spec(**{"name": f"job-{number}", "command": "wait for the test", **fields})
        job = jobs.submit(f"{number:012d}", "ann", asked, self.clock.now())
        await self.store.write(lambda tx: transitions.insert(tx, job))
        return job.id

    async def tell(self, job_id: str, event: Event) -> None:
        """Let something happen to a job, whether it lives or has ended."""
        await self.store.write(lambda tx: transitions.apply(tx, self.store.board, job_id, event))

    async def until(self, job_id: str, state: JobState, attempt: int = 0) -> Job:
        return await self.until_so(job_id, lambda job: job.state is state and job.attempt == attempt)

    async def until_so(self, job_id: str, is_so: Callable[[Job], bool]) -> Job:
        """Wait until something is so of a job, whether it lives or has ended."""
        async with asyncio.timeout(10):
            while (job := await self.store.job(job_id)) is None or not is_so(job):
                await asyncio.sleep(0.002)
        return job

    async def until_gone(self, job_id: str) -> None:
        async with asyncio.timeout(10):
            while await self.store.job(job_id) is not None:
                await asyncio.sleep(0.002)

    async def state_after_a_pass(self, job_id: str) -> JobState:
        await self.controller.admission.run_pass()
        return self.store.board[job_id].state


@asynccontextmanager
async def life(
    home: Path,
    clock: Clock,
    world: FakeWorld | None = None,
    node: Node = SMALL,
    kind: type[FakeEngine] = FakeEngine,
    more_engines: Mapping[str, FakeEngine] = MappingProxyType({}),
    **parts: Any,
) -> AsyncIterator[Life]:
    """Let a server live for a while; with the world of another, it is the same one after a restart.

    `parts` take the place of those of the shared value that it has by itself.
    """
    database = open_engine(sqlite_url(home))
    migrate(database)
    store, cluster, engine = Store(database, "test", clock.now()), Cluster(), kind(clock, [node], world)
    if world is None:
        await store.write(lambda tx: queue_queries.add_queue(tx.connection, Queue("default"), 0.0))
    await store.read(cluster.load)
    shared = Shared(
        store=store,
        cluster=cluster,
        blobs=Blobs(home),
        clock=clock,
        home=home,
        logs=Logs(home),
        usage=UsageFiles(home),
        files=JobFiles(home),
        **parts,
    )
    context = Context(shared=shared, engines=Engines({LOCAL: engine, **more_engines}, clock))
    controller = Controller(context)
    await controller.start()
    try:
        yield Life(store, cluster, engine, controller, clock)
    finally:
        await controller.close()
        store.close()
