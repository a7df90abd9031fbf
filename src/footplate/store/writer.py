"""One thread that writes: it groups the work of concurrent callers into one durable commit.

A unit of work is a function over a `Transaction`. All units that wait when the thread comes round share
one commit; when one of them raises, the group is rolled back and every unit is run again by itself, so
that only the faulty one fails. Every transaction first checks that this server still holds the lease: a
server that was replaced is refused (`StaleLease`) and can change nothing any more.

A connection that breaks during a commit leaves open whether it happened. The event log tells, once the
database answers again: only this thread numbers events, so the last number says it.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

from footplate.domain.accounting import Holding
from footplate.domain.errors import StaleLease
from footplate.domain.eventkinds import EventKind
from footplate.domain.events import Effect
from footplate.domain.job import Job
from footplate.domain.messages import Message
from footplate.store import tables
from footplate.store.faults import GONE, is_full, may_be_full
from footplate.store.rows import EventRecord
from footplate.store.statements import Statement

T = TypeVar("T")
MOST_UNITS = 512
LEASE = "writer"
TRY_AGAIN_S = 0.5


class Transaction:
    """What a unit of work sees: a connection, and the jobs and events that this commit will bring."""

    def __init__(self, connection: sa.Connection, next_seq: int) -> None:
        self.connection = connection
        self.next_seq = next_seq
        self.before: dict[str, Job] = {}
        self.after: dict[str, Job | None] = {}
        self.ended_attempts: list[Job] = []
        self.holdings: list[Holding] = []
        self.events: list[EventRecord] = []
        self.effects: list[tuple[Job, Effect]] = []
        self.is_committing = False

    def record(
        self,
        job: Job,
        kind: EventKind,
        at: float,
        said: Message,
        actor: str = "",
        caused_by: int = 0,
        **facts: Any,
    ) -> int:
        """Add a line to the event log, and return its number; facts are for programs, beside the sentence.

        What no other event has caused, and nobody asked for, comes from the job's last move.
        """
        seq = self.next_seq
        self.next_seq += 1
        cause = caused_by or (0 if actor else job.moved_by)
        self.events.append(
            EventRecord(
                seq=seq,
                at=at,
                job_id=job.id,
                owner=job.owner,
                queue=job.spec.queue,
                kind=kind,
                attempt=job.attempt,
                actor=actor,
                said=said,
                facts=facts,
                cause=cause or None,
            )
        )
        return seq


Unit = Callable[[Transaction], T]


class Work(Generic[T]):
    """A unit of work and what becomes of it; the future is done once its commit is durable."""

    def __init__(self, unit: Unit[T]) -> None:
        self.unit = unit
        self.future: Future[T] = Future()


class Writer:
    """Runs units of work, durably and in order."""

    def __init__(
        self,
        engine: sa.Engine,
        flush: Callable[[Transaction], None],
        on_commit: Callable[[Transaction], None],
        holder: str,
        at: float,
    ) -> None:
        self._connection = engine.connect().execution_options(footplate_writer=True)
        # Asked after a commit that found no room on the disk: whether there is some now.
        self.make_room: Callable[[bool], bool] = lambda _is_sure: False
        self._flush = flush
        self._on_commit = on_commit
        self._waiting: queue.SimpleQueue[Sequence[Work[Any]] | None] = queue.SimpleQueue()
        self._is_closing = threading.Event()
        self._epoch = self._take_lease(holder, at)
        self._next_seq = self._read_next_seq()
        self._thread = threading.Thread(target=self._run, name="footplate-writer", daemon=True)
        self._thread.start()

    def put(self, works: Sequence[Work[Any]]) -> None:
        """Queue work; several at once are run in their order and share a commit, unless one of them fails."""
        self._waiting.put(works)

    def close(self) -> None:
        self._is_closing.set()
        self._waiting.put(None)
        self._thread.join(timeout=10)
        self._connection.close()

    def _take_lease(self, holder: str, at: float) -> int:
        leases = tables.leases
        with self._connection.begin():
            held = sa.select(leases.c.epoch).where(leases.c.name == LEASE).with_for_update()
            last = self._connection.scalar(held)
            epoch = 1 if last is None else int(last) + 1
            taken = {"epoch": epoch, "holder": holder, "taken_at": at}
            if last is None:
                self._connection.execute(sa.insert(leases).values(name=LEASE, **taken))
            else:
                self._connection.execute(sa.update(leases).where(leases.c.name == LEASE).values(**taken))
        return epoch

    def _read_next_seq(self) -> int:
        with self._connection.begin():
            return self._last_seq() + 1

    def _last_seq(self) -> int:
        return self._connection.scalar(sa.select(sa.func.max(tables.events.c.seq))) or 0

    def _run(self) -> None:
        while (batch := self._take()) is not None:
            wanted = [one for one in batch if one.future.set_running_or_notify_cancel()]
            if not self._commit(wanted):
                for one in wanted:
                    self._commit([one])

    def _take(self) -> list[Work[Any]] | None:
        first = self._waiting.get()
        if first is None:
            return None
        batch = list(first)
        while len(batch) < MOST_UNITS and not self._waiting.empty():
            following = self._waiting.get()
            if following is None:
                self._waiting.put(None)
                break
            batch += following
        return batch

    def _commit(self, batch: Sequence[Work[Any]]) -> bool:
        """Commit a group and answer its callers; False when a group of several must be tried one by one."""
        transaction = Transaction(self._connection, self._next_seq)
        try:
            with self._connection.begin() as database:
                self._check_lease()
                results = [work.unit(transaction) for work in batch]
                self._flush(transaction)
                transaction.is_committing = True
                database.commit()
        except Exception as error:  # noqa: BLE001  # the top of this thread's loop: the caller gets the error
            self._let_go()
            if not self._has_happened(transaction, error):
                if may_be_full(error) and self.make_room(is_full(error)):
                    return self._commit(batch)
                if len(batch) == 1:
                    batch[0].future.set_exception(error)
                return len(batch) == 1
        self._next_seq = transaction.next_seq
        self._on_commit(transaction)
        for work, result in zip(batch, results, strict=True):
            work.future.set_result(result)
        return True

    def _let_go(self) -> None:
        """Leave what is left of a transaction whose begin or commit failed, as on a full disk."""
        try:
            self._connection.rollback()
        except sa.exc.SQLAlchemyError:
            self._connection.invalidate()

    def _has_happened(self, transaction: Transaction, error: Exception) -> bool:
        """Tell whether a failed commit happened after all: check the database when it is back."""
        is_cut = isinstance(error, sa.exc.DBAPIError) and error.connection_invalidated
        if not transaction.is_committing or not is_cut or not transaction.events:
            return False
        while not self._is_closing.is_set():
            try:
                with self._connection.begin():
                    self._check_lease()
                    return self._last_seq() >= transaction.events[-1].seq
            except StaleLease:
                return False
            except GONE:
                self._is_closing.wait(TRY_AGAIN_S)
        return False

    def _check_lease(self) -> None:
        lock = _LEASE_EPOCH_LOCKED if self._connection.dialect.name == "postgresql" else _LEASE_EPOCH
        held = lock.first(self._connection, {"held": LEASE})
        if held is None or held[0] != self._epoch:
            raise StaleLease("lease_lost")


_LEASE_EPOCH = Statement("SELECT epoch FROM leases WHERE name = :held")
# Locked for the length of the transaction, so that nobody takes the lease between the check and the commit;
# SQLite has locked the whole database by then.
_LEASE_EPOCH_LOCKED = Statement("SELECT epoch FROM leases WHERE name = :held FOR SHARE")
