"""Collects metrics that trainings write by themselves: TensorBoard's event files, JSON lines, lines of logs.

Files are read on from where they were read before. How far that is, is the number of the batch that was kept
last, so nothing is taken twice, also after a restart.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import re2

from footplate.control.context import Context
from footplate.domain.eventfile import NotAnEventFile, is_event_file, read_scalars
from footplate.domain.job import Job
from footplate.domain.metriclines import FILE_NAMES, points_of_line, points_of_match
from footplate.domain.metrics import Batch, Point, gather, is_metric_name
from footplate.domain.states import JobState
from footplate.machine.foldertree import walk
from footplate.machine.taskfiles import open_folder, unfollowed_in
from footplate.store.logpattern import compile_groups

log = logging.getLogger(__name__)

FOLDERS = ("output", "checkpoints", "work")
MOST_DEEP = 8
MOST_FILES = 200
PIECE_BYTES = 4 * 1024**2
# Folders with very many files are looked through less often: so many times as long as it took is the pause.
REST = 50.0
# The same for all jobs together that have no such files: with very many, the first points of one come later.
REST_IN_VAIN = 100.0
GROUPS = frozenset({"train", "training", "val", "valid", "validation", "eval", "test"})
Found = tuple[str, str, Batch]
Read = Callable[[bytes], tuple[list[Point], int]]


@dataclass(slots=True)
class _File:
    """A file that has been seen: its size then, and whether it is worth reading on."""

    size: int = -1
    is_bad: bool = False


@dataclass(slots=True)
class Collector:
    """Looks through the files of jobs that run, and of those that have just ended, once more."""

    context: Context
    _files: dict[str, dict[str, _File]] = field(default_factory=dict)
    _patterns: dict[str, list[re2._Regexp[str]]] = field(default_factory=dict)
    _rests_until: dict[str, float] = field(default_factory=dict)
    _ended: dict[str, Job] = field(default_factory=dict)

    def note_end(self, job: Job) -> None:
        """Look through the files of a job that has ended, once more."""
        self._ended[job.id] = job
        self._rests_until.pop(job.id, None)

    async def collect(self) -> None:
        board = list(self.context.store.board.values())
        running = {job.id: job for job in board if job.state in (JobState.RUNNING, JobState.STOPPING)}
        ended, self._ended = self._ended, {}
        # Most have written nothing of the kind: one thread looks at all that have ended since the last time.
        last = await asyncio.to_thread(self._with_metrics, list(ended.values())) if ended else []
        in_vain: list[str] = []
        took = 0.0
        for job in (*running.values(), *last):
            began = self.context.clock.elapsed()
            if job.id in ended or began >= self._rests_until.get(job.id, 0.0):
                await self._collect_job(job)
                spent = self.context.clock.elapsed() - began
                self._rests_until[job.id] = began + REST * spent
                if not self._files.get(job.id):
                    in_vain.append(job.id)
                    took += spent
        rests_until = self.context.clock.elapsed() + REST_IN_VAIN * took
        self._rests_until |= dict.fromkeys(in_vain, rests_until)
        for job_id in (self._files.keys() | ended.keys()) - running.keys():
            for kept in (self._files, self._patterns, self._rests_until):
                kept.pop(job_id, None)

    async def _collect_job(self, job: Job) -> None:
        try:
            for task, _, batch in await asyncio.to_thread(lambda: list(self._news(job))):
                await self.context.metrics.keep(job.attempt_id, task, batch)
        except Exception:  # what goes wrong with one job keeps nobody else from being read
            log.exception("the metrics of job %s cannot be collected", job.id)

    def _with_metrics(self, jobs: Sequence[Job]) -> list[Job]:
        return [job for job in jobs if job.spec.log_metrics or any(map(self._has_files, self._folders(job)))]

    def _has_files(self, place: tuple[str, Path]) -> bool:
        with suppress(OSError):
            fd = open_folder(str(place[1]))
            try:
                return any(_is_metrics_file(name) for _, _, names, _ in walk(fd, MOST_DEEP) for name in names)
            finally:
                os.close(fd)
        return False

    def _folders(self, job: Job) -> list[tuple[str, Path]]:
        folders = self.context.files.folders(job)
        return [(what, folders[what]) for what in FOLDERS if what in folders]

    def _news(self, job: Job) -> Iterator[Found]:
        if not job.tasks:
            return
        seen = self._files.setdefault(job.id, {})
        now = self.context.clock.now()
        for what, folder in self._folders(job):
            with suppress(OSError):
                fd = open_folder(str(folder))
                try:
                    yield from self._in_folder(job, what, fd, seen, now)
                finally:
                    os.close(fd)
        if job.spec.log_metrics:
            yield from self._in_logs(job, now)

    def _in_folder(
        self, job: Job, what: str, folder_fd: int, seen: dict[str, _File], now: float
    ) -> Iterator[Found]:
        for place, _, names, fd in walk(folder_fd, MOST_DEEP):
            for name in names:
                if not _is_metrics_file(name):
                    continue
                path = f"{what}/{os.path.normpath(place)}/{name}"
                file = seen.get(path)
                if file is None:
                    if len(seen) >= MOST_FILES:
                        return
                    file = seen[path] = _File()
                task = self._task_of(job, what, place)
                if is_event_file(name):
                    read = _events_under(place.rpartition("/")[2])
                else:
                    read = _lines_at(now)
                yield from self._read(job, task, path, file, fd, name, read)

    def _task_of(self, job: Job, what: str, place: str) -> str:
        """Whose file it is: of the task in whose folder it lies, or of the first."""
        first = place.removeprefix("./").partition("/")[0]
        names = [task.name for task in job.tasks]
        return first if what == "work" and first in names else names[0]

    def _read(
        self, job: Job, task: str, path: str, file: _File, fd: int, name: str, read: Read
    ) -> Iterator[Found]:
        with suppress(OSError):
            size = os.stat(name, dir_fd=fd, follow_symlinks=False).st_size
            if file.is_bad or size == file.size:
                return
            file.size = size
            place = self.context.metrics.last_number(job.attempt_id, task, path)
            with open(name, "rb", opener=lambda one, flags: unfollowed_in(fd, one, flags)) as opened:
                opened.seek(place)
                while data := opened.read(PIECE_BYTES):
                    try:
                        points, n_read = read(data)
                    except NotAnEventFile:
                        file.is_bad = True
                        return
                    if not n_read:
                        return
                    place += n_read
                    opened.seek(place)
                    if points:
                        yield task, path, gather(points, path, place)

    def _in_logs(self, job: Job, now: float) -> Iterator[Found]:
        patterns = self._patterns.get(job.id)
        if patterns is None:
            patterns = self._patterns[job.id] = [compile_groups(one) for one in job.spec.log_metrics]
        for task in job.tasks:
            kept = self.context.logs.open(job.attempt_id, task.name)
            source = f"log/{task.name}"
            known = self._files[job.id].setdefault(f"{job.attempt}/{source}", _File())
            place = max(known.size, self.context.metrics.last_number(job.attempt_id, task.name, source))
            size = kept.size
            while data := kept.read_bytes(place, PIECE_BYTES):
                whole = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
                if not whole and place + len(data) >= size:
                    break
                # Without an end: too long for a line, or cut where a part of the log was dropped.
                whole = whole or len(data)
                place = known.size = place + whole
                text = data[:whole].decode("utf-8", "replace").replace("\r", "\n")
                if points := list(_matches(text, patterns, now)):
                    yield task.name, source, gather(points, source, place)


def _is_metrics_file(name: str) -> bool:
    return is_event_file(name) or name in FILE_NAMES


def _events_under(folder: str) -> Read:
    """Read scalars; those in a folder called train or val belong to that group."""
    group = f"{folder}/" if folder in GROUPS else ""

    def read(data: bytes) -> tuple[list[Point], int]:
        scalars, n_read = read_scalars(data)
        named = ((one, one.tag if one.tag.startswith(group) else f"{group}{one.tag}") for one in scalars)
        points = [Point(one.at, name, one.value, one.step) for one, name in named if is_metric_name(name)]
        return points, n_read

    return read


def _lines_at(now: float) -> Read:
    def read(data: bytes) -> tuple[list[Point], int]:
        whole = data.rfind(b"\n") + 1
        lines = data[:whole].decode("utf-8", "replace").splitlines()
        return [point for line in lines for point in points_of_line(line, now)], whole

    return read


def _matches(text: str, patterns: Sequence[re2._Regexp[str]], now: float) -> Iterator[Point]:
    for line in text.splitlines():
        for pattern in patterns:
            if (found := pattern.search(line)) is not None:
                yield from points_of_match(found.groupdict(), now)
