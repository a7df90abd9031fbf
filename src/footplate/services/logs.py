"""Logs as people read them: a part, the end, since a time, or live over all tasks and attempts."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from footplate.domain.errors import InvalidInput, NotFound
from footplate.domain.job import Job
from footplate.domain.layout import attempt_folder, task_folder
from footplate.domain.states import JobState
from footplate.services.feed import Feed, Inbox
from footplate.services.platform import Platform
from footplate.store import event_queries
from footplate.store.growth import Growth
from footplate.store.logfiles import BLOCK, LogFile, Piece
from footplate.store.rows import EventRecord

FALLBACK_S = 1.0
PING_S = 15.0
EVENTS_AT_ONCE = 1000
END_KINDS = frozenset({"task_lost", "task_exited", "requeued"})
STEP_KINDS = END_KINDS | {"submitted", "waiting", "step", "stop_asked"}


def task_name(job: Job, wanted: str | None) -> str:
    """The task that a caller means: the first when none is named; `role/0` and `role-0` are the same."""
    names = [task.name for task in job.tasks]
    if wanted is None:
        return names[0]
    name = wanted.replace("/", "-")
    if name not in names:
        few = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
        raise NotFound(f"job {job.id} has no task {wanted[:80]!r}; it has {few}")
    return name


def log_of(platform: Platform, job: Job, name: str, attempt: int | None) -> LogFile:
    """The log of one task in one attempt, the current one when none is named."""
    number = job.attempt if attempt is None else attempt
    if not 0 <= number <= job.attempt:
        raise NotFound(f"job {job.id} has no attempt {number}; the last is {job.attempt}")
    role, _, index = name.rpartition("-")
    return LogFile(task_folder(attempt_folder(platform.home, job.id, number), role, int(index)))


@dataclass(frozen=True, slots=True)
class Since:
    """From where to show a log: an offset, the last lines, or a moment; all of it when nothing is said."""

    offset: int | None = None
    tail: int | None = None
    at: float | None = None

    def __post_init__(self) -> None:
        if sum(value is not None for value in (self.offset, self.tail, self.at)) > 1:
            raise InvalidInput("offset, tail and since exclude each other: give one of them", "tail")


def begin(job: Job, name: str, attempt: int | None, log: LogFile, since: Since) -> int:
    """The offset at which to begin in the log of one task in one attempt."""
    if since.offset is not None:
        return since.offset
    if since.tail is not None:
        return log.size if since.tail == 0 else log.offset_of_tail(since.tail)
    if since.at is not None:
        task = next(task for task in job.tasks if task.name == name)
        is_current = attempt is None or attempt == job.attempt
        times = (task.started_at, task.finished_at) if is_current else (None, None)
        return log.offset_since(since.at, *times)
    return 0


def text_of(piece: Piece) -> tuple[str, int]:
    """Decode a piece; a character that is cut off at its end is left to the next, where one can follow."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    text = decoder.decode(piece.data)
    n_cut = len(decoder.getstate()[0])
    if n_cut and text:
        return text, piece.next_offset - n_cut
    return text + decoder.decode(b"", final=True), piece.next_offset


@dataclass(slots=True)
class _Reading:
    """How far one task's log was sent."""

    log: LogFile
    offset: int
    decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")(errors="replace")
    )

    @property
    def sent(self) -> int:
        """The offset to resume from: whole characters only."""
        return self.offset - len(self.decoder.getstate()[0])


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a broken-off stream goes on: attempt, last event, and the offset in each task's log."""

    attempt: int
    seq: int
    offsets: dict[str, int]

    def __str__(self) -> str:
        offsets = "&".join(f"{name}={offset}" for name, offset in self.offsets.items())
        return f"{self.attempt}|{self.seq}|{offsets}"

    @staticmethod
    def read(text: str) -> Cursor:
        try:
            attempt, seq, offsets = text.split("|")
            pairs = (pair.rpartition("=") for pair in offsets.split("&") if pair)
            numbers = {name: _number(offset) for name, _, offset in pairs}
            return Cursor(_number(attempt), _number(seq), numbers)
        except ValueError as error:
            raise InvalidInput("is not a cursor of a log stream", "Last-Event-ID") from error


