"""CPUs, memory and GPUs of this machine: detected once, or declared in the settings."""

from __future__ import annotations

import os
import socket
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from footplate.domain.cluster import Node
from footplate.domain.resources import GIB
from footplate.engines.local.machine.devices import Nodes, nvidia_nodes
from footplate.engines.local.machine.gpus import Cards
from footplate.engines.local.machine.settings import LocalSettings
from footplate.engines.usage import CardUsage

ROOT = Path("/")
# The system and the server need some of the memory too: one part in so many is not given out, up to a bound.
KEPT_BACK_PARTS, MOST_KEPT_BACK_BYTES = 10, GIB


class Machine:
    """This machine as a node."""

    def __init__(self, settings: LocalSettings) -> None:
        self._settings = settings
        self._milli_cpus = settings.milli_cpus or detect_milli_cpus()
        self._memory_bytes = settings.memory_bytes or spare_memory_bytes()
        self._cards = Cards() if settings.gpus is None else None

    @property
    def name(self) -> str:
        return self._settings.node_name or socket.gethostname()

    def card_usage(self) -> Mapping[int, CardUsage]:
        """Read how busy the cards are; declared ones cannot be asked."""
        return self._cards.usage() if self._cards else {}

    @property
    def gpu_nodes(self) -> Nodes:
        """The device files of each card."""
        if self._cards is not None:
            return nvidia_nodes(self._cards.minors())
        return dict(enumerate(self._settings.gpu_nodes))

    async def node(self, our_attempts: Collection[str]) -> Node:
        """Describe the machine; cards used by processes of other attempts are marked."""
        declared = self._settings.gpus or ()
        return Node(
            name=self.name,
            milli_cpus=self._milli_cpus,
            memory_bytes=self._memory_bytes,
            gpus=await self._cards.list(our_attempts) if self._cards else declared,
            address=self._settings.address,
        )


def detect_milli_cpus(root: Path = ROOT) -> int:
    """Count the CPUs that this process may use, a container's quota included."""
    return min([len(os.sched_getaffinity(0)) * 1000, *_cpu_quotas(root)])


def spare_memory_bytes(root: Path = ROOT) -> int:
    """Say how much memory tasks can have, so that those within their limits leave enough for all else."""
    here_bytes = detect_memory_bytes(root)
    return here_bytes - min(here_bytes // KEPT_BACK_PARTS, MOST_KEPT_BACK_BYTES)


def detect_memory_bytes(root: Path = ROOT) -> int:
    """Say how much memory this process may use, a container's bound included."""
    return min([_total_memory_bytes(root), *_memory_bounds(root)])


def _total_memory_bytes(root: Path) -> int:
    for line in (root / "proc/meminfo").read_text().splitlines():
        name, _, amount = line.partition(":")
        if name == "MemTotal":
            return int(amount.split()[0]) * 1024
    raise ValueError("no MemTotal in /proc/meminfo")


def _cpu_quotas(root: Path) -> Iterator[int]:
    for folder in _control_groups(root, ""):
        words = _words(folder / "cpu.max")
        if len(words) == 2 and words[0] != "max":
            yield max(1, int(words[0]) * 1000 // int(words[1]))
    for folder in _control_groups(root, "cpu"):
        quota, period = _words(folder / "cpu.cfs_quota_us"), _words(folder / "cpu.cfs_period_us")
        if quota and period and int(quota[0]) > 0:
            yield max(1, int(quota[0]) * 1000 // int(period[0]))


def _memory_bounds(root: Path) -> Iterator[int]:
    for controller, file in (("", "memory.max"), ("memory", "memory.limit_in_bytes")):
        for folder in _control_groups(root, controller):
            words = _words(folder / file)
            if words and words[0] != "max":
                yield int(words[0])


def _control_groups(root: Path, controller: str) -> Iterator[Path]:
    """Go from this process's group up to the top; the empty controller is the unified tree (v2)."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, group = line.split(":", 2)
        if controller not in controllers.split(","):
            continue
        for mount in _mounts(root, controllers):
            folder = mount / group.strip("/")
            yield from (one for one in (folder, *folder.parents) if one.is_relative_to(mount))


def _mounts(root: Path, controllers: str) -> list[Path]:
    top = root / "sys/fs/cgroup"
    return [top / controllers] if controllers else [top, top / "unified"]


def _words(path: Path) -> list[str]:
    return " ".join(_lines(path)).split()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
