"""A service that begins as root: it becomes its account, in a group in which it can always begin again."""

from __future__ import annotations

import errno
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.domain.errors import InvalidInput
from footplate.server import entering
from footplate.testing.process import await_that

NOBODY = 65534
# Enters a group, steps aside as servers do, hands controllers on, and starts a task that outlives it.
SERVER = """
import os, subprocess, sys
from pathlib import Path
from footplate.server.entering import take_group
mine = take_group(int(sys.argv[3]), int(sys.argv[3]), Path(sys.argv[1]), [sys.argv[2]])
os.setgid(int(sys.argv[3])); os.setuid(int(sys.argv[3]))
(mine / "footplate-server").mkdir()
(mine / "footplate-server" / "cgroup.procs").write_text(str(os.getpid()))
(mine / "cgroup.subtree_control").write_text("+" + sys.argv[2])
(mine / "tasks").mkdir()
task = subprocess.Popen(["sleep", "300"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
(mine / "tasks" / "cgroup.procs").write_text(str(task.pid))
print(mine, task.pid)
"""


def unified() -> Path | None:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        place, _, kind = line.partition(" - ")
        if kind.split()[0] == "cgroup2":
            return Path(place.split()[4])
    return None


@pytest.fixture
def top() -> Iterator[tuple[Path, str]]:
    """A group of the real kernel for this test alone, and a controller that it can hand on."""
    mounted = unified()
    if os.getuid() != 0 or mounted is None:
        pytest.skip("only root can try this, and where control groups of v2 are mounted")
    controllers = (mounted / "cgroup.controllers").read_text().split()
    if not controllers:
        pytest.skip("all controllers are with control groups of v1 here")
    folder = mounted / f"footplate-test-{os.getpid()}"
    try:
        (mounted / "cgroup.subtree_control").write_text(f"+{controllers[0]}")
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"control groups cannot be written here: {error.strerror}")
    yield folder, controllers[0]
    (folder / "cgroup.kill").write_text("1")
    await_that(lambda: "populated 0" in (folder / "cgroup.events").read_text())
    for inner, _, _ in os.walk(folder, topdown=False):
        Path(inner).rmdir()


def start(top: Path, controller: str) -> tuple[Path, int]:
    words = [sys.executable, "-c", SERVER, top, controller, str(NOBODY)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr
    mine, pid = done.stdout.split()
    return Path(mine), int(pid)


def test_a_server_begins_again_while_tasks_of_its_last_start_still_run(top: tuple[Path, str]) -> None:
    first, task = start(*top)
    # In the group of the first start nobody can begin any more: that is what the kernel refuses systemd.
    with pytest.raises(OSError) as refused:
        (first / "cgroup.procs").write_text(str(os.getpid()))
    assert refused.value.errno == errno.EBUSY
    second, _ = start(*top)
    assert second != first
    assert str(first.name) in Path(f"/proc/{task}/cgroup").read_text()


def test_groups_in_which_nothing_runs_any_more_are_removed_at_the_next_start(top: tuple[Path, str]) -> None:
    first, task = start(*top)
    second, _ = start(*top)
    os.kill(task, 9)
    await_that(lambda: "populated 0" in (first / "cgroup.events").read_text())
    start(*top)
    assert not first.exists()
    assert second.exists()


def test_without_groups_of_v2_nothing_is_taken(tmp_path: Path) -> None:
    assert entering.take_group(NOBODY, NOBODY, tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_an_account_that_is_not_there_is_refused_before_anything_is_done() -> None:
    if os.getuid() != 0:
        with pytest.raises(InvalidInput, match="only root can change"):
            entering.become("root")
        return
    with pytest.raises(InvalidInput, match="there is no account nobody-of-that-name"):
        entering.become("nobody-of-that-name")


def test_root_becomes_the_account_with_none_of_its_rights_left() -> None:
    if os.getuid() != 0:
        pytest.skip("only root can change somebody else")
    # Not into a group of this machine's: that is tried elsewhere.
    program = (
        "import os; from pathlib import Path; from footplate.server import entering;"
        "entering.take_group.__defaults__ = (Path('/nowhere'), ());"
        "entering.become('daemon'); print(os.getresuid(), os.getresgid(), os.environ['USER']);"
        "os.setuid(0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    uid = pwd.getpwnam("daemon").pw_uid
    assert done.stdout.startswith(f"({uid}, {uid}, {uid})")
    assert "PermissionError" in done.stderr
