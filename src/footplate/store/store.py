"""The store: durable rows behind one writer, a board of living jobs in memory, and news of every commit.

Reads never wait behind writes: they use connections of their own, in threads of their own. The board
holds every job that is not final; it changes only after the commit that changed the rows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeVar

import sqlalchemy as sa

from footplate.domain.events import Effect, Event
from footplate.domain.job import Job
from footplate.store import faults, leases, tables, transitions
from footplate.store.rows import EventRecord
from footplate.store.transitions import Ahead, Transition
from footplate.store.writer import Transaction, Unit, Work, Writer

log = logging.getLogger(__name__)

T = TypeVar("T")
MOST_ENDED = 200
MOST_TASKS_OF_ENDED = 32


@dataclass(frozen=True, slots=True)
class News:
    """What one commit brought; `jobs` has every job that it changed, None for one that is gone."""

    events: Sequence[EventRecord]
    effects: Sequence[tuple[Job, Effect]]
    jobs: Mapping[str, Job | None]


Subscriber = Callable[[News], None]
Move = tuple[str, Event]


class Store:
    """Opens on the event loop that it will serve."""

    def __init__(self, engine: sa.Engine, holder: str, at: float) -> None:
        self._engine = engine
        self._loop = asyncio.get_running_loop()
        self._readers = ThreadPoolExecutor(4, thread_name_prefix="footplate-reader")
        self._subscribers: list[Subscriber] = []
        self.board: dict[str, Job] = {}
        # Jobs that have ended not long ago, as their rows have them: most are asked for just then.
        self._ended: dict[str, Job] = {}
        self._writer = Writer(engine, transitions.flush, self._take_commit, holder, at)
        self._load_board()

    def _load_board(self) -> None:
        active = ("QUEUED", "STARTING", "RUNNING", "STOPPING")
        with self._engine.connect() as connection:
            ids = connection.scalars(sa.select(tables.jobs.c.id).where(tables.jobs.c.state.in_(active))).all()
            for job_id in sorted(ids):
                job = transitions.load(connection, job_id)
                if job is not None:
                    self.board[job_id] = job

    def use_reserve(self, make_room: Callable[[bool], bool]) -> None:
        """Try commits again that found no room on the disk, as long as `make_room` says that it made some."""
        self._writer.make_room = make_room

    @property
    def database_kind(self) -> str:
        """What keeps the rows: sqlite or postgresql."""
        return self._engine.dialect.name

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Hear of every commit, on the event loop, in order; call the result to stop."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    async def write(self, unit: Unit[T]) -> T:
        """Run a unit of work; returns once its commit is durable."""
        work = Work(unit)
        self.put([work])
        return await self.outcome(work)

    def put(self, works: Sequence[Work[Any]]) -> None:
        """Queue work to be run in its order, in one commit where none of it fails."""
        self._writer.put(works)

    async def outcome(self, work: Work[T]) -> T:
        """Wait until the commit of some work is durable, and return what it returned."""
        try:
            return await asyncio.wrap_future(work.future)
        except faults.GONE as error:
            raise faults.translate(error) from error

    async def read(self, query: Callable[[sa.Connection], T]) -> T:
        """Run a query on a connection of its own."""
        try:
            return await self._loop.run_in_executor(self._readers, self._read, query)
        except faults.GONE as error:
            raise faults.translate(error) from error

    def _read(self, query: Callable[[sa.Connection], T]) -> T:
        with self._engine.connect() as connection:
            return query(connection)

    async def apply(self, job_id: str, event: Event, actor: str = "") -> Transition:
        """Move one job by one event."""
        return await self.write(lambda tx: transitions.apply(tx, self.board, job_id, event, actor))

    async def apply_all(self, moves: Iterable[Move]) -> None:
        """Move jobs by events, in order, in one commit; jobs that are over by then are passed over."""
        wanted = list(moves)
        if wanted:
            await self.write(lambda tx: self.apply_living(tx, wanted))

    def apply_living(
        self,
        tx: Transaction,
        moves: Iterable[Move],
        ahead: Iterable[Ahead | None] = (),
        cause: int = 0,
    ) -> None:
        """Move jobs within a unit of work; those that are over by then, this unit included, are passed over.

        `ahead` has what each of the moves was thought to lead to, in their order; `cause` is the number
        of the event that they answer.
        """
        for (job_id, event), worked_out in zip_longest(moves, ahead):
            job = self.living(tx, job_id)
            if job is not None and not job.state.is_final:
                transitions.apply(tx, self.board, job_id, event, ahead=worked_out, cause=cause)

    def living(self, tx: Transaction, job_id: str) -> Job | None:
        """The job as a unit of work sees it; None for one that was over before, or is not there."""
        return tx.after[job_id] if job_id in tx.after else self.board.get(job_id)

    async def job(self, job_id: str) -> Job | None:
        """The job as last committed."""
        known = self.board.get(job_id) or self._ended.get(job_id)
        return known or await self.read(lambda connection: transitions.load(connection, job_id))

    def _take_commit(self, tx: Transaction) -> None:
        # Runs in the writer's thread, after the commit and before its callers are answered.
        for job_id, job in tx.after.items():
            self._ended.pop(job_id, None)
            if job is not None and job.state.is_final and len(job.tasks) <= MOST_TASKS_OF_ENDED:
                self._ended[job_id] = job
            if job is None or job.state.is_final:
                self.board.pop(job_id, None)
            else:
                self.board[job_id] = job
        while len(self._ended) > MOST_ENDED:
            del self._ended[next(iter(self._ended))]
        if tx.events or tx.effects:
            self._loop.call_soon_threadsafe(self._publish, News(tx.events, tx.effects, tx.after))

    def _publish(self, news: News) -> None:
        for subscriber in list(self._subscribers):
            try:
                subscriber(news)
            except Exception:
                log.exception("a subscriber failed on news of %d events", len(news.events))

    async def renew_lease(self, at: float) -> None:
        """Leave a sign of life; raise `StaleLease` when another server has taken over."""
        await self.write(lambda tx: leases.renew(tx.connection, at))

    def close(self) -> None:
        # Whoever stands by need not wait for signs of life any more.
        self._writer.put([Work(lambda tx: leases.release(tx.connection))])
        self._writer.close()
        self._readers.shutdown(wait=True)
        self._engine.dispose()
