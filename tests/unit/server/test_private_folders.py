"""What the server makes in its home folder before anybody else does."""

from __future__ import annotations

from pathlib import Path

from footplate.store.privacy import keep_private
from footplate.store.trackedruns import TrackedRuns


def test_no_folder_is_made_where_a_file_of_experiments_is_to_be(tmp_path: Path) -> None:
    keep_private(tmp_path)
    runs = TrackedRuns(tmp_path)
    assert runs.add_experiment("vision", 1.0) is not None
    keep_private(tmp_path)
    assert [one.name for one in TrackedRuns(tmp_path).experiments().values()][-1] == "vision"
    assert (tmp_path / "experiments").stat().st_mode & 0o077 == 0
