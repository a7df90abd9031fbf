"""How limits are written for control groups of both versions, and what is read back."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from footplate.engines.local.confine import cgroups, delegation
from footplate.engines.local.confine.cgroups import Need, Tree
from footplate.engines.local.machine import devices
from footplate.engines.local.observe.records import read_exit
from footplate.engines.local.observe.task import read_end

NEED = Need(milli_cpus=300, memory_bytes=2**30, n_processes=100, denied_devices=("c 195:1 rwm",))
V1 = Tree(1, {"cpu": "/c/cpu", "memory": "/c/memory", "pids": "/c/pids", "devices": "/c/devices"}, True)
V2 = Tree(2, dict.fromkeys(("cpu", "memory", "pids", "io"), "/c"), True)


def test_version_1_has_a_group_for_each_controller() -> None:
    assert V1.order(NEED) == [
        ["/c/cpu", [["cpu.cfs_quota_us", "30000"]]],
        [
            "/c/memory",
            [["memory.limit_in_bytes", "1073741824"], ["memory.memsw.limit_in_bytes", "1073741824"]],
        ],
        ["/c/pids", [["pids.max", "100"]]],
        ["/c/devices", [["devices.deny", "c 195:1 rwm"]]],
    ]


def test_version_2_has_one_group_for_all() -> None:
    limits = [["cpu.max", "30000 100000"], ["memory.max", "1073741824"], ["memory.swap.max", "0"]]
    assert V2.order(NEED) == [["/c", [*limits, ["pids.max", "100"]]]]


def test_without_a_way_to_bound_swap_memory_alone_is_bounded() -> None:
    tree = Tree(2, {"memory": "/c"})
    assert tree.order(NEED) == [["/c", [["memory.max", "1073741824"]]]]


def test_no_group_for_devices_is_made_when_none_is_denied() -> None:
    places = [place for place, _ in V1.order(Need(300, 2**30, 100))]
    assert places == ["/c/cpu", "/c/memory", "/c/pids"]


def test_a_quota_is_never_below_what_the_kernel_takes() -> None:
    assert Tree(1, {"cpu": "/c"}).order(Need(1, 0, 0)) == [["/c", [["cpu.cfs_quota_us", "1000"]]]]


def test_a_group_names_the_process_that_owns_it() -> None:
    assert cgroups.owner_of("12-345") == (12, 345)
    assert cgroups.owner_of("server.ab12.12-345") == (12, 345)
    assert cgroups.owner_of("probe-12") is None
    assert cgroups.is_task("12-345")
    assert not cgroups.is_task("server.ab12.12-345")


MOUNTINFO = """\
24 1 0:22 / /proc rw - proc proc rw
30 1 0:26 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
31 1 0:27 /docker/abc /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
32 1 0:28 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
"""


def test_hierarchies_are_found_where_they_are_mounted() -> None:
    found = list(delegation._mounts(MOUNTINFO))
    assert [str(mount.folder) for mount in found] == [
        "/sys/fs/cgroup/cpu,cpuacct",
        "/sys/fs/cgroup/memory",
        "/sys/fs/cgroup/unified",
    ]
    assert found[0].controllers >= {"cpu", "cpuacct"}
    assert found[1].top == "/docker/abc"
    assert found[2].controllers == frozenset()


def test_a_containers_own_group_is_the_top_of_what_is_mounted(tmp_path: Path) -> None:
    mount = delegation.GroupMount(frozenset({"memory"}), tmp_path, "/docker/abc")
    (tmp_path / "inner").mkdir()
    assert delegation._folder_of(mount, "/docker/abc/inner") == tmp_path / "inner"
    assert delegation._folder_of(mount, "/docker/abc") == tmp_path
    assert delegation._folder_of(mount, "/elsewhere") == tmp_path


def test_servers_with_different_homes_have_different_subtrees() -> None:
    assert delegation.instance_name(Path("/a")) != delegation.instance_name(Path("/b"))


def made_up(tmp_path: Path, mountinfo: str, own: str) -> Path:
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "mountinfo").write_text(mountinfo)
    (tmp_path / "self" / "cgroup").write_text(own)
    return tmp_path


def test_a_machine_without_control_groups_says_so(tmp_path: Path) -> None:
    found = delegation.find_tree(None, proc=made_up(tmp_path, "24 1 0:22 / /proc rw - proc proc rw\n", ""))
    assert found.tree is None
    assert str(found.faults["memory"]) == "the kernel has no control groups for memory"


def test_a_server_that_systemd_has_put_aside_uses_the_group_around_its_own(tmp_path: Path) -> None:
    top = tmp_path / "cgroup"
    own = top / "system.slice" / "footplate.service" / delegation.OWN_GROUP
    own.mkdir(parents=True)
    for folder in (own, *own.parents[:3]):
        (folder / "cgroup.controllers").write_text("cpu memory pids io\n")
        (folder / "cgroup.subtree_control").write_text("")
        (folder / "cgroup.procs").write_text("")
    inner = f"/system.slice/footplate.service/{delegation.OWN_GROUP}"
    proc = made_up(tmp_path, f"30 1 0:26 / {top} rw - cgroup2 cgroup2 rw\n", f"0::{inner}\n")
    delegation.find_tree(None, proc=proc)
    # Plain files stand for the kernel's, so no tree comes of it; but it was tried in the right place.
    assert (own.parent / "cgroup.subtree_control").read_text() != ""
    assert (own / "cgroup.subtree_control").read_text() == ""


def test_a_hierarchy_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "cgroup"
    folder.write_text("a file cannot hold groups")
    info = f"30 1 0:26 / {folder} rw - cgroup cgroup rw,memory\n"
    found = delegation.find_tree(None, proc=made_up(tmp_path, info, "1:memory:/\n"))
    assert found.tree is None
    assert "cannot be written" in str(found.faults["memory"])


def test_version_2_without_delegation_says_what_to_do(tmp_path: Path) -> None:
    group = tmp_path / "cgroup"
    group.mkdir()
    for file in ("cgroup.controllers", "cgroup.subtree_control", "cgroup.procs"):
        (group / file).write_text("")
    info = f"30 1 0:26 / {group} rw - cgroup2 cgroup2 rw\n"
    found = delegation.find_tree(None, proc=made_up(tmp_path, info, "0::/\n"))
    assert found.tree is None
    assert "Delegate=yes" in str(found.faults["memory"])


def test_the_device_files_of_other_cards_are_denied(tmp_path: Path) -> None:
    for minor in (0, 1, 2):
        (tmp_path / f"nvidia{minor}").touch()
    nodes = devices.nvidia_nodes({0: 2, 1: 0, 2: 1, 3: 9}, tmp_path)
    assert devices.others(nodes, [0]) == (str(tmp_path / "nvidia0"), str(tmp_path / "nvidia1"))
    assert devices.others(nodes, []) == tuple(str(tmp_path / f"nvidia{minor}") for minor in (2, 0, 1))
    assert devices.others({}, [0]) == ()


def test_a_rule_names_the_kind_and_numbers_of_a_device() -> None:
    status = Path("/dev/null").stat()
    assert stat.S_ISCHR(status.st_mode)
    assert devices.rules(["/dev/null"]) == ("c 1:3 rwm",)


@pytest.mark.parametrize(
    "counted",
    [
        "memory.limit_in_bytes 100\nmemory.max_usage_in_bytes 99\nmemory.oom_control oom_kill_disable 0\n"
        "memory.oom_control under_oom 0\nmemory.oom_control oom_kill 2\n",
        "memory.max 100\nmemory.peak 99\nmemory.events oom 3\nmemory.events oom_kill 2\n",
    ],
)
def test_what_both_versions_counted_is_read_from_the_end(tmp_path: Path, counted: str) -> None:
    (tmp_path / "pid").write_text("12 345 boot\n")
    (tmp_path / "exit").write_text(f"137\n{counted}0m0.01s 0m0.02s\n1m2.50s 0m1.00s\n")
    end = read_exit(tmp_path)
    assert end is not None
    assert (end.n_oom_kills, end.limit_bytes, end.peak_bytes, end.cpu_s) == (2, 100, 99, 63.5)
    observed = read_end(tmp_path)
    assert observed is not None
    assert (observed.cause, str(observed.detail)) == (
        "oom",
        "out of memory: its limit is 100B, its peak was 99B",
    )


def test_a_kill_far_from_the_limit_is_blamed_on_the_machine(tmp_path: Path) -> None:
    (tmp_path / "pid").write_text("12 345 boot\n")
    (tmp_path / "exit").write_text(
        "137\nmemory.max 1073741824\nmemory.peak 1048576\nmemory.events oom_kill 1\n"
    )
    observed = read_end(tmp_path)
    assert observed is not None
    assert (
        str(observed.detail) == "out of memory: the machine had none left, while the task used 1MB of its 1GB"
    )


def test_a_memory_without_a_bound_has_no_limit_to_tell(tmp_path: Path) -> None:
    (tmp_path / "pid").write_text("12 345 boot\n")
    (tmp_path / "exit").write_text("1\nmemory.max max\nmemory.events oom_kill 1\n")
    observed = read_end(tmp_path)
    assert observed is not None
    assert (observed.cause, observed.limit_bytes, str(observed.detail)) == ("oom", None, "out of memory")
