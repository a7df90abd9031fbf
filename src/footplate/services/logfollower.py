"""Logs live, over all tasks and attempts of a job."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from footplate.domain.exitcode import exit_code_of
from footplate.domain.job import Job
from footplate.domain.kinds import show_instant
from footplate.services.feed import Feed, Inbox
from footplate.services.logcursor import Cursor
from footplate.services.logparts import Since, begin
from footplate.services.logs import Times, log_of
from footplate.services.platform import Platform
from footplate.store import event_queries
from footplate.store.logfiles import BLOCK, NO_MASK, LogFile, Piece, Samples
from footplate.store.rows import EventRecord
from footplate.wire.told import told

FALLBACK_S = 1.0
PING_S = 15.0
EVENTS_AT_ONCE = 1000
LOGS_AT_ONCE = 50
# How many logs a follower looks at in a second for growth that the kernel did not tell.
SAMPLES_PER_S = 1000
END_KINDS = frozenset({"task_lost", "task_exited", "requeued"})
STEP_KINDS = END_KINDS | {"submitted", "waiting", "step", "progress", "stop_asked", "task_retried"}


@dataclass(slots=True)
class Reading:
    """How far one task's log was sent."""

    log: LogFile
    offset: int
    decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")(errors="replace")
    )
    has_caught_up: bool = False
    # Bytes that are there, but may be the beginning of a secret.
    n_held: int = 0
    samples: Samples | None = None

    @property
    def sent(self) -> int:
        """The offset to resume from: whole characters only."""
        return self.offset - len(self.decoder.getstate()[0])

    def read(self, is_growing: bool) -> tuple[Piece, bool]:
        """Read on, and tell whether that was all there is to read yet."""
        piece = self.log.read(self.offset, BLOCK, is_growing)
        return piece, piece.next_offset + piece.n_held >= self.log.size

    @property
    def has_grown(self) -> bool:
        return self.log.size > self.offset + self.n_held

    def times(self, end: int, is_last: bool, finished_at: float | None) -> Times:
        """How the log grew up to an offset; the index is read once, and let go of with the last piece."""
        samples = self.samples or self.log.samples().beyond(self.sent)
        self.has_caught_up, self.samples = is_last, None if is_last else samples
        ended = None if finished_at is None else (finished_at, self.log.size)
        return samples.between(self.sent, end, ended)


@dataclass(frozen=True, slots=True)
class Sent:
    """One thing that a stream brings."""

    kind: str
    data: dict[str, Any]
    cursor: str = ""


