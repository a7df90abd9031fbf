"""What a crash leaves of uploads is removed, and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path

from footplate.store.blobs import Blobs

HOUR_S = 3600.0


def put(path: Path, age_s: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    at = time.time() - age_s
    os.utime(path, (at, at))
    return path


def test_partial_uploads_go_once_they_are_old(tmp_path: Path) -> None:
    stale, fresh = put(tmp_path / "blobs/.upload-1", 2 * HOUR_S), put(tmp_path / "blobs/.upload-2", 0)
    kept = put(tmp_path / "blobs/ab" / ("ab" * 32), 100 * HOUR_S)
    assert Blobs(tmp_path).sweep(HOUR_S) == 1
    assert not stale.exists()
    assert fresh.exists()
    assert kept.exists()


def test_there_is_nothing_to_sweep_before_the_first_upload(tmp_path: Path) -> None:
    assert Blobs(tmp_path).sweep(HOUR_S) == 0
