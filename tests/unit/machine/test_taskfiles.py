"""Files that tasks can reach are opened without following what tasks put in their place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.engines.local.code import place_code
from footplate.engines.local.containers.folders import _hand_over
from footplate.engines.local.observe.records import read_claim, read_exit, write_exit
from footplate.home.layout import log_file
from footplate.machine.taskfiles import Spoilt, beneath, check_folder, open_beneath, unfollowed
from footplate.store import usagefiles
from footplate.store.logfiles import LogFile


@pytest.fixture
def task(tmp_path: Path) -> Path:
    folder = tmp_path / "attempt-0" / "main-0"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def hidden(tmp_path: Path) -> Path:
    file = tmp_path / "hidden"
    file.write_text("7\nprecious\n")
    return file


def test_a_link_in_place_of_a_log_shows_nothing_of_what_it_leads_to(task: Path, hidden: Path) -> None:
    log_file(task).symlink_to(hidden)
    log = LogFile(task)
    assert (log.size, log.read(0, 100).data, log.offset_of_tail(5)) == (0, b"", 0)


def test_a_link_in_place_of_a_tasks_folder_shows_nothing_either(task: Path, hidden: Path) -> None:
    hidden.rename(hidden.with_name("log"))
    task.rmdir()
    task.symlink_to(hidden.parent)
    assert LogFile(task).read(0, 100).data == b""
    with pytest.raises(NotADirectoryError):
        check_folder(task)


def test_a_pipe_in_place_of_a_record_counts_as_no_record_and_nobody_waits_for_it(task: Path) -> None:
    for name in ("pid", "exit", "log", "usage"):
        os.mkfifo(task / name)
    assert (read_claim(task), read_exit(task), usagefiles.read(task)) == (None, None, [])
    assert LogFile(task).read(0, 100).data == b""
    with pytest.raises(Spoilt):
        usagefiles.append(task, [usagefiles.Sample(1.0, 2.0, 3)])


def test_a_link_that_leads_to_itself_counts_as_no_record(task: Path) -> None:
    (task / "exit").symlink_to("exit")
    assert read_exit(task) is None


def test_an_exit_code_is_not_written_through_a_link(task: Path, hidden: Path) -> None:
    (task / "exit").symlink_to(hidden)
    write_exit(task, 137)
    assert hidden.read_text() == "7\nprecious\n"


def test_notes_about_a_log_that_a_task_spoilt_are_passed_over(task: Path) -> None:
    log_file(task).write_bytes(b"0123456789")
    (task / "log.holes").write_text("a b\n2.5 4\n-1 3\n")
    (task / "log.index").write_bytes(b"\xff\xfe\n")
    log = LogFile(task)
    assert log.holes() == [(2, 4)]
    assert log.offset_since(5.0, None, None) == 0


def test_code_is_not_copied_from_where_a_link_leads(task: Path, tmp_path: Path, hidden: Path) -> None:
    code = tmp_path / "job" / "code"
    code.parent.mkdir()
    code.symlink_to(hidden.parent)
    with pytest.raises(NotADirectoryError):
        place_code(code, task / "work")
    assert not (task / "work").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can hand files over")
def test_a_folder_is_not_handed_over_through_a_link(task: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "file").touch()
    (task / "run-1").symlink_to(theirs)
    with pytest.raises(NotADirectoryError):
        _hand_over([task / "run-1"], 12345, 12345)
    (task / "work").mkdir()
    (task / "work" / "link").symlink_to(theirs / "file")
    _hand_over([task / "work"], 12345, 12345)
    assert {theirs.stat().st_uid, (theirs / "file").stat().st_uid} == {0}
    assert (task / "work" / "link").lstat().st_uid == 12345


def test_plain_files_are_opened_and_made_as_ever(task: Path) -> None:
    with open(task / "new", "w", opener=unfollowed) as file:
        file.write("x")
    assert (task / "new").read_text() == "x"
    with pytest.raises(FileNotFoundError):
        unfollowed(str(task / "none"), os.O_RDONLY)


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    (tmp_path / "storage" / "sets" / "v2").mkdir(parents=True)
    (tmp_path / "storage" / "sets" / "v2" / "x").write_text("input")
    (tmp_path / "storage" / "latest").symlink_to("sets/v2")
    return tmp_path / "storage"


def read_beneath(root: Path, inner: str) -> str:
    fd = open_beneath(str(root), inner)
    try:
        return Path(f"/proc/self/fd/{fd}").read_text()
    finally:
        os.close(fd)


def test_links_within_a_storage_are_followed(storage: Path) -> None:
    assert beneath(str(storage), "latest") == str(storage / "sets" / "v2")
    assert read_beneath(storage, "latest/x") == "input"
    assert read_beneath(storage / "sets" / "v2" / "x", "") == "input"


@pytest.mark.parametrize("inner", ["..", "../hidden", "out", "out/hidden", "sets/../../hidden", "/etc"])
def test_nothing_leads_out_of_a_storage(storage: Path, hidden: Path, inner: str) -> None:
    (storage / "out").symlink_to(hidden.parent)
    if inner == "/etc":
        # An absolute path is one below the storage.
        with pytest.raises(FileNotFoundError):
            open_beneath(str(storage), inner)
        return
    for opened in (beneath, open_beneath):
        with pytest.raises(PermissionError, match="leads out of its storage"):
            opened(str(storage), inner)


def test_a_storage_that_only_begins_like_another_is_another(storage: Path) -> None:
    storage.with_name("storage-2").mkdir()
    with pytest.raises(PermissionError):
        beneath(str(storage), "../storage-2")


def test_what_is_missing_is_said_to_be_missing(storage: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_beneath(str(storage), "sets/v3")


@pytest.mark.parametrize("inner", ["latest", "latest/x"])
def test_nothing_is_followed_where_nothing_may_be(storage: Path, inner: str) -> None:
    with pytest.raises((PermissionError, NotADirectoryError)):
        open_beneath(str(storage), inner, follows=False)
    os.close(open_beneath(str(storage), "sets/v2/x", follows=False))