class Follower:
    """Follows a job: its states and steps, and what its tasks print, until it is over.

    A gang may have thousands of logs: only those that grew are read, and always outside the event loop.
    """

    def __init__(self, platform: Platform, feed: Feed, job: Job, names: Sequence[str]) -> None:
        self._platform = platform
        self._feed = feed
        self._job = job
        self._names = tuple(names)
        self._places = {task.name: place for place, task in enumerate(job.tasks)}
        self._wake = asyncio.Event()
        self._inbox = Inbox(self._wake.set)
        # The event log comes first, from where the follower begins; then the feed brings what happens.
        self._inbox.has_gap = True
        self._only: int | None = None
        self._cursor = Cursor(job.attempt)
        self._readings: dict[str, Reading] = {}
        self._grown: set[str] = set()
        self._watched: set[str] = set()
        self._watches = ExitStack()
        self._shown: tuple[Any, ...] = ()
        self._mask = NO_MASK

    async def follow(self, attempt: int | None, since: Since, cursor: Cursor | None) -> AsyncIterator[Sent]:
        """Yield what happens, a `ping` in quiet times, and an `end`."""
        with self._feed.listening(self._job.id, self._inbox.put), self._watches:
            self._only = attempt
            self._mask = await self._platform.mask_of(self._job)
            await asyncio.to_thread(self._begin, attempt, since, cursor)
            while True:
                self._wake.clear()
                job = await self._platform.store.job(self._job.id)
                if job is None:
                    yield Sent("end", {"state": "DELETED", "reason": None, "exit_code": None})
                    return
                await self._take_job(job)
                # The end may be in the rows before the feed has brought its events.
                self._inbox.has_gap = self._inbox.has_gap or job.state.is_final or job.is_kept
                async for sent in self._news():
                    yield sent
                only_past = attempt is not None and attempt < job.attempt
                if job.state.is_final or only_past:
                    yield Sent("end", _ending(job), str(self._cursor))
                    return
                if not await self._pause():
                    yield Sent("ping", {})

    async def _take_job(self, job: Job) -> None:
        """Look at the job as it is now; what is secret of it is known once its tasks are given it."""
        self._job = job
        self._mask = await self._platform.mask_of(job)
        for reading in self._readings.values():
            reading.log.mask = self._mask

    def _begin(self, attempt: int | None, since: Since, cursor: Cursor | None) -> None:
        if cursor is not None:
            self._cursor = cursor
            cursor.attempt = min(cursor.attempt, self._job.attempt)
        elif attempt is not None:
            self._cursor.attempt = attempt
        elif since == Since():
            self._cursor.attempt = 0
        number = self._cursor.attempt
        for name in self._names:
            log, place = self._open(name, number), self._places[name]
            if cursor is None:
                self._cursor.advance(place, begin(self._job, name, number, log, since))
            self._readings[name] = Reading(log, self._cursor.offsets.get(place, 0))
        self._grown.update(self._names)

    def _open(self, name: str, attempt: int) -> LogFile:
        return log_of(self._platform, self._job, name, attempt, self._mask)

    async def _news(self) -> AsyncIterator[Sent]:
        while events := await self._events():
            for event in events:
                # What a task printed is told before its end.
                async for sent in self._rest_of(self._ended_by(event)):
                    yield sent
                self._cursor.seq = event.seq
                if event.kind in STEP_KINDS:
                    yield Sent("step", event.view(), str(self._cursor))
        async for sent in self._output():
            yield sent
        job = self._job
        shown = (job.state, job.attempt, job.reason.code)
        if shown != self._shown:
            self._shown = shown
            yield Sent("state", _state(job), str(self._cursor))

    async def _events(self) -> list[EventRecord]:
        """Events since the last look: from the log at first and after a gap, then from the feed."""
        held = self._inbox.take()
        if self._inbox.has_gap:
            self._inbox.has_gap = False
            job_id, seq = self._job.id, self._cursor.seq
            held = await self._platform.store.read(
                lambda connection: event_queries.after(connection, seq, EVENTS_AT_ONCE, job_id)
            )
            self._inbox.has_gap = self._inbox.has_gap or len(held) == EVENTS_AT_ONCE
        return [event for event in held if event.seq > self._cursor.seq]

    def _ended_by(self, event: EventRecord) -> Sequence[str]:
        """The tasks whose log must be told before an event is; one that starts has a log from now on."""
        if event.attempt != self._cursor.attempt:
            return ()
        if event.kind == "requeued":
            return self._names
        task = event.data.get("task")
        if task not in self._readings:
            return ()
        self._grown.add(task)
        return (task,) if event.kind in END_KINDS else ()

    async def _output(self) -> AsyncIterator[Sent]:
        while self._is_past:
            async for sent in self._rest_of(self._names):
                yield sent
            if self._cursor.attempt >= self._job.attempt or self._only is not None:
                return
            self._turn_to(self._cursor.attempt + 1)
        async for sent in self._read_on(list(self._grown)):
            yield sent
        if self._grown:
            self._wake.set()

    @property
    def _is_past(self) -> bool:
        """Whether the tasks of the attempt print no more."""
        return self._job.state.is_final or self._cursor.attempt < self._job.attempt

    def _turn_to(self, attempt: int) -> None:
        self._watches.close()
        self._watched.clear()
        self._cursor = Cursor(attempt, self._cursor.seq)
        for name in self._names:
            self._readings[name] = Reading(self._open(name, attempt), 0)
        self._grown.update(self._names)

    async def _rest_of(self, names: Sequence[str]) -> AsyncIterator[Sent]:
        """What is left of some logs, to their ends."""
        left = [name for name in names if not self._cursor.is_whole(self._places[name])]
        while left:
            async for sent in self._read_on(left):
                yield sent
            left = [name for name in left if name in self._grown]

    async def _read_on(self, names: Sequence[str]) -> AsyncIterator[Sent]:
        """Read a block of each log; those that have more stay among the grown."""
        for start in range(0, len(names), LOGS_AT_ONCE):
            some = names[start : start + LOGS_AT_ONCE]
            # Watch before reading: what comes in between is then not missed.
            await self._watch([name for name in some if name not in self._watched])
            self._grown.difference_update(some)
            pieces = await asyncio.to_thread(self._pieces, some)
            for name, (piece, is_last, times) in zip(some, pieces, strict=True):
                if sent := self._take(name, piece, is_last):
                    yield replace(sent, data={**sent.data, "times": times}) if times else sent

    def _pieces(self, names: Sequence[str]) -> list[tuple[Piece, bool, Times]]:
        return [self._piece(name, self._readings[name]) for name in names]

    def _piece(self, name: str, reading: Reading) -> tuple[Piece, bool, Times]:
        """Read on in one log; of several, what was printed before comes with its times, to be ordered by."""
        piece, is_last = reading.read(is_growing=not self._is_past)
        if len(self._names) < 2 or reading.has_caught_up:
            return piece, is_last, []
        is_current = self._cursor.attempt == self._job.attempt
        finished_at = self._job.tasks[self._places[name]].finished_at if is_current else None
        return piece, is_last, reading.times(piece.next_offset, is_last, finished_at)

    def _take(self, name: str, piece: Piece, is_last: bool) -> Sent | None:
        reading, place = self._readings[name], self._places[name]
        offset = reading.sent
        is_end = is_last and self._is_past
        text = reading.decoder.decode(piece.data, final=is_end)
        reading.offset, reading.n_held = piece.next_offset, piece.n_held
        if is_end:
            self._cursor.complete(place)
        else:
            self._cursor.advance(place, reading.sent)
        if not is_last:
            self._grown.add(name)
        data = {"task": name, "attempt": self._cursor.attempt, "offset": offset, "text": text}
        return Sent("log", data, str(self._cursor)) if text else None

    async def _watch(self, names: Iterable[str]) -> None:
        logs = {name: self._readings[name].log for name in names}
        if self._is_past or not logs:
            return
        for name in await asyncio.to_thread(lambda: [one for one in logs if logs[one].has_begun]):
            self._watched.add(name)
            heard = self._platform.logs.listen(logs[name], partial(self._hear, name))
            self._watches.enter_context(heard)

    def _hear(self, name: str) -> None:
        self._grown.add(name)
        self._wake.set()

    async def _pause(self) -> bool:
        """Wait for something to happen; False after a quiet while."""
        waited_s, pace_s = 0.0, max(FALLBACK_S, len(self._readings) / SAMPLES_PER_S)
        while waited_s < PING_S:
            try:
                await asyncio.wait_for(self._wake.wait(), pace_s)
            except TimeoutError:
                waited_s += pace_s
                self._grown.update(await asyncio.to_thread(self._sample))
                if self._grown:
                    return True
            else:
                return True
        return False

    def _sample(self) -> list[str]:
        """The logs that grew without our being told."""
        return [name for name, reading in self._readings.items() if reading.has_grown]


def _state(job: Job) -> dict[str, Any]:
    reason = {"code": job.reason.code.value, **told(job.reason.said)}
    state = {"state": job.state.value, "attempt": job.attempt, "reason": reason}
    if job.kept_until is None:
        return state
    # Its run is over: a follower need not wait for the release.
    return {**state, "kept_until": show_instant(job.kept_until), "exit_code": _exit_code(job)}


def _ending(job: Job) -> dict[str, Any]:
    return {**_state(job), "exit_code": _exit_code(job)}


def _exit_code(job: Job) -> int | None:
    in_time = sorted(job.tasks, key=lambda task: task.finished_at or 0)
    return exit_code_of(job.state, job.reason, [task.exit_code for task in in_time])
