"""What jobs want of storages: by the storages as they are now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.control.storagewatch import StorageWatch
from footplate.control.volumes import check_there, volumes_of
from footplate.domain.errors import EngineRejected
from footplate.domain.job import Job, submit
from footplate.domain.spec import CodeRef, DataMount, JobSpec, RoleSpec
from footplate.domain.storage import Storage
from footplate.engines.local.places import Places
from footplate.testing.engine_bench import plan

HOME = Path("/home/fp")


def job_with(*data: DataMount, code: CodeRef | None = None) -> Job:
    spec = JobSpec("train", (RoleSpec("true"),), data=data, code=code)
    return submit("0abcdefghjk1", "ann", spec, 1.0)


def check(storages: Mapping[str, Storage], job: Job, home: Path = HOME, number: int = 0) -> None:
    async def ask() -> None:
        async with watching() as watch:
            await check_there(home, storages, watch, job, number)

    asyncio.run(ask())


@asynccontextmanager
async def watching() -> AsyncIterator[StorageWatch]:
    watch = StorageWatch()
    try:
        yield watch
    finally:
        await watch.close()


@pytest.fixture
def sets(tmp_path: Path) -> Storage:
    (tmp_path / "digits").mkdir()
    return Storage("sets", str(tmp_path), read_only=False)


def mounts_of(storages: Mapping[str, Storage], job: Job) -> list[tuple[bool, bool]]:
    """Say of each mount whether it is read-only, and whether no task can change the way to it."""
    planned = plan(*job.spec.roles, volumes=volumes_of(storages, job))
    return [(one["read_only"], one["is_fixed"]) for one in Places(HOME, storages).mounts(planned)]


def test_a_storage_that_can_only_be_read_by_now_is_mounted_so(sets: Storage) -> None:
    job = job_with(DataMount("/data", "sets", "digits", read_only=False))
    assert mounts_of({"sets": sets}, job) == [(False, False)]
    assert mounts_of({"sets": replace(sets, read_only=True)}, job) == [(True, True)]


def test_a_storage_that_was_taken_from_the_queue_is_refused_at_the_start(sets: Storage) -> None:
    job = job_with(DataMount("/data", "sets", "digits"))
    check({"sets": sets}, job)
    with pytest.raises(EngineRejected, match="no longer open to queue default"):
        check({"sets": replace(sets, queues=("vision",))}, job)
    with pytest.raises(EngineRejected, match="no longer declared"):
        check({}, job)


def test_a_job_from_before_there_were_storages_runs_as_it_did() -> None:
    job = job_with(DataMount("/data"))
    check({}, job)
    assert volumes_of({}, job) == ()


def test_only_whole_folders_of_a_job_are_beyond_the_reach_of_its_tasks() -> None:
    job = job_with(DataMount("/a", "job", "output"), DataMount("/b", "job", "output/deep"))
    assert [is_fixed for _, is_fixed in mounts_of({}, job)] == [True, False]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("none", "storage sets has no none"),
        ("digits/none", "storage sets has no digits/none"),
        ("file/x", "storage sets has no file/x"),
        ("out", "leads out of its storage"),
        ("loop", "cannot be used"),
    ],
)
def test_what_is_not_on_a_storage_is_named(sets: Storage, source: str, message: str) -> None:
    (Path(sets.path) / "file").touch()
    (Path(sets.path) / "out").symlink_to("/etc")
    (Path(sets.path) / "loop").symlink_to("loop")
    with pytest.raises(EngineRejected, match=message):
        check({"sets": sets}, job_with(DataMount("/data", "sets", source)))


def test_a_folder_of_a_storage_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineRejected, match="the folder of storage sets is gone"):
        check({"sets": Storage("sets", str(tmp_path / "none"))}, job_with(DataMount("/data", "sets")))


def test_a_storage_that_has_become_a_link_to_the_home_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "sets").symlink_to(tmp_path / "home")
    job = job_with(DataMount("/data", "sets"))
    with pytest.raises(EngineRejected, match="platform's own files"):
        check({"sets": Storage("sets", str(tmp_path / "sets"))}, job, tmp_path / "home")


def test_a_job_reads_its_owners_part_of_a_private_storage_and_no_more(tmp_path: Path) -> None:
    mine = tmp_path / "storages" / "home" / "ann-7"
    (mine / "digits").mkdir(parents=True)
    (tmp_path / "storages" / "home" / "bob-8").mkdir()
    (mine / "out").symlink_to("../bob-8")
    home = Storage("home", str(mine.parent), read_only=False, per_user=True, is_own=True)

    def check_as(source: str, number: int) -> None:
        check({"home": home}, job_with(DataMount("/data", "home", source)), tmp_path, number)

    check_as("digits", 7)
    with pytest.raises(EngineRejected, match="leads out"):
        check_as("out", 7)
    with pytest.raises(EngineRejected, match="has no digits"):
        check_as("digits", 9)


def test_a_folder_that_the_server_keeps_is_made_for_whoever_has_stored_nothing_yet(tmp_path: Path) -> None:
    home = Storage("home", str(tmp_path / "home"), read_only=False, per_user=True, is_own=True)
    check({"home": home}, job_with(DataMount("/data", "home")), tmp_path, 7)
    assert (tmp_path / "home/ann-7").stat().st_mode & 0o777 == 0o700
