"""The files of a job go, whatever its tasks did to them."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.machine.foldertree import remove_tree, walk

SOMEBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of an ordinary user, for whom this test acts: nothing is locked for root."""
    place = Path(tempfile.mkdtemp(dir="/var/tmp"))  # where others than root can get
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(place, SOMEBODY, SOMEBODY)
        os.seteuid(SOMEBODY)
    try:
        yield place / "job"
    finally:
        if is_root:
            os.seteuid(0)
        shutil.rmtree(place)


def test_folders_that_tasks_have_locked_one_in_another_go_at_the_first_try(folder: Path) -> None:
    inner = folder / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (inner / "file").write_text("12345")
    (folder / "link").symlink_to("/etc")
    while inner != folder.parent:
        inner.chmod(0)
        inner = inner.parent
    assert remove_tree(folder) == 5
    assert not folder.exists()


def dig(folder: Path, n_deep: int, name: str = "d") -> None:
    """Make folders one in another, deeper than any path can say."""
    folder.mkdir()
    fd = os.open(folder, os.O_RDONLY)
    for _ in range(n_deep):
        os.mkdir(name, dir_fd=fd)
        inner = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    with os.fdopen(os.open("last", os.O_WRONLY | os.O_CREAT, dir_fd=fd), "w") as out:
        out.write("123")
    os.close(fd)


def test_folders_deeper_than_the_stack_and_the_longest_path_go(folder: Path) -> None:
    dig(folder, 3000, name="a long name that makes the whole path longer than any")
    assert remove_tree(folder) == 3
    assert not folder.exists()


def test_odd_names_and_names_that_the_removal_uses_itself_go(folder: Path) -> None:
    dig(folder, 50)
    for name in (b"\xff\xfe", b"new\nline", b".going-1", b"-rf", b"a" * 255):
        Path(os.fsdecode(os.fsencode(folder) + b"/d/" + name)).mkdir()
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("1")
    (folder / ".going-2").mkdir()
    (folder / ".going-2" / "full").write_text("1")
    os.mkfifo(folder / "pipe")
    assert remove_tree(folder) == 9
    assert not folder.exists()


def test_links_are_removed_and_what_they_lead_to_stays(folder: Path) -> None:
    folder.mkdir()
    kept = folder.parent / "kept"
    kept.mkdir()
    (kept / "file").write_text("1")
    (folder / "link").symlink_to(kept)
    (folder / "deep").mkdir()
    (folder / "deep" / "link").symlink_to(kept)
    remove_tree(folder)
    assert (kept / "file").exists()


def test_what_is_not_there_and_what_is_no_folder_are_removed_too(folder: Path) -> None:
    assert remove_tree(folder) == 0
    assert remove_tree(folder / "in" / "nothing") == 0
    folder.write_text("12")
    assert remove_tree(folder) == 2
    assert not folder.exists()


def test_a_removal_needs_few_descriptors(folder: Path) -> None:
    dig(folder, 300)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    n_open = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (n_open + 8, hard))
    try:
        remove_tree(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not folder.exists()


def test_a_walk_sees_all_as_deep_as_it_is_to_and_needs_no_stack(folder: Path) -> None:
    dig(folder, 3000)
    (folder / "side").mkdir()
    (folder / "side" / "file").write_text("")
    fd = os.open(folder, os.O_PATH)
    try:
        seen = [(place.count("/"), files) for place, _, files, _ in walk(fd)]
        shallow = [place for place, _, _, _ in walk(fd, 10)]
    finally:
        os.close(fd)
    assert len(seen) == 3002
    assert max(seen) == (3000, ["last"])
    assert (1, ["file"]) in seen
    assert len(shallow) == 12
    assert remove_tree(folder) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files unchangeable")
def test_what_was_made_unchangeable_goes_where_the_server_may(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("1")
    if subprocess.run(["chattr", "+i", folder / "inner" / "file", folder / "inner"], check=False).returncode:
        pytest.skip("this file system has no unchangeable files")
    remove_tree(folder)
    assert not folder.exists()
