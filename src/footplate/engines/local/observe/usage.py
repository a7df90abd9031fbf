"""Resource usage of running tasks, from their control groups, else from their processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from footplate.engines.local.confine.cgroups import Tree, list_members, read_text
from footplate.engines.local.confine.delegation import find_groups
from footplate.engines.local.observe.network import TRAFFIC_UNKNOWN, network_of, traffic_of
from footplate.engines.local.observe.watches import TaskKey, Watch
from footplate.engines.local.process.processes import descendants
from footplate.engines.usage import CardUsage, Usage

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# As the machine counts them; in a container CUDA counts from 0.
CARDS = "\0NVIDIA_VISIBLE_DEVICES="


@dataclass(frozen=True, slots=True)
class Running:
    """A task to be read, and where its groups are; no tree: it has none."""

    key: TaskKey
    shim: int
    tree: Tree | None
    name: str = ""


def locate(watch: Watch, tree: Tree | None) -> Running:
    """Find a task's groups: ours by its name, a container's by asking the kernel."""
    identity = watch.identity
    if watch.key.in_container:
        return Running(watch.key, identity.pid, *find_groups(identity.pid))
    return Running(watch.key, identity.pid, tree, f"{identity.pid}-{identity.start_ticks}")


def read_usage(tasks: Sequence[Running], cards: Mapping[int, CardUsage]) -> list[Usage]:
    """Read what each of these tasks uses; a thousand take some tens of milliseconds."""
    ours = network_of("self")
    return [_read(task, cards, ours) for task in tasks]


def _read(task: Running, cards: Mapping[int, CardUsage], our_network: str) -> Usage:
    tree, name = task.tree, task.name
    listed = list_members(tree, name) if tree else None
    pids = descendants(task.shim) if listed is None else listed
    memory_bytes, peak_bytes = _memory(tree, name) if tree else (None, None)
    read_bytes, written_bytes = _io(tree, name, pids)
    # Tasks that share the machine's network have no counters of their own.
    has_own = task.key.in_container and network_of(task.shim) not in ("", our_network)
    received_bytes, sent_bytes = traffic_of(task.shim) if has_own else TRAFFIC_UNKNOWN
    return Usage(
        task.key.attempt_id,
        task.key.role,
        task.key.index,
        task.key.run,
        time.time(),
        _cpu_s(tree, name, task.shim, pids),
        sum(map(_resident_bytes, pids)) if memory_bytes is None else memory_bytes,
        peak_bytes,
        read_bytes,
        written_bytes,
        len(pids),
        tuple(cards[index] for index in _cards_of(task.shim) if index in cards) if cards else (),
        received_bytes,
        sent_bytes,
    )


# What cannot be dropped at any time, as pages of files can: by version, as the lines of `memory.stat` begin.
HELD = {1: ("\ntotal_rss ", "\ntotal_shmem "), 2: ("\nanon ", "\nshmem ")}
PEAK = {1: "memory.max_usage_in_bytes", 2: "memory.peak"}


def _memory(tree: Tree, name: str) -> tuple[int | None, int | None]:
    """Read what a task holds now, and what it had at most, pages of files included."""
    stat = "\n" + read_text(tree.file("memory", name, "memory.stat") or "")
    peak = read_text(tree.file("memory", name, PEAK[tree.version]) or "").strip()
    ends = [stat.partition(start)[2] for start in HELD[tree.version]]
    held = sum(int(end.partition("\n")[0]) for end in ends if end)
    return (held if len(stat) > 1 else None), (int(peak) if peak.isdecimal() else None)


def _cpu_s(tree: Tree | None, name: str, shim: int, pids: Iterable[int]) -> float:
    if tree is not None and tree.version == 2:
        words = read_text(tree.file("cpu", name, "cpu.stat") or "").split(None, 2)
        if len(words) > 1:
            return int(words[1]) / 1e6
    if (
        tree is not None
        and (path := tree.file("cpuacct", name, "cpuacct.usage"))
        and (text := read_text(path))
    ):
        return int(text) / 1e9
    # Whoever has ended was reaped by one of these, whose count includes it.
    return sum(map(_ticks, (shim, *pids))) / TICKS_PER_S


def _ticks(pid: int) -> int:
    """Add up the time of a process and of its children that have ended."""
    words = read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return sum(map(int, words[11:15]))


def _resident_bytes(pid: int) -> int:
    words = read_text(f"/proc/{pid}/statm").split()
    return int(words[1]) * PAGE_BYTES if words else 0


def _io(tree: Tree | None, name: str, pids: Iterable[int]) -> tuple[int | None, int | None]:
    if tree is not None and (path := tree.file("io", name, "io.stat")):
        pairs = [word.partition("=") for word in read_text(path).split() if "=" in word]
        return _sum(pairs, "rbytes"), _sum(pairs, "wbytes")
    lines = [line.partition(": ") for pid in pids for line in read_text(f"/proc/{pid}/io").splitlines()]
    return (_sum(lines, "read_bytes"), _sum(lines, "write_bytes")) if lines else (None, None)


def _sum(pairs: Iterable[tuple[str, str, str]], name: str) -> int:
    return sum(int(value) for key, _, value in pairs if key == name)


def _cards_of(shim: int) -> list[int]:
    """Read which cards a task was given from its own variables."""
    _, found, rest = ("\0" + read_text(f"/proc/{shim}/environ")).partition(CARDS)
    numbers = rest.partition("\0")[0].split(",") if found else []
    return [int(number) for number in numbers if number.isdecimal()]
