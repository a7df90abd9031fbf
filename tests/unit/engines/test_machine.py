"""What the machine is found to have, from the files that the kernel shows."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from footplate.domain.cluster import Gpu
from footplate.domain.resources import GIB
from footplate.engines.local.machine import gpus
from footplate.engines.local.machine.detect import (
    Machine,
    detect_memory_bytes,
    detect_milli_cpus,
    spare_memory_bytes,
)
from footplate.engines.local.machine.gpus import select_visible
from footplate.engines.local.machine.settings import LocalSettings
from footplate.engines.local.observe.network import machine_traffic, network_of, traffic_of
from footplate.engines.local.observe.nodeusage import read_node
from footplate.engines.usage import CardUsage
from footplate.testing.process import await_that

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


NET = """Inter-| Receive | Transmit
 face |bytes packets
    lo: 1000 1 0 0 0 0 0 0 2000 1 0 0 0 0 0 0
  eth0: 30 1 0 0 0 0 0 0 40 1 0 0 0 0 0 0
 veth1: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0
"""


def test_what_is_used_of_a_machine_is_read_from_the_kernels_counters(tmp_path: Path) -> None:
    ours = min(os.sched_getaffinity(0))
    root = machine(
        tmp_path,
        **{
            "proc/stat": f"cpu 1 1 1 1\ncpu{ours} 100 20 30 9999 9999 4 5 6 7 7\ncpu9999 1 1 1 1 1 1 1 1",
            "proc/meminfo": "MemTotal: 100 kB\nMemAvailable: 40 kB",
            "proc/diskstats": "8 0 sda 1 0 10 0 1 0 4 0\n8 1 sda1 1 0 9 0 1 0 3 0\n7 0 loop0 1 0 7 0 1 0 7 0",
            "proc/self/net/dev": NET,
            "sys/block/sda/size": "1",
            "sys/block/loop0/size": "1",
        },
    )
    cards = {1: CardUsage(1, 0.5, 7, 100.0), 0: CardUsage(0, 1.0, 9)}
    used = read_node("here", cards, root)
    assert used.cpu_s == pytest.approx(165 / os.sysconf("SC_CLK_TCK"))
    assert used.memory_bytes == 60 * 1024
    assert (used.read_bytes, used.written_bytes) == (10 * 512, 4 * 512)
    assert (used.received_bytes, used.sent_bytes) == (35, 46)
    assert [card.index for card in used.cards] == [0, 1]
    (root / "sys/class/net/eth0/device").mkdir(parents=True)
    assert machine_traffic(root) == (30, 40)


def test_counters_that_are_not_there_are_unknown(tmp_path: Path) -> None:
    used = read_node("here", {}, machine(tmp_path))
    assert used.read_bytes is used.written_bytes is used.received_bytes is used.sent_bytes is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes networks")
def test_a_process_with_a_network_of_its_own_has_counters_of_its_own() -> None:
    with subprocess.Popen(("unshare", "--net", "cat"), stdin=subprocess.PIPE) as process:
        await_that(lambda: network_of(process.pid) not in ("", network_of("self")), 10)
        assert traffic_of(process.pid) in ((0, 0), (None, None))
        process.communicate()
    assert network_of(process.pid) == ""


class _Nvml:
    """A driver with two cards, of which one tells its power."""

    class NVMLError(Exception):
        pass

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802  # as the library calls it
        return index

    def nvmlDeviceGetUtilizationRates(self, _card: int) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(gpu=50)

    def nvmlDeviceGetMemoryInfo(self, _card: int) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(used=7)

    def nvmlDeviceGetPowerUsage(self, card: int) -> int:  # noqa: N802
        if card:
            raise self.NVMLError("not supported")
        return 312_500


def test_power_is_told_in_watts_where_a_card_tells_it() -> None:
    assert gpus._usage(_Nvml(), 0) == CardUsage(0, 0.5, 7, 312.5)
    assert gpus._usage(_Nvml(), 1) == CardUsage(1, 0.5, 7, None)
