"""Usage of a task or a node over time: fixed-size records in a file, fewer the older they are.

The newest records are in memory for some seconds before they are written; a crash loses these, and no more.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Final

from footplate.home.layout import folder_of_task, node_folder, usage_file
from footplate.machine.taskfiles import LEVELS, open_folder, unfollowed, unfollowed_in

# Time, CPU seconds, memory, bytes read, written, received, sent, processes, use and memory of cards, watts.
_RECORD: Final = struct.Struct("<ddqqqqqidqd")
_SIGN: Final = b"FPU2"
UNKNOWN: Final = -1
# By age: from so old on, one record in so many seconds is kept.
STEPS: Final = ((600.0, 10.0), (7200.0, 60.0), (86400.0, 600.0))
# A file is made thinner when it has grown by so many records.
THIN_EVERY: Final = 1000
WRITE_EVERY_S: Final = 10.0
# More than a year of a task's life; a file that is larger was not written by us.
MOST_BYTES: Final = 128 * 1024 * _RECORD.size


@dataclass(frozen=True, slots=True)
class Sample:
    """What was used at a moment; CPU, disk and network count from the start. -1: cannot be read."""

    at: float
    cpu_s: float
    memory_bytes: int
    read_bytes: int = UNKNOWN
    written_bytes: int = UNKNOWN
    received_bytes: int = UNKNOWN
    sent_bytes: int = UNKNOWN
    n_processes: int = UNKNOWN
    gpu_utilisation: float = UNKNOWN
    gpu_memory_bytes: int = UNKNOWN
    power_w: float = UNKNOWN


@dataclass(frozen=True, slots=True)
class Rate:
    """What was used from one moment to another, as a chart shows it; None where it cannot be read."""

    at: float
    cpus: float
    memory_bytes: int
    read_bytes_s: float | None
    written_bytes_s: float | None
    received_bytes_s: float | None
    sent_bytes_s: float | None
    n_processes: int | None
    gpu_utilisation: float | None
    gpu_memory_bytes: int | None
    power_w: float | None


class UsageFiles:
    """The samples of all tasks, by attempt and task, and of nodes."""

    def __init__(self, home: Path) -> None:
        self._home = home
        # By attempt, of those that run.
        self._newest: dict[str, dict[str, Sample]] = {}
        self._newest_of_nodes: dict[tuple[str, int | None], Sample] = {}
        self._waiting: dict[Path, list[Sample]] = {}
        self._grown: dict[Path, int] = {}

    def append(self, attempt_id: str, task: str, sample: Sample) -> None:
        self._newest.setdefault(attempt_id, {})[task] = sample
        self._append(folder_of_task(self._home, attempt_id, task), sample)

    def append_node(self, node: str, sample: Sample, card: int | None = None) -> None:
        """Keep what a node uses, or one of its cards."""
        self._newest_of_nodes[node, card] = sample
        folder = node_folder(self._home, node, card)
        folder.mkdir(parents=True, exist_ok=True)
        self._append(folder, sample)

    def newest_of_node(self, node: str, card: int | None = None) -> Sample | None:
        return self._newest_of_nodes.get((node, card))

    def newest(self, attempt_id: str) -> dict[str, Sample]:
        """The last sample of each task of an attempt that runs, by its name."""
        return dict(self._newest.get(attempt_id, {}))

    def keep_only(self, attempt_ids: Container[str]) -> None:
        """Forget the last samples of attempts that are over, once they are written."""
        for gone in [one for one in list(self._newest) if one not in attempt_ids]:
            for task in self._newest.pop(gone, {}):
                folder = folder_of_task(self._home, gone, task)
                self._write(folder)
                self._grown.pop(folder, None)

    def read(self, attempt_id: str, task: str, since: float = 0.0) -> list[Sample]:
        return self._read(folder_of_task(self._home, attempt_id, task), since)

    def read_node(self, node: str, card: int | None = None, since: float = 0.0) -> list[Sample]:
        return self._read(node_folder(self._home, node, card), since)

    def close(self) -> None:
        """Write what waits."""
        for folder in list(self._waiting):
            self._write(folder)

    def _read(self, folder: Path, since: float) -> list[Sample]:
        waiting = tuple(self._waiting.get(folder, ()))
        written = read(folder, since)
        last_at = written[-1].at if written else float("-inf")
        # What was written meanwhile is not told twice.
        return [*written, *(one for one in waiting if one.at > last_at and one.at >= since)]

    def _append(self, folder: Path, sample: Sample) -> None:
        waiting = self._waiting.setdefault(folder, [])
        if waiting and sample.at <= waiting[-1].at:
            return
        waiting.append(sample)
        if sample.at - waiting[0].at >= WRITE_EVERY_S:
            self._write(folder)

    def _write(self, folder: Path) -> None:
        samples = self._waiting.get(folder)
        if not samples:
            return
        try:
            # Nobody has a folder any more whose job was removed.
            with contextlib.suppress(FileNotFoundError):
                append(folder, samples)
        finally:
            self._waiting.pop(folder, None)
        self._grown[folder] = self._grown.get(folder, 0) + len(samples)
        if self._grown[folder] >= THIN_EVERY:
            self._grown[folder] = 0
            thin(folder, samples[-1].at)


def append(folder: Path, samples: Iterable[Sample]) -> None:
    """Add samples; what a crash has cut off, or is not ours, is taken away before."""
    with open(usage_file(folder), "ab+", opener=unfollowed) as file:  # as in taskfiles
        size = file.tell()
        file.seek(0)
        if file.read(len(_SIGN)) != _SIGN:
            file.truncate(0)
            file.write(_SIGN)
        elif cut := (size - len(_SIGN)) % _RECORD.size:
            file.truncate(size - cut)
        file.write(b"".join(_RECORD.pack(*astuple(sample)) for sample in samples))


def read(folder: Path, since: float = 0.0) -> list[Sample]:
    """Read what there is from a moment on; a record that a crash cut off is left out."""
    try:
        with open(usage_file(folder), "rb", opener=unfollowed) as file:
            data = file.read(MOST_BYTES)
    except OSError:
        return []
    if data[: len(_SIGN)] != _SIGN:
        return []
    end = len(data) - (len(data) - len(_SIGN)) % _RECORD.size
    samples = (Sample(*values) for values in _RECORD.iter_unpack(data[len(_SIGN) : end]))
    return [sample for sample in samples if sample.at >= since]


def thin(folder: Path, now: float) -> None:
    """Write a file anew with fewer of its old samples."""
    kept = thinned(read(folder), now)
    name = usage_file(folder).name
    new = f"{name}.new"
    folder_fd = open_folder(str(folder), LEVELS - 1)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new, dir_fd=folder_fd)
        fd = unfollowed_in(folder_fd, new, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with os.fdopen(fd, "wb") as file:
            file.write(_SIGN + b"".join(_RECORD.pack(*astuple(sample)) for sample in kept))
        os.replace(new, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    finally:
        os.close(folder_fd)


def thinned(samples: Sequence[Sample], now: float) -> list[Sample]:
    """Take neighbours together, more of them the older they are; sums stay right, and peaks stay."""
    found: list[list[Sample]] = []
    last = None
    for sample in samples:
        step = _step(now - sample.at)
        place = (step, sample.at // step) if step else None
        if place is None or place != last:
            found.append([])
        found[-1].append(sample)
        last = place
    return [_joined(group) for group in found]


def _step(age_s: float) -> float:
    return max((step for from_s, step in STEPS if age_s >= from_s), default=0.0)


def _joined(group: Sequence[Sample]) -> Sample:
    if len(group) == 1:
        return group[0]
    return replace(
        group[-1],
        memory_bytes=max(sample.memory_bytes for sample in group),
        n_processes=max(sample.n_processes for sample in group),
        gpu_utilisation=_or_unknown(_mean([sample.gpu_utilisation for sample in group])),
        gpu_memory_bytes=max(sample.gpu_memory_bytes for sample in group),
        power_w=_or_unknown(_mean([sample.power_w for sample in group])),
    )


def rates(samples: Sequence[Sample], most: int) -> list[Rate]:
    """Turn samples into rates, at most so many: neighbours are taken together."""
    if len(samples) < 2:
        return []
    # By time and not by number: old samples are further apart.
    begin, span = samples[0].at, max(samples[-1].at - samples[0].at, 0.001)
    groups: list[list[Sample]] = []
    last = -1
    for sample in samples[1:]:
        place = min(int((sample.at - begin) / span * most), most - 1) if len(samples) > most + 1 else last + 1
        if place != last or not groups:
            groups.append([])
        groups[-1].append(sample)
        last = place
    return list(_rates(samples[0], groups))


def _rates(first: Sample, groups: Iterable[Sequence[Sample]]) -> Iterator[Rate]:
    before = first
    for group in groups:
        after = group[-1]
        seconds = max(after.at - before.at, 0.001)
        # A task that was started again counts from nothing again.
        cpu_s = after.cpu_s - before.cpu_s if after.cpu_s >= before.cpu_s else after.cpu_s
        yield Rate(
            at=after.at,
            cpus=cpu_s / seconds,
            memory_bytes=max(sample.memory_bytes for sample in group),
            read_bytes_s=_growth(before.read_bytes, after.read_bytes, seconds),
            written_bytes_s=_growth(before.written_bytes, after.written_bytes, seconds),
            received_bytes_s=_growth(before.received_bytes, after.received_bytes, seconds),
            sent_bytes_s=_growth(before.sent_bytes, after.sent_bytes, seconds),
            n_processes=_known(after.n_processes),
            gpu_utilisation=_mean([sample.gpu_utilisation for sample in group]),
            gpu_memory_bytes=_known(max(sample.gpu_memory_bytes for sample in group)),
            power_w=_mean([sample.power_w for sample in group]),
        )
        before = after


def _growth(before: int, after: int, seconds: float) -> float | None:
    if UNKNOWN in (before, after):
        return None
    return (after - before if after >= before else after) / seconds


def _known(value: int) -> int | None:
    return None if value == UNKNOWN else value


def _mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if value != UNKNOWN]
    return sum(known) / len(known) if known else None


def _or_unknown(value: float | None) -> float:
    return UNKNOWN if value is None else value
