"""The files of jobs: each volume is found through its storage, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.domain.cluster import TaskPlacement
from footplate.domain.resources import Resources
from footplate.domain.spec import RoleSpec
from footplate.domain.storage import OWN, ResultVolumes, Storage, Volume
from footplate.engines.local.places import Places
from footplate.home.volumes import folder_of
from footplate.store.jobfiles import JobFiles
from footplate.testing.builders import job
from footplate.testing.engine_bench import plan

JOB, OTHER = job(), job("0000000000bb")


def test_results_are_read_where_tasks_write_them(tmp_path: Path) -> None:
    task = TaskPlacement("main", 0, "here", Resources())
    seen = Places(tmp_path).paths(plan(RoleSpec("true"), job_id=JOB.id), task)
    folders = JobFiles(tmp_path).folders(JOB)
    assert (str(folders["output"]), str(folders["checkpoints"])) == (seen.output, seen.checkpoints)


def test_a_job_is_measured_and_removed_by_itself(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    for one in (JOB, OTHER):
        for folder in files.folders(one).values():
            folder.mkdir(parents=True)
            (folder / "file").write_bytes(b"x" * 5000)
    assert files.size_bytes(JOB.id) >= 4 * 5000
    assert files.remove(JOB.id) >= 4 * 5000
    assert not any(folder.exists() for folder in files.folders(JOB).values())
    assert all(folder.exists() for folder in files.folders(OTHER).values())


def test_a_volume_of_a_declared_storage_lies_there(tmp_path: Path) -> None:
    storages = {"big": Storage("big", "/mnt/big")}
    assert folder_of(tmp_path, storages, JOB.id, Volume("big", "runs/7")) == Path("/mnt/big/runs/7")
    with pytest.raises(KeyError):
        folder_of(tmp_path, storages, JOB.id, Volume("gone", "runs/7"))


def test_tasks_see_results_on_the_storage_that_the_plan_names(tmp_path: Path) -> None:
    elsewhere = ResultVolumes(output=Volume("big", "runs/7", read_only=False))
    placed = plan(RoleSpec("true"), job_id=JOB.id, results=elsewhere)
    places = Places(tmp_path, {"big": Storage("big", "/mnt/big", read_only=False)})
    seen = places.paths(placed, placed.placement.tasks[0])
    assert seen.output == "/mnt/big/runs/7"
    assert seen.checkpoints == str(folder_of(tmp_path, {}, JOB.id, Volume(OWN, "checkpoints")))
