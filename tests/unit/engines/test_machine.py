"""What the machine is found to have, from the files that the kernel shows."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from footplate.domain.cluster import Gpu
from footplate.domain.resources import GIB
from footplate.engines.local.machine.detect import (
    Machine,
    detect_memory_bytes,
    detect_milli_cpus,
    spare_memory_bytes,
)
from footplate.engines.local.machine.gpus import select_visible
from footplate.engines.local.machine.settings import LocalSettings

ALL_CPUS = len(os.sched_getaffinity(0)) * 1000


def machine(root: Path, cgroup: str = "0::/", **files: str) -> Path:
    """Write a tree of kernel files."""
    written = {"proc/meminfo": "MemFree: 1 kB\nMemTotal: 8388608 kB\n", "proc/self/cgroup": cgroup, **files}
    for name, text in written.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


@pytest.mark.parametrize(("total_kib", "spare_kib"), [(64 << 20, 63 << 20), (5 << 20, 4718592), (1000, 900)])
def test_some_of_the_memory_is_kept_back_for_the_system(
    tmp_path: Path, total_kib: int, spare_kib: int
) -> None:
    root = machine(tmp_path, **{"proc/meminfo": f"MemTotal: {total_kib} kB"})
    assert spare_memory_bytes(root) == spare_kib * 1024


def test_a_machine_offers_what_is_to_spare() -> None:
    assert (
        asyncio.run(Machine(LocalSettings(home=Path("/home/fp"))).node(())).memory_bytes
        == spare_memory_bytes()
    )


def test_a_bare_machine_has_all_there_is(tmp_path: Path) -> None:
    root = machine(tmp_path)
    assert detect_milli_cpus(root) == ALL_CPUS
    assert detect_memory_bytes(root) == 8 * GIB


@pytest.mark.parametrize(
    ("cgroup", "files"),
    [
        (
            "0::/a/b",
            {"sys/fs/cgroup/a/b/cpu.max": "50000 100000", "sys/fs/cgroup/a/memory.max": "1073741824"},
        ),
        (
            "4:memory:/x\n2:cpu,cpuacct:/x",
            {
                "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us": "50000",
                "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824",
            },
        ),
    ],
    ids=["cgroup v2", "cgroup v1"],
)
def test_a_containers_bounds_are_respected(tmp_path: Path, cgroup: str, files: dict[str, str]) -> None:
    root = machine(tmp_path, cgroup, **files)
    assert detect_milli_cpus(root) == 500
    assert detect_memory_bytes(root) == GIB


def test_bounds_that_bound_nothing_are_ignored(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        "4:memory:/\n2:cpu:/\n0::/",
        **{
            "sys/fs/cgroup/cpu.max": "max 100000",
            "sys/fs/cgroup/memory.max": "max",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        },
    )
    assert detect_milli_cpus(root) == ALL_CPUS
    assert detect_memory_bytes(root) == 8 * GIB


def test_declared_values_replace_detected_ones() -> None:
    gpus = (Gpu(0, "A100"), Gpu(1, "A100"))
    settings = LocalSettings(
        home=Path("/home/fp"),
        node_name="box",
        address="10.0.0.1",
        milli_cpus=64_000,
        memory_bytes=GIB,
        gpus=gpus,
    )
    node = asyncio.run(Machine(settings).node(()))
    assert (node.name, node.address) == ("box", "10.0.0.1")
    assert (node.milli_cpus, node.memory_bytes, node.gpus) == (64_000, GIB, gpus)


@pytest.mark.parametrize(
    ("visible", "indices"),
    [(None, [0, 1]), ("", []), ("1", [1]), ("0, 1", [0, 1]), ("GPU-b", [1]), ("-1", [])],
)
def test_the_servers_own_mask_bounds_the_cards(visible: str | None, indices: list[int]) -> None:
    cards = (Gpu(0, uuid="GPU-aa"), Gpu(1, uuid="GPU-bb"))
    assert [card.index for card in select_visible(cards, visible)] == indices
