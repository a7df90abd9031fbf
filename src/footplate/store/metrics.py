"""The metrics of jobs: points in files beside the rows, curves in memory, and who is told of new ones."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from footplate.domain.attempt import job_of
from footplate.domain.errors import TooLarge
from footplate.domain.metrics import Batch, Columns, Point
from footplate.home.layout import metrics_folder
from footplate.store.curves import Curve, Shape, stride_for
from footplate.store.metricfiles import (
    NO_SOURCE,
    Record,
    append_record,
    read_records,
    source_of,
    write_record,
)

MOST_JOB_BYTES = 512 * 1024**2
MOST_NAMES = 2000
# How many tasks memory knows, and how many points of their curves; the rest is read again when asked for.
MOST_HELD = 10_000
MOST_KEPT_POINTS = 1_500_000
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class NewPoints:
    """What listeners are told: a batch that was kept for a task of an attempt."""

    job_id: str
    attempt: int
    task: str
    batch: Batch


Listener = Callable[[NewPoints], None]


@dataclass(slots=True)
class _Held:
    """What memory knows of one file: which batches it has, the figures of its curves, and their shapes."""

    path: Path
    lock: threading.Lock = field(default_factory=threading.Lock)
    size: int = 0
    is_read: bool = False
    has_shapes: bool = False
    numbers: dict[bytes, int] = field(default_factory=dict)
    curves: dict[str, Curve] = field(default_factory=dict)

    @property
    def n_kept(self) -> int:
        return sum(len(curve.shape) for curve in list(self.curves.values()) if curve.shape is not None)

    def read_on(self, with_shapes: bool = False) -> None:
        """Read what the file has, unless that is known; later batches are taken in as they are written."""
        if self.is_read and (self.has_shapes or not with_shapes):
            return
        self.size, self.numbers, self.curves, self.has_shapes = 0, {}, {}, with_shapes
        n_bytes = self.path.stat().st_size if self.path.exists() else 0
        for record in read_records(self.path):
            curves = dict(record.curves())
            # Two numbers of each point are in the file, whatever is left out.
            stride = stride_for(n_bytes / 16 / max(len(curves), 1))
            self._take(record.source, record.number, curves, stride)
            self.size = record.end
        # What is new is held from its beginning.
        self.has_shapes = with_shapes or not self.size
        self.is_read = True

    def append(self, batch: Batch) -> bool:
        """Keep a batch, unless it was kept before."""
        source = source_of(batch.source)
        if source != NO_SOURCE and batch.number <= self.numbers.get(source, -1):
            return False
        if len(self.curves.keys() | batch.curves.keys()) > MOST_NAMES:
            raise TooLarge("too_many_metric_names", "points", most=MOST_NAMES)
        self.size = append_record(self.path, write_record(batch), self.size)
        self._take(source, batch.number, batch.curves)
        return True

    def drop_shapes(self) -> None:
        self.has_shapes = False
        for curve in self.curves.values():
            curve.shape = None

    def _take(self, source: bytes, number: int, curves: Mapping[str, Columns], stride: int = 1) -> None:
        if source != NO_SOURCE:
            self.numbers[source] = max(number, self.numbers.get(source, -1))
        for name, columns in curves.items():
            curve = self.curves.get(name)
            if curve is None:
                curve = self.curves[name] = Curve(shape=Shape(stride) if self.has_shapes else None)
            curve.extend(columns)


def _rank(task: str) -> tuple[str, int]:
    """Where a task comes among others: `worker-2` before `worker-10`."""
    role, _, index = task.rpartition("-")
    return (role, int(index)) if index.isdecimal() else (task, -1)


class Metrics:
    """Keeps points, and finds them again, by attempt and task."""

    def __init__(self, home: Path, most_job_bytes: int = MOST_JOB_BYTES) -> None:
        self._home = home
        self._most_job_bytes = most_job_bytes
        self._held: OrderedDict[Key, _Held] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []

    async def keep(self, attempt_id: str, task: str, batch: Batch) -> bool:
        """Keep a batch in a thread, and tell listeners; False when it had been kept before."""
        is_new = await asyncio.to_thread(self.append, attempt_id, task, batch)
        if is_new:
            self._tell(attempt_id, task, batch)
        return is_new

    def append(self, attempt_id: str, task: str, batch: Batch) -> bool:
        """Keep a batch; False when it was kept before. Raise `TooLarge` when the job has no room left."""
        if not batch.curves:
            return False
        job_id, held = job_of(attempt_id), self._hold(attempt_id, task)
        with held.lock:
            held.read_on()
            if self._size_of(job_id) > self._most_job_bytes:
                raise TooLarge("metrics_full", "points", most_bytes=self._most_job_bytes)
            before, is_new = held.size, held.append(batch)
            with self._lock:
                self._sizes[job_id] = self._sizes.get(job_id, 0) + held.size - before
        if not before:
            self._spare(held)
        return is_new

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call a listener, on the event loop, with every batch that is kept from now on."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def curves(self, attempt_id: str, task: str) -> dict[str, Curve]:
        """The curves of a task in an attempt, by their names; reads files the first time."""
        held = self._hold(attempt_id, task)
        with held.lock:
            was_there = held.has_shapes
            held.read_on(with_shapes=True)
            found = dict(held.curves)
        if not was_there:
            self._spare(held)
        return found

    def figures(self, attempt_id: str, task: str) -> dict[str, Curve]:
        """The same without their shapes, where only first, last, lowest and highest points matter."""
        held = self._hold(attempt_id, task)
        with held.lock:
            held.read_on()
            return dict(held.curves)

    def known(self, attempt_id: str, task: str) -> dict[str, Curve]:
        """The figures that memory has, without reading any file."""
        held = self._held.get((attempt_id, task))
        return dict(held.curves) if held else {}

    def last_number(self, attempt_id: str, task: str, source: str) -> int:
        """The number of the last batch of a source that was kept; 0 for none."""
        held = self._hold(attempt_id, task)
        with held.lock:
            held.read_on()
            return held.numbers.get(source_of(source), 0)

    def n_points(self, attempt_id: str, task: str) -> int:
        """How many points a task has told, as far as memory knows."""
        return sum(curve.n_points for curve in self.known(attempt_id, task).values())

    def raw(self, attempt_id: str, task: str, name: str) -> Columns:
        """All points of one metric, out of the file."""
        found, only = Columns(), frozenset({name})
        for record in read_records(self._path(attempt_id, task)):
            for _, columns in record.curves(only):
                found.extend(columns)
        return found

    def records(self, attempt_id: str, task: str, begin: int = 0) -> Iterator[Record]:
        """The batches of a task in the order in which they were kept, from a place in its file on."""
        return read_records(self._path(attempt_id, task), begin)

    def tasks(self, job_id: str) -> list[tuple[int, str]]:
        """Attempts and tasks of a job that have told something, in the order of their numbers."""
        try:
            names = [path.name for path in metrics_folder(self._home, job_id).iterdir()]
        except OSError:
            return []
        parted = [name.partition(".") for name in names if name.endswith(".points")]
        told = [
            (int(attempt), rest.removesuffix(".points")) for attempt, _, rest in parted if attempt.isdecimal()
        ]
        return sorted(told, key=lambda one: (one[0], _rank(one[1])))

    def forget(self, job_id: str) -> None:
        """Let go of what memory holds of a job that is removed."""
        with self._lock:
            for key in [key for key in self._held if job_of(key[0]) == job_id]:
                del self._held[key]
            self._sizes.pop(job_id, None)

    def _tell(self, attempt_id: str, task: str, batch: Batch) -> None:
        job_id, _, attempt = attempt_id.rpartition(".")
        news = NewPoints(job_id, int(attempt), task, batch)
        for listener in list(self._listeners):
            listener(news)

    def _hold(self, attempt_id: str, task: str) -> _Held:
        key = (attempt_id, task)
        with self._lock:
            held = self._held.get(key)
            if held is None:
                held = self._held[key] = _Held(self._path(attempt_id, task))
            self._held.move_to_end(key)
            while len(self._held) > MOST_HELD:
                # One that is in use is held by its user; its numbers must not be read twice.
                oldest_key, oldest = next(iter(self._held.items()))
                if oldest.lock.locked():
                    break
                del self._held[oldest_key]
            return held

    def _spare(self, used: _Held) -> None:
        """Let go of the shapes that nobody looked at for long, when there are too many."""
        with self._lock:
            every = list(self._held.values())
        n_kept = sum(one.n_kept for one in every)
        for one in every:
            if n_kept <= MOST_KEPT_POINTS:
                return
            if one is not used:
                with one.lock:
                    n_kept -= one.n_kept
                    one.drop_shapes()

    def _path(self, attempt_id: str, task: str) -> Path:
        job_id, _, attempt = attempt_id.rpartition(".")
        return metrics_folder(self._home, job_id) / f"{attempt}.{task}.points"

    def _size_of(self, job_id: str) -> int:
        with self._lock:
            known = self._sizes.get(job_id)
        if known is None:
            try:
                files = list(metrics_folder(self._home, job_id).iterdir())
            except OSError:
                files = []
            known = sum(path.lstat().st_size for path in files)
            with self._lock:
                self._sizes.setdefault(job_id, known)
        return known


def latest_of(curves: Mapping[str, Curve]) -> dict[str, Point]:
    """The newest point of each metric."""
    return {name: curve.last for name, curve in curves.items() if curve.last is not None}
