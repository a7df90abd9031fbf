"""The files of a job go, whatever its tasks did to them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.control.launch import _remove_tree

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
    assert _remove_tree(folder) == 5
    assert not folder.exists()
