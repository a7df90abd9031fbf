"""What of a code folder is sent again, and what is told of its commit."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from footplate.sdk import codecache
from footplate.sdk.codecache import change_since, marks_of, note, recall
from footplate.sdk.gitstate import revision_of
from footplate.sdk.packing import pack, pack_change, select
from footplate.store.codepatch import compose

SERVER = "http://here"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # The times of files tell of every change here: nothing counts as just changed.
    monkeypatch.setattr(codecache, "FRESH_S", -1.0)
    folder = tmp_path / "code"
    (folder / "inner").mkdir(parents=True)
    (folder / "train.py").write_text("print(1)\n")
    (folder / "inner" / "net.py").write_text("layers = 3\n")
    (folder / "data.bin").write_bytes(os.urandom(100_000))
    (folder / "link.py").symlink_to("train.py")
    return folder


def names_in(archive: Path) -> dict[str, bytes | str]:
    with tarfile.open(archive) as tar:
        found: dict[str, bytes | str] = {}
        for member in tar:
            file = tar.extractfile(member) if member.isreg() else None
            found[member.name] = file.read() if file else member.linkname
        return found


def test_an_unchanged_folder_has_no_change(folder: Path) -> None:
    selection = select(folder)
    note(SERVER, selection, "sha256:1", marks_of(selection))
    sent = recall(SERVER, select(folder))
    assert sent is not None
    assert sent.digest == "sha256:1"
    assert change_since(sent, select(folder), marks_of(select(folder))).is_none
    assert recall("http://elsewhere", selection) is None


def test_a_changed_line_is_sent_with_what_is_gone_and_gives_the_new_folder(
    folder: Path, tmp_path: Path
) -> None:
    before = select(folder)
    note(SERVER, before, "sha256:1", marks_of(before))
    base, patch, whole = (tmp_path / name for name in ("base", "patch", "whole"))
    with pack(before) as archive:
        base.write_bytes(archive.file.read())
    (folder / "train.py").write_text("print(2)\n")
    (folder / "inner" / "net.py").unlink()
    (folder / "inner" / "new.py").write_text("new\n")
    after = select(folder)
    sent = recall(SERVER, after)
    assert sent is not None
    change = change_since(sent, after, marks_of(after))
    assert [entry.name for entry in change.changed] == ["inner/new.py", "train.py"]
    assert change.removed == ("inner/net.py",)
    with pack_change(after, change.changed, change.removed) as archive:
        patch.write_bytes(archive.file.read())
    assert patch.stat().st_size < 2000
    with whole.open("wb") as out:
        compose(base, patch, out, 10**9)
    with pack(after) as archive:
        (tmp_path / "expected").write_bytes(archive.file.read())
    assert names_in(whole) == names_in(tmp_path / "expected")


def test_a_file_that_was_just_changed_is_sent_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time may be the same after the next change."""
    monkeypatch.setattr(codecache, "FRESH_S", 60.0)
    selection = select(folder)
    note(SERVER, selection, "sha256:1", marks_of(selection))
    sent = recall(SERVER, selection)
    assert sent is not None
    changed = change_since(sent, selection, marks_of(selection)).changed
    assert [entry.name for entry in changed] == ["data.bin", "inner/net.py", "link.py", "train.py"]


def git(folder: Path, *words: str) -> str:
    author = ("-c", "user.name=ann", "-c", "user.email=ann@example.com")
    return subprocess.run(
        ["git", *author, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_the_commit_is_told_with_the_branch_and_what_was_changed_since(folder: Path) -> None:
    (folder / ".env").write_text("PASSWORD=first\n")
    git(folder, "init", "-q", "-b", "work")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    commit = git(folder, "rev-parse", "HEAD")
    assert revision_of(select(folder)) == {"commit": commit, "branch": "work"}
    (folder / "train.py").write_text("print(2)\n")
    (folder / ".env").write_text("PASSWORD=second\n")
    told = revision_of(select(folder))
    assert told is not None
    assert told["dirty"] is True
    assert "+print(2)" in told["diff"]
    # What may hold secrets stays behind, here too.
    assert "PASSWORD" not in told["diff"]
    inner = revision_of(select(folder / "inner"))
    assert inner == {"commit": commit, "branch": "work"}


def test_a_long_diff_is_cut(folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "train.py").write_text("x = 1\n" * 20_000)
    told = revision_of(select(folder))
    assert told is not None
    assert len(told["diff"]) == 20_000
    assert told["diff"].endswith("[… cut]\n")


def test_a_folder_without_git_tells_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    assert revision_of(select(folder)) is None
    git(folder, "init", "-q")
    assert revision_of(select(folder)) is None
    monkeypatch.setenv("PATH", "")
    assert revision_of(select(folder)) is None
