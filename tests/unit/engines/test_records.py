"""What is read from a task's folder, torn files included."""

from __future__ import annotations

from pathlib import Path

from footplate.domain.states import TaskState
from footplate.engines.local.code import place_code
from footplate.engines.local.observe.records import Identity, fence, read_claim, read_exit, write_exit
from footplate.engines.local.observe.task import observe_task


def test_an_empty_folder_says_nothing(tmp_path: Path) -> None:
    assert read_claim(tmp_path) is None
    assert read_exit(tmp_path) is None
    assert observe_task(tmp_path, ()).state is TaskState.WAITING


def test_a_claim_names_the_process(tmp_path: Path) -> None:
    (tmp_path / "pid").write_text("12 345 boot\n")
    claim = read_claim(tmp_path)
    assert claim is not None
    assert claim.identity == Identity(12, 345, "boot")


def test_a_fence_stands_where_nothing_was_started(tmp_path: Path) -> None:
    fence(tmp_path / "new")
    claim = read_claim(tmp_path / "new")
    assert claim is not None
    assert claim.identity is None


def test_a_fence_leaves_a_started_task_its_claim(tmp_path: Path) -> None:
    (tmp_path / "pid").write_text("12 345 boot\n")
    fence(tmp_path)
    assert (tmp_path / "pid").read_text() == "12 345 boot\n"


def test_a_torn_exit_code_does_not_count(tmp_path: Path) -> None:
    for torn in ("", "1", "\n", "\n1"):
        (tmp_path / "exit").write_text(torn)
        assert read_exit(tmp_path) is None


def test_an_exit_code_is_read_with_its_time(tmp_path: Path) -> None:
    write_exit(tmp_path, 137)
    end = read_exit(tmp_path)
    assert end is not None
    assert (end.code, end.at) == (137, (tmp_path / "exit").stat().st_mtime)


def test_an_exit_code_follows_the_empty_line_that_was_there_from_the_start(tmp_path: Path) -> None:
    (tmp_path / "exit").write_text("\n3\n0m0.1s 0m0.2s\n0m1.0s 0m2.0s\n")
    end = read_exit(tmp_path)
    assert end is not None
    assert (end.code, end.cpu_s) == (3, 3.0)


def test_code_is_not_copied_over_what_a_task_has_changed(tmp_path: Path) -> None:
    source, work = tmp_path / "code", tmp_path / "task" / "work"
    source.mkdir()
    (source / "train.py").write_text("new")
    place_code(source, work)
    (work / "train.py").write_text("changed")
    place_code(source, work)
    assert (work / "train.py").read_text() == "changed"
