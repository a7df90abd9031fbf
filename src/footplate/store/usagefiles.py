"""Usage samples of a task: fixed-size records in a file beside its log."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from footplate.home.layout import folder_of_task, usage_file
from footplate.machine.taskfiles import unfollowed

# time, CPU seconds, memory, bytes read, bytes written, processes, busiest share of cards, their memory.
_RECORD = struct.Struct("<ddqqqidq")
UNKNOWN = -1
# Years of a task's life; a file that is larger was not written by us.
MOST_BYTES = 1024**2 * _RECORD.size


@dataclass(frozen=True, slots=True)
class Sample:
    """What a task used at a moment; CPU and I/O count from its start. -1: cannot be read."""

    at: float
    cpu_s: float
    memory_bytes: int
    read_bytes: int = UNKNOWN
    written_bytes: int = UNKNOWN
    n_processes: int = UNKNOWN
    gpu_utilisation: float = UNKNOWN
    gpu_memory_bytes: int = UNKNOWN


@dataclass(frozen=True, slots=True)
class Rate:
    """What a task used from one moment to another, as a chart shows it; None where it cannot be read."""

    at: float
    cpus: float
    memory_bytes: int
    read_bytes_s: float | None
    written_bytes_s: float | None
    n_processes: int | None
    gpu_utilisation: float | None
    gpu_memory_bytes: int | None


class UsageFiles:
    """The samples of all tasks, by attempt and task."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def append(self, attempt_id: str, task: str, sample: Sample) -> None:
        append(folder_of_task(self._home, attempt_id, task), sample)

    def read(self, attempt_id: str, task: str, since: float = 0.0) -> list[Sample]:
        return read(folder_of_task(self._home, attempt_id, task), since)


def append(task_folder: Path, sample: Sample) -> None:
    with open(usage_file(task_folder), "ab", opener=unfollowed) as file:  # as in taskfiles
        file.write(_RECORD.pack(*astuple(sample)))


def read(task_folder: Path, since: float = 0.0) -> list[Sample]:
    """Read what there is from a moment on; a record that a crash cut off is left out."""
    try:
        with open(usage_file(task_folder), "rb", opener=unfollowed) as file:
            data = file.read(MOST_BYTES)
    except OSError:
        return []
    whole = len(data) - len(data) % _RECORD.size
    samples = (Sample(*values) for values in _RECORD.iter_unpack(data[:whole]))
    return [sample for sample in samples if sample.at >= since]


def rates(samples: Sequence[Sample], most: int) -> list[Rate]:
    """Turn samples into rates, at most so many: neighbours are taken together."""
    step = max(1, -(-(len(samples) - 1) // most)) if len(samples) > 1 else 1
    return list(_rates(samples, step))


def _rates(samples: Sequence[Sample], step: int) -> Iterator[Rate]:
    for first in range(0, len(samples) - 1, step):
        span = samples[first : first + step + 1]
        before, after = span[0], span[-1]
        seconds = max(after.at - before.at, 0.001)
        # A task that was started again counts from nothing again.
        cpu_s = after.cpu_s - before.cpu_s if after.cpu_s >= before.cpu_s else after.cpu_s
        yield Rate(
            at=after.at,
            cpus=cpu_s / seconds,
            memory_bytes=max(sample.memory_bytes for sample in span[1:]),
            read_bytes_s=_growth(before.read_bytes, after.read_bytes, seconds),
            written_bytes_s=_growth(before.written_bytes, after.written_bytes, seconds),
            n_processes=_known(after.n_processes),
            gpu_utilisation=_known_share([sample.gpu_utilisation for sample in span[1:]]),
            gpu_memory_bytes=_known(max(sample.gpu_memory_bytes for sample in span[1:])),
        )


def _growth(before: int, after: int, seconds: float) -> float | None:
    if UNKNOWN in (before, after):
        return None
    return (after - before if after >= before else after) / seconds


def _known(value: int) -> int | None:
    return None if value == UNKNOWN else value


def _known_share(values: list[float]) -> float | None:
    known = [value for value in values if value != UNKNOWN]
    return sum(known) / len(known) if known else None
