"""Admission on a real store with a fake engine: nothing decided is lost, and nothing is given twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.control.admit import EXPLAIN_EVERY_S, MOST_AT_ONCE
from footplate.control.context import Context
from footplate.control.controller import Controller
from footplate.control.ports import Ports
from footplate.control.storagewatch import StorageWatch
from footplate.domain import job as jobs
from footplate.domain.cluster import Node, Queue
from footplate.domain.errors import Conflict, StoreUnavailable
from footplate.domain.events import StopAsked
from footplate.domain.job import Job
from footplate.domain.messages import text
from footplate.domain.resources import GIB
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.domain.storage import Storage
from footplate.engines.router import one_engine
from footplate.store import queue_queries, transitions
from footplate.store.blobs import Blobs
from footplate.store.cluster import Cluster
from footplate.store.database import open_engine, sqlite_url
from footplate.store.jobfiles import JobFiles
from footplate.store.logs import Logs
from footplate.store.migrate import migrate
from footplate.store.shared import Shared
from footplate.store.storages import Storages
from footplate.store.store import News, Store
from footplate.store.usagefiles import UsageFiles
from footplate.store.writer import Transaction
from footplate.testing.builders import spec
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine

NODE = Node("fake", 2000, 4 * GIB)


class World:
    """A controller with everything around it."""

    def __init__(self, store: Store, engine: FakeEngine, controller: Controller) -> None:
        self.store = store
        self.engine = engine
        self.controller = controller
        self._n_jobs = 0

    def make(self, **fields: object) -> Job:
        self._n_jobs += 1
        asked = spec(**{"name": f"job-{self._n_jobs}", "command": "wait for the test", **fields})
        return jobs.submit(f"{self._n_jobs:012d}", "ann", asked, 0.0)

    async def submit(self, **fields: object) -> str:
        job = self.make(**fields)
        await self.store.write(lambda tx: transitions.insert(tx, job))
        return job.id

    async def enter(self, job: Job) -> str:
        """Submit a job as people do: it may start at once."""

        def unit(tx: Transaction) -> None:
            if not transitions.insert(tx, job):
                raise Conflict(f"there is a job {job.spec.name} already")

        await self.controller.admission.enter(job, unit)
        return job.id

    async def state(self, job_id: str) -> JobState | None:
        job = await self.store.job(job_id)
        return None if job is None else job.state

    async def until(self, job_id: str, state: JobState) -> None:
        async with asyncio.timeout(10):
            while await self.state(job_id) is not state:
                await asyncio.sleep(0.005)


@asynccontextmanager
async def world(home: Path, ports: Ports, watch: StorageWatch) -> AsyncIterator[World]:
    database = open_engine(sqlite_url(home))
    migrate(database)
    clock = FakeClock()
    store, cluster, engine = Store(database, "test", clock.now()), Cluster(), FakeEngine(clock, [NODE])
    await store.write(lambda tx: queue_queries.add_queue(tx.connection, Queue("default"), 0.0))
    await store.read(cluster.load)
    (home / "sets").mkdir()
    storages = {"sets": Storage("sets", str(home / "sets"))}
    shared = Shared(
        store=store,
        cluster=cluster,
        blobs=Blobs(home),
        clock=clock,
        home=home / "home",
        logs=Logs(home / "home"),
        usage=UsageFiles(home / "home"),
        files=JobFiles(home / "home"),
        storages=Storages(home / "home", storages),
    )
    context = Context(shared=shared, engines=one_engine(engine, clock), ports=ports, storage_watch=watch)
    controller = Controller(context)
    await controller.start()
    try:
        yield World(store, engine, controller)
    finally:
        await controller.close()
        store.close()


Story = Callable[[World], Coroutine[None, None, None]]


def tell(
    home: Path, story: Story, ports: Ports | None = None, watch: type[StorageWatch] = StorageWatch
) -> None:
    async def run() -> None:
        async with world(home, ports or Ports(lambda _node, _port: True), watch()) as one:
            await story(one)

    asyncio.run(run())


def test_a_job_starts_in_the_room_of_one_that_ends(tmp_path: Path) -> None:
    async def story(one: World) -> None:
        first, second, third = [await one.submit() for _ in range(3)]
        await one.until(second, JobState.RUNNING)
        assert await one.state(third) is JobState.QUEUED
        one.engine.finish(f"{first}.0")
        await one.until(third, JobState.RUNNING)
        assert await one.state(first) is JobState.SUCCEEDED

    tell(tmp_path, story)


def test_a_stop_that_comes_between_does_not_keep_others_from_starting(tmp_path: Path) -> None:
    async def story(one: World) -> None:
        first, second, third = [await one.submit(grace="1h") for _ in range(3)]
        await one.until(second, JobState.RUNNING)
        reason = Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann"))
        stopping = one.store.apply(first, StopAsked(1.0, reason, "ann"))
        one.engine.finish(f"{first}.0")
        one.engine.finish(f"{second}.0")
        await stopping
        await one.until(third, JobState.RUNNING)
        await one.until(first, JobState.STOPPED)
        await one.until(second, JobState.SUCCEEDED)

    tell(tmp_path, story)


def test_a_job_without_ports_waits_with_that_reason_and_holds_nobody_up(tmp_path: Path) -> None:
    taken = {7000}

    async def story(one: World) -> None:
        greedy = await one.submit(cpus=2, ports=[{"label": "web", "begin_at": 65_535}])
        modest = await one.submit()
        await one.until(modest, JobState.RUNNING)
        job = await one.store.job(greedy)
        assert job is not None
        assert (job.state, job.reason.code) == (JobState.QUEUED, ReasonCode.NO_PORTS)
        taken.clear()
        one.engine.finish(f"{modest}.0")
        await one.until(greedy, JobState.RUNNING)

    tell(tmp_path, story, Ports(lambda _node, port: port != 65_535 or not taken))


def test_a_job_of_a_silent_storage_waits_with_that_reason_and_holds_nobody_up(tmp_path: Path) -> None:
    silent = {"sets": "storage sets does not answer"}

    class Silent(StorageWatch):
        def silences(self) -> dict[str, str]:
            return dict(silent)

    async def story(one: World) -> None:
        held = await one.submit(cpus=2, data=[{"storage": "sets", "path": "/data"}])
        other = await one.submit()
        await one.until(other, JobState.RUNNING)
        job = await one.store.job(held)
        assert job is not None
        assert (job.state, job.reason.code) == (JobState.QUEUED, ReasonCode.STORAGE_SILENT)
        assert (job.reason.message, job.attempt) == (silent["sets"], 0)
        silent.clear()
        one.engine.finish(f"{other}.0")
        await one.until(held, JobState.RUNNING)

    tell(tmp_path, story, watch=Silent)


def test_what_somebody_was_told_of_a_waiting_job_is_what_its_row_says(tmp_path: Path) -> None:
    async def story(one: World) -> None:
        admission, clock = one.controller.admission, one.engine.clock
        assert isinstance(clock, FakeClock)

        async def passes_until(has_come: Callable[[], bool]) -> None:
            async with asyncio.timeout(10):
                while not has_come():
                    clock.advance(EXPLAIN_EVERY_S)
                    one.controller.replan()
                    await asyncio.sleep(0.005)

        def stored() -> Reason:
            return one.store.board[waiting].reason

        for _ in range(2):
            await one.submit()
        waiting = await one.submit(cpus=2)
        await one.submit(priority=9, cpus=2)
        await passes_until(lambda: stored().code is ReasonCode.BEHIND_OTHERS)
        await one.submit(priority=9, cpus=1.5)
        await passes_until(lambda: len(admission.order) == 3)
        assert stored().details["ahead"] == 1, "nobody has asked, so that no commit was made for a number"
        told = await admission.explain([waiting, "not there"])
        assert told == {waiting: (stored(), 2)}
        assert stored().details["ahead"] == 2
        row = one.store.board[waiting]
        assert await admission.explain([waiting]) == told
        assert one.store.board[waiting] is row, "nothing is new, so that no commit was made"

    tell(tmp_path, story)


def test_why_a_job_waits_is_told_also_while_nothing_can_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_unit: object) -> None:
        raise StoreUnavailable("engine_unreachable")

    async def story(one: World) -> None:
        admission = one.controller.admission
        for _ in range(2):
            await one.submit()
        waiting = await one.submit(cpus=2)
        await admission.run_pass()
        before = one.store.board[waiting].reason
        with monkeypatch.context() as patch:
            patch.setattr(one.store, "write", refuse)
            told = await admission.explain([waiting])
        assert told[waiting][0] == before == one.store.board[waiting].reason

    tell(tmp_path, story)


def test_what_the_nodes_have_is_never_given_twice(tmp_path: Path) -> None:
    async def story(one: World) -> None:
        ids = [await one.submit() for _ in range(12)]
        for _ in range(200):
            running = [job for job in list(one.store.board.values()) if job.placement is not None]
            assert len(running) <= 2
            for attempt_id, role, index in one.engine.running():
                one.engine.finish(attempt_id, role, index)
            if [await one.state(job_id) for job_id in ids] == [JobState.SUCCEEDED] * 12:
                return
            await asyncio.sleep(0.01)
        pytest.fail("not all jobs came to an end")

    tell(tmp_path, story)


def test_a_job_that_fits_starts_in_the_commit_of_its_submit(tmp_path: Path) -> None:
    async def story(one: World) -> None:
        commits: list[News] = []
        one.store.subscribe(commits.append)
        entered = await one.enter(one.make())
        assert [event.kind for event in commits[0].events] == ["submitted", "starting"]
        await one.until(entered, JobState.RUNNING)

    tell(tmp_path, story)


def test_jobs_that_arrive_together_get_no_more_than_there_is(tmp_path: Path) -> None:
    async def story(one: World) -> None:
        ids = await asyncio.gather(*(one.enter(one.make()) for _ in range(12)))
        # By now those that started may run already.
        waits = [one.store.board[job_id].state is JobState.QUEUED for job_id in ids]
        assert waits == [False] * 2 + [True] * 10
        await one.until(ids[1], JobState.RUNNING)
        for attempt_id, role, index in one.engine.running():
            one.engine.finish(attempt_id, role, index)
        await one.until(ids[3], JobState.RUNNING)
        assert await one.state(ids[4]) is JobState.QUEUED

    tell(tmp_path, story)


def test_a_job_that_is_refused_takes_no_room_from_those_beside_it(tmp_path: Path) -> None:
    async def story(one: World) -> None:
        await one.enter(one.make(name="taken", cpus=0.1))
        twice = one.make(name="taken", cpus=1.5)
        refused, entered = await asyncio.gather(
            one.enter(twice), one.enter(one.make(cpus=1.5)), return_exceptions=True
        )
        assert isinstance(refused, Conflict)
        assert isinstance(entered, str)
        await one.until(entered, JobState.RUNNING)
        assert twice.id not in one.store.board
        assert [job.id for job in one.controller.admission.snapshot().pending] == []

    tell(tmp_path, story)


def test_news_that_come_late_do_not_let_a_running_job_wait_again(tmp_path: Path) -> None:
    async def story(one: World) -> None:
        entered = await one.enter(one.make())
        await one.until(entered, JobState.RUNNING)
        stale = replace(one.store.board[entered], state=JobState.QUEUED, placement=None)
        one.store._publish(News([], [], {entered: stale}))
        assert [job.id for job in one.controller.admission.snapshot().pending] == []
        assert await one.controller.admission.run_pass()

    tell(tmp_path, story)


def test_a_job_is_stored_also_when_the_planning_fails(tmp_path: Path) -> None:
    is_broken = [True]

    def is_free(_node: str, _port: int) -> bool:
        if is_broken:
            raise RuntimeError("no ports can be looked at")
        return True

    async def story(one: World) -> None:
        entered = await one.enter(one.make())
        assert one.store.board[entered].state is JobState.QUEUED
        is_broken.clear()
        await one.until(entered, JobState.RUNNING)

    tell(tmp_path, story, Ports(is_free))


def test_a_job_behind_many_is_stored_without_a_pass_of_its_own(tmp_path: Path) -> None:
    async def story(one: World) -> None:
        for _ in range(MOST_AT_ONCE + 3):
            await one.submit(cpus=2)
        small = await one.enter(one.make(priority=1))
        assert await one.state(small) is JobState.QUEUED
        for attempt_id, role, index in one.engine.running():
            one.engine.finish(attempt_id, role, index)
        await one.until(small, JobState.RUNNING)

    tell(tmp_path, story)