def _number(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**60:
        raise ValueError("counts of attempts, events and bytes are never like that")
    return number


@dataclass(frozen=True, slots=True)
class Sent:
    """One thing that a stream brings."""

    kind: str
    data: dict[str, Any]
    cursor: str = ""


class Follower:
    """Follows a job: its states and steps, and what its tasks print, until it is over."""

    def __init__(
        self, platform: Platform, feed: Feed, growth: Growth, job: Job, names: Sequence[str]
    ) -> None:
        self._platform = platform
        self._feed = feed
        self._growth = growth
        self._job = job
        self._names = tuple(names)
        self._wake = asyncio.Event()
        self._inbox = Inbox(self._wake.set)
        # The event log comes first, from where the follower begins; then the feed brings what happens.
        self._inbox.has_gap = True
        self._only: int | None = None
        self._attempt = job.attempt
        self._seq = 0
        self._readings: dict[str, _Reading] = {}
        self._watched: set[str] = set()
        self._shown: tuple[Any, ...] = ()

    async def follow(self, attempt: int | None, since: Since, cursor: Cursor | None) -> AsyncIterator[Sent]:
        """Yield what happens, a `ping` in quiet times, and an `end`."""
        with ExitStack() as stack:
            stack.enter_context(self._feed.listening(self._job.id, self._inbox.put))
            self._only = attempt
            self._begin(attempt, since, cursor)
            while True:
                self._wake.clear()
                job = await self._platform.store.job(self._job.id)
                if job is None:
                    yield Sent("end", {"state": "DELETED", "reason": None, "exit_code": None})
                    return
                self._job = job
                # The end may be in the rows before the feed has brought its events.
                self._inbox.has_gap = self._inbox.has_gap or job.state.is_final
                async for sent in self._news(stack):
                    yield sent
                only_past = attempt is not None and attempt < job.attempt
                if job.state.is_final or only_past:
                    yield Sent("end", _ending(job), self._cursor())
                    return
                if not await self._pause():
                    yield Sent("ping", {})

    def _begin(self, attempt: int | None, since: Since, cursor: Cursor | None) -> None:
        if cursor is not None:
            self._attempt, self._seq = min(cursor.attempt, self._job.attempt), cursor.seq
        elif attempt is not None:
            self._attempt = attempt
        elif since == Since():
            self._attempt = 0
        for name in self._names:
            log = log_of(self._platform, self._job, name, self._attempt)
            if cursor is not None:
                offset = cursor.offsets.get(name, 0)
            else:
                offset = begin(self._job, name, self._attempt, log, since)
            self._readings[name] = _Reading(log, offset)

    async def _news(self, stack: ExitStack) -> AsyncIterator[Sent]:
        while events := await self._events():
            for event in events:
                if event.kind in END_KINDS:
                    # What a task printed is told before its end.
                    for sent in self._all_output(stack):
                        yield sent
                self._seq = event.seq
                if event.kind in STEP_KINDS:
                    yield Sent("step", event.view(), self._cursor())
        job = self._job
        while True:
            for sent in self._all_output(stack):
                yield sent
            if self._attempt >= job.attempt or self._only is not None:
                break
            self._turn_to(self._attempt + 1)
        shown = (job.state, job.attempt, job.reason.code)
        if shown != self._shown:
            self._shown = shown
            yield Sent("state", _state(job), self._cursor())

    def _all_output(self, stack: ExitStack) -> Iterator[Sent]:
        while sent := self._output(stack):
            yield from sent

    def _turn_to(self, attempt: int) -> None:
        self._attempt = attempt
        self._watched.clear()
        for name in self._names:
            self._readings[name] = _Reading(log_of(self._platform, self._job, name, attempt), 0)

    async def _events(self) -> list[EventRecord]:
        """Events since the last look: from the log at first and after a gap, then from the feed."""
        held = self._inbox.take()
        if self._inbox.has_gap:
            self._inbox.has_gap = False
            job_id, seq = self._job.id, self._seq
            held = await self._platform.store.read(
                lambda connection: event_queries.after(connection, seq, EVENTS_AT_ONCE, job_id)
            )
            self._inbox.has_gap = self._inbox.has_gap or len(held) == EVENTS_AT_ONCE
        return [event for event in held if event.seq > self._seq]

    def _output(self, stack: ExitStack) -> list[Sent]:
        sent: list[Sent] = []
        for name, reading in self._readings.items():
            if name not in self._watched and reading.log.path.parent.is_dir():
                # Watch before reading: what comes in between is then not missed.
                self._watched.add(name)
                stack.enter_context(self._growth.listening(reading.log.path.parent, self._wake.set))
            piece = reading.log.read(reading.offset, BLOCK)
            if not piece.data:
                continue
            offset = reading.sent
            text = reading.decoder.decode(piece.data)
            reading.offset = piece.next_offset
            if text:
                data = {"task": name, "attempt": self._attempt, "offset": offset, "text": text}
                sent.append(Sent("log", data, self._cursor()))
        return sent

    async def _pause(self) -> bool:
        """Wait for something to happen; False after a quiet while."""
        waited_s = 0.0
        while waited_s < PING_S:
            try:
                await asyncio.wait_for(self._wake.wait(), FALLBACK_S)
            except TimeoutError:
                waited_s += FALLBACK_S
                if any(reading.log.size > reading.offset for reading in self._readings.values()):
                    return True
            else:
                return True
        return False

    def _cursor(self) -> str:
        offsets = {name: reading.sent for name, reading in self._readings.items() if reading.sent}
        return str(Cursor(self._attempt, self._seq, offsets))


def _state(job: Job) -> dict[str, Any]:
    reason = {"code": job.reason.code.value, "message": job.reason.message}
    return {"state": job.state.value, "attempt": job.attempt, "reason": reason}


def _ending(job: Job) -> dict[str, Any]:
    failed = sorted((task.finished_at or 0, task.exit_code) for task in job.tasks if task.exit_code)
    code = failed[0][1] if failed else 0 if job.state is JobState.SUCCEEDED else None
    return {**_state(job), "exit_code": code}
