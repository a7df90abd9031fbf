"""What is used of this machine by all that runs on it, as the kernel counts it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from footplate.engines.local.confine.cgroups import read_text
from footplate.engines.local.observe.network import machine_traffic
from footplate.engines.usage import CardUsage, NodeUsage

ROOT = Path("/")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
SECTOR_BYTES = 512
# Fields of a CPU in /proc/stat: all but idle, waiting for disks, and guests, which count as users already.
_BUSY = (1, 2, 3, 6, 7, 8)
# They pass on what real disks then count.
_UPON_OTHERS = ("loop", "ram", "zram", "dm-", "md")
_READ, _WRITTEN = 5, 9


def read_node(node: str, cards: Mapping[int, CardUsage], root: Path = ROOT) -> NodeUsage:
    """Read what is used now of the CPUs that this process may use, of memory, disks and network."""
    received_bytes, sent_bytes = machine_traffic(root)
    read_bytes, written_bytes = _disks(root)
    return NodeUsage(
        node,
        time.time(),
        _cpu_s(root, os.sched_getaffinity(0)),
        _memory_bytes(root),
        read_bytes,
        written_bytes,
        received_bytes,
        sent_bytes,
        tuple(cards[index] for index in sorted(cards)),
    )


def _cpu_s(root: Path, ours: set[int]) -> float:
    lines = (line.split() for line in read_text(str(root / "proc/stat")).splitlines())
    ticks = (
        sum(int(words[field]) for field in _BUSY if field < len(words))
        for words in lines
        if words and words[0][:3] == "cpu" and words[0][3:].isdecimal() and int(words[0][3:]) in ours
    )
    return sum(ticks) / TICKS_PER_S


def _memory_bytes(root: Path) -> int:
    """Say how much memory cannot be given to somebody else at once."""
    lines = (line.partition(":") for line in read_text(str(root / "proc/meminfo")).splitlines())
    sizes = {name: int(amount.split()[0]) * 1024 for name, _, amount in lines if amount.strip()}
    return sizes.get("MemTotal", 0) - sizes.get("MemAvailable", sizes.get("MemFree", 0))


def _disks(root: Path) -> tuple[int | None, int | None]:
    disks = list(_whole_disks(root))
    if not disks:
        return None, None
    read = sum(int(words[_READ]) for words in disks) * SECTOR_BYTES
    return read, sum(int(words[_WRITTEN]) for words in disks) * SECTOR_BYTES


def _whole_disks(root: Path) -> Iterator[list[str]]:
    for line in read_text(str(root / "proc/diskstats")).splitlines():
        words = line.split()
        is_whole = len(words) > _WRITTEN and (root / "sys/block" / words[2]).exists()
        if is_whole and not words[2].startswith(_UPON_OTHERS):
            yield words
