"""The disk of the home folder: when it is told to be nearly full."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.domain.errors import DiskFull
from footplate.store.disk import LEAST_BYTES, Disk

BLOCK = 4096
N_BLOCKS = 2**30


def set_disk(
    patch: pytest.MonkeyPatch, free_bytes: int = LEAST_BYTES, n_files: int = 0, free_files: int = 0
) -> None:
    """Have the system say how full the disk is."""
    free = free_bytes // BLOCK
    answer = (BLOCK, BLOCK, N_BLOCKS, free, free, n_files, free_files, free_files, 0, 255)
    patch.setattr(os, "statvfs", lambda _: os.statvfs_result(answer))


def test_a_disk_that_takes_hardly_any_more_files_is_nearly_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(tmp_path, reserve_bytes=0)
    set_disk(monkeypatch, n_files=10**9, free_files=9_999)
    disk.sample()
    told = str(disk.tell())
    assert "9999 more files" in told
    assert "10000 must stay free" in told
    with pytest.raises(DiskFull, match="9999 more files"):
        disk.require_room("ann")
    set_disk(monkeypatch, n_files=10**9, free_files=10_000)
    disk.require_room("ann")
    assert disk.tell() is None


def test_a_disk_that_does_not_count_files_has_room_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(tmp_path, reserve_bytes=0)
    set_disk(monkeypatch)
    disk.sample()
    disk.require_room("ann")
    set_disk(monkeypatch, free_bytes=LEAST_BYTES - BLOCK)
    disk.sample()
    assert "nearly full" in str(disk.tell())
