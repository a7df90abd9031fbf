"""Contents of models: whole or not there, once each, and never swept while somebody registers them."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from footplate.store.modelfiles import Content, Freed, ModelFiles

WEEK_S = 7 * 86400.0


@pytest.fixture
def files(tmp_path: Path) -> ModelFiles:
    return ModelFiles(tmp_path)


def take(files: ModelFiles, data: bytes) -> Content:
    with files.intake() as intake:
        intake.write(data)
        return intake.finish()


def aged(files: ModelFiles, content: Content) -> Content:
    """Let a content look as if nobody had touched it for long."""
    path = files.path(content.sha256)
    assert path is not None
    os.utime(path, (time.time() - 2 * WEEK_S,) * 2)
    return content


def test_a_content_has_its_name_when_it_is_whole(files: ModelFiles, tmp_path: Path) -> None:
    sha256 = hashlib.sha256(b"weights").hexdigest()
    with files.intake() as intake:
        intake.write(b"weights")
        assert files.path(sha256) is None
        assert intake.finish() == Content(sha256, 7)
    path = files.path(sha256)
    assert path is not None
    assert path.read_bytes() == b"weights"
    assert [one.name for one in (tmp_path / "models").iterdir()] == [sha256[:2]]


def test_what_is_abandoned_leaves_nothing(files: ModelFiles, tmp_path: Path) -> None:
    with files.intake() as intake:
        intake.write(b"half")
    assert list((tmp_path / "models").iterdir()) == []


def test_the_sweep_removes_what_no_version_has(files: ModelFiles) -> None:
    kept, gone = take(files, b"kept"), take(files, b"gone")
    files.release([kept.sha256, gone.sha256])
    aged(files, kept)
    aged(files, gone)
    assert files.sweep(WEEK_S, lambda: {kept.sha256}, dry_run=True) == Freed(1, 4)
    assert files.path(gone.sha256) is not None
    assert files.sweep(WEEK_S, lambda: {kept.sha256}) == Freed(1, 4)
    assert (files.path(gone.sha256), files.path(kept.sha256) is not None) == (None, True)


def test_the_sweep_leaves_what_a_registration_has_claimed(files: ModelFiles) -> None:
    content = take(files, b"weights")
    aged(files, content)
    assert files.sweep(WEEK_S, set) == Freed()
    files.release([content.sha256])
    # Released a moment ago: whoever has read the database before does not know of the new version yet.
    assert files.sweep(WEEK_S, set) == Freed()


def test_the_sweep_leaves_what_is_claimed_while_it_looks(files: ModelFiles) -> None:
    content = take(files, b"weights")
    files.release([content.sha256])
    aged(files, content)

    def in_use() -> set[str]:
        assert files.claim(content.sha256) == content
        files.release([content.sha256])
        return set()

    assert files.sweep(WEEK_S, in_use) == Freed()
    assert files.path(content.sha256) is not None


def test_leftovers_of_crashes_go(files: ModelFiles, tmp_path: Path) -> None:
    take(files, b"weights")
    left = tmp_path / "models" / ".part-0123456789abcdef"
    left.write_bytes(b"half of it")
    assert files.sweep(WEEK_S, set) == Freed()
    os.utime(left, (time.time() - 2 * WEEK_S,) * 2)
    assert files.sweep(WEEK_S, set) == Freed(1, 10)
    assert not left.exists()


@pytest.mark.parametrize("sha256", ["", "../../secret", "x" * 64, "A" * 64])
def test_only_digests_name_contents(files: ModelFiles, sha256: str) -> None:
    assert files.path(sha256) is None
    assert files.claim(sha256) is None
