"""Mounts of jobs: by the storages as they are now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from footplate.control.mounts import check_there, mounts_of
from footplate.domain.errors import EngineRejected
from footplate.domain.job import Job, submit
from footplate.domain.spec import CodeRef, DataMount, JobSpec, RoleSpec
from footplate.domain.storage import Storage

HOME = Path("/home/fp")


def job_with(*data: DataMount, code: CodeRef | None = None) -> Job:
    spec = JobSpec("train", (RoleSpec("true"),), data=data, code=code)
    return submit("0abcdefghjk1", "ann", spec, 1.0)


@pytest.fixture
def sets(tmp_path: Path) -> Storage:
    (tmp_path / "digits").mkdir()
    return Storage("sets", tmp_path, read_only=False)


def test_a_storage_that_can_only_be_read_by_now_is_mounted_so(sets: Storage) -> None:
    job = job_with(DataMount("/data", "sets", "digits", read_only=False))
    (mount,) = mounts_of(HOME, {"sets": sets}, job)
    assert (mount.read_only, mount.is_fixed) == (False, False)
    (mount,) = mounts_of(HOME, {"sets": replace(sets, read_only=True)}, job)
    assert (mount.read_only, mount.is_fixed) == (True, True)


def test_a_storage_that_was_taken_from_the_queue_is_refused_at_the_start(sets: Storage) -> None:
    job = job_with(DataMount("/data", "sets", "digits"))
    check_there({"sets": sets}, job)
    with pytest.raises(EngineRejected, match="no longer for jobs of queue default"):
        check_there({"sets": replace(sets, queues=("vision",))}, job)
    with pytest.raises(EngineRejected, match="no longer declared"):
        check_there({}, job)


def test_a_job_from_before_there_were_storages_runs_as_it_did() -> None:
    job = job_with(DataMount("/data"))
    check_there({}, job)
    assert mounts_of(HOME, {}, job) == ()


def test_only_whole_folders_of_a_job_are_beyond_the_reach_of_its_tasks() -> None:
    job = job_with(DataMount("/a", "job", "output"), DataMount("/b", "job", "output/deep"))
    assert [mount.is_fixed for mount in mounts_of(HOME, {}, job)] == [True, False]
