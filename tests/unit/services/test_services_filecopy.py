"""Copies of files that belong to others, who may do anything with them meanwhile."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
from pathlib import Path

import pytest

from footplate.services.filecopy import MOST_LEVELS, Copied, copy_bytes, copy_tree


def everything(_path: tuple[str, ...], _is_folder: bool, _beside: frozenset[str]) -> bool:
    return True


def copied(root: Path, into: Path) -> dict[str, Copied]:
    into.mkdir()
    return {one.path: one for one in copy_tree(root, "jobs", into, "home", everything)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "jobs").mkdir(parents=True)
    return tmp_path / "root"


def test_files_and_folders_come_along_with_digest_and_mode(root: Path, tmp_path: Path) -> None:
    (root / "jobs" / "a").mkdir(mode=0o750)
    (root / "jobs" / "a" / "file").write_bytes(b"content")
    (root / "jobs" / "a" / "file").chmod(0o640)
    found = copied(root, tmp_path / "into")
    assert list(found) == ["home/jobs", "home/jobs/a", "home/jobs/a/file"]
    file = found["home/jobs/a/file"]
    assert (file.kind, file.size_bytes, file.mode) == ("file", 7, 0o640)
    assert file.sha256 == hashlib.sha256(b"content").hexdigest()
    copy = tmp_path / "into" / "jobs" / "a" / "file"
    assert copy.read_bytes() == b"content"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.parent.stat().st_mode & 0o777 == 0o700


def test_links_are_noted_and_never_followed(root: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "shadow").write_text("secret of the machine")
    (root / "jobs" / "file").symlink_to(hidden / "shadow")
    (root / "jobs" / "folder").symlink_to(hidden)
    found = copied(root, tmp_path / "into")
    assert {one.path: (one.kind, one.target) for one in found.values() if one.kind != "folder"} == {
        "home/jobs/file": ("link", str(hidden / "shadow")),
        "home/jobs/folder": ("link", str(hidden)),
    }
    assert not list((tmp_path / "into").rglob("*shadow*"))


def test_pipes_and_sockets_hold_nobody_up(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "jobs" / "pipe")
    monkeypatch.chdir(root / "jobs")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        found = copied(root, tmp_path / "into")
    assert found["home/jobs/pipe"].kind == found["home/jobs/socket"].kind == "left out"


def test_folders_nested_to_be_a_nuisance_are_left_out(root: Path, tmp_path: Path) -> None:
    folder = os.open(root / "jobs", os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("n", dir_fd=folder)
        inner = os.open("n", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    found = copied(root, tmp_path / "into")
    # Python's own means to remove folders do not reach that deep.
    subprocess.run(["rm", "-rf", root / "jobs"], check=True)
    assert [one.kind for one in found.values()].count("left out") == 1
    assert len(found) == MOST_LEVELS + 1


@pytest.mark.parametrize("ends_in_a_hole", [True, False])
def test_holes_stay_holes_and_read_as_before(tmp_path: Path, ends_in_a_hole: bool) -> None:
    source, size = tmp_path / "log", 64 * 1024**2
    with source.open("wb") as out:
        out.write(b"begin")
        out.truncate(size)
        if not ends_in_a_hole:
            out.seek(size)
            out.write(b"end")
    size = source.stat().st_size
    descriptor = os.open(source, os.O_RDONLY)
    digest = copy_bytes(descriptor, tmp_path / "copy", size)
    os.close(descriptor)
    assert digest == hashlib.sha256(source.read_bytes()).hexdigest()
    assert hashlib.sha256((tmp_path / "copy").read_bytes()).hexdigest() == digest
    if source.stat().st_blocks * 512 < size // 2:
        assert (tmp_path / "copy").stat().st_blocks * 512 < size // 2


def test_a_file_that_grows_is_copied_as_it_was_and_one_that_shrank_as_far_as_it_goes(tmp_path: Path) -> None:
    source = tmp_path / "log"
    source.write_bytes(b"0123456789")
    descriptor = os.open(source, os.O_RDONLY)
    copy_bytes(descriptor, tmp_path / "shorter", 4)
    copy_bytes(descriptor, tmp_path / "longer", 100)
    os.close(descriptor)
    assert (tmp_path / "shorter").read_bytes() == b"0123"
    assert (tmp_path / "longer").read_bytes() == b"0123456789"
