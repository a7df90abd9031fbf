"""Results that jobs want to have kept: saved when attempts end, told of, and tried again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from apiclient import NODE, Api, Data, Hire, fresh

from footplate.control import results
from footplate.testing.bucket import KEY, BucketServer, running_bucket_server
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served, until

MANIFEST = "footplate-manifest.json"


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("disks")


@pytest.fixture(scope="module")
def server(
    module_database_url: str, disks: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    clock, home = FakeClock(), tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "FIRST_PAUSE_S", 0.02)
        patch.setattr("footplate.control.controller.RESULTS_S", 0.05)
        roots = {"storage_roots": (str(disks),)}
        with served(home, FakeEngine(clock, [NODE]), clock, module_database_url, **roots) as running:
            yield running


@pytest.fixture(scope="module")
def buckets() -> Iterator[BucketServer]:
    with running_bucket_server() as running:
        yield running


@pytest.fixture
def disk(admin: Api, disks: Path) -> tuple[str, Path]:
    """A storage that everybody may write to, and its folder."""
    folder = disks / fresh("disk")
    folder.mkdir()
    name = fresh("storage")
    admin.ok("POST", "/storages", status=201, json={"name": name, "path": str(folder), "read_only": False})
    return name, folder


def write(api: Api, job: Data, name: str, content: str, what: str = "output") -> None:
    file = api.folder(job, what) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)


def saved(api: Api, job: Data) -> Data:
    """Wait until all results of a job that is over are there."""

    def look() -> Data | None:
        shown = api.job(job["id"])["results"]
        return shown if shown["is_complete"] else None

    return until(look)


def read(api: Api, shown: Data, name: str) -> bytes:
    where = {"path": f"{shown['path']}/{name}"}
    answer = api.call("GET", f"/storages/{shown['storage']}/content", params=where)
    assert answer.status_code == 200, answer.text
    return answer.content


def kinds(api: Api, job: Data) -> list[str]:
    return [event["kind"] for event in api.ok("GET", f"/jobs/{job['id']}/events")["items"]]


@pytest.mark.parametrize(("code", "state"), [(0, "SUCCEEDED"), (1, "FAILED")])
def test_results_are_at_home_below_the_id_of_the_job(ann: Api, code: int, state: str) -> None:
    job = ann.running(results={})
    assert job["results"]["state"] == "waiting"
    write(ann, job, "model/weights", "0123456789")
    (ann.folder(job) / "link").symlink_to("/etc/passwd")
    ann.finish(job, code)
    shown = saved(ann, job)
    assert (shown["storage"], shown["path"]) == ("home", f"outputs/{job['id']}")
    assert (shown["n_files"], shown["size_bytes"], shown["n_left_out"]) == (1, 10, 1)
    assert read(ann, shown, "model/weights") == b"0123456789"
    listed = json.loads(read(ann, shown, MANIFEST))
    assert (listed["job"], listed["state"]) == (job["id"], state)
    (file,) = listed["files"]
    assert file["path"] == "model/weights"
    assert file["sha256"] == "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
    assert kinds(ann, job)[-1] == "results_saved"


def test_a_bucket_keeps_results_as_a_folder_does(ann: Api, admin: Api, buckets: BucketServer) -> None:
    fields = {"kind": "s3", "endpoint": buckets.url, "bucket": buckets.new_bucket(), "credentials": KEY}
    name = fresh("bucket")
    admin.ok("POST", "/storages", status=201, json={"name": name, "read_only": False, **fields})
    job = ann.running(results=f"{name}:runs")
    write(ann, job, "large", "x" * 3_000_000)
    ann.finish(job)
    shown = saved(ann, job)
    assert shown["path"] == f"runs/{job['id']}"
    assert len(read(ann, shown, "large")) == 3_000_000


def test_what_may_change_is_copied_and_all_that_is_final_lies_on_the_disk_once(
    ann: Api, server: Served, clock: FakeClock
) -> None:
    job = ann.running(results={"every": "1m"})
    write(ann, job, "large", "x" * 3_000_000)
    write(ann, job, "early", "y" * 3_000_000)
    number = server.parts.platform.people.number_of(ann.name)
    kept = server.home / "storages/home" / f"{ann.name}-{number}" / "outputs" / job["id"]

    def is_saved() -> bool:
        clock.advance(61)
        return (kept / MANIFEST).exists()

    until(is_saved)
    local = ann.folder(job)
    assert (kept / "early").stat().st_ino != (local / "early").stat().st_ino
    write(ann, job, "large", "z" * 3_000_000)
    ann.finish(job)
    saved(ann, job)
    for name in ("large", "early"):
        assert (kept / name).stat().st_ino == (local / name).stat().st_ino
    listed = {one["path"]: one["sha256"] for one in json.loads((kept / MANIFEST).read_bytes())["files"]}
    assert listed["large"] == hashlib.sha256(b"z" * 3_000_000).hexdigest()


def test_what_others_may_change_is_never_the_jobs_own_file(ann: Api, disk: tuple[str, Path]) -> None:
    name, folder = disk
    job = ann.running(results={"storage": name})
    write(ann, job, "large", "x" * 3_000_000)
    ann.finish(job)
    saved(ann, job)
    kept = folder / "outputs" / job["id"] / "large"
    assert not kept.samefile(ann.folder(job) / "large")
    assert (kept.read_text(), kept.stat().st_nlink) == ("x" * 3_000_000, 1)


def test_a_stopped_job_has_its_results_saved_and_checkpoints_if_asked(ann: Api) -> None:
    job = ann.running(results={"checkpoints": True})
    write(ann, job, "log", "so far")
    write(ann, job, "step-3", "weights", "checkpoints")
    ann.ok("POST", f"/jobs/{job['id']}/halt")
    shown = saved(ann, job)
    assert read(ann, shown, "checkpoints/step-3") == b"weights"
    assert read(ann, shown, "log") == b"so far"


def test_a_preempted_job_has_its_results_saved_before_it_runs_again(
    ann: Api, admin: Api, disk: tuple[str, Path]
) -> None:
    name, folder = disk
    job = ann.running(results=f"{name}:")
    write(ann, job, "first", "1")
    admin.ok("POST", f"/jobs/{job['id']}/preempt")
    until((folder / "outputs" / job["id"] / MANIFEST).exists)
    again = ann.until(job, "RUNNING", attempt=1)
    write(ann, again, "second", "2")
    ann.finish(again, attempt=1)
    assert saved(ann, job)["n_files"] == 2


def test_a_running_job_has_its_results_saved_every_so_often(ann: Api, clock: FakeClock) -> None:
    job = ann.running(results={"every": "1m"})
    write(ann, job, "log", "one")
    clock.advance(61)
    shown = until(lambda: (found := ann.job(job["id"])["results"])["saved_at"] and found)
    assert (shown["state"], shown["is_complete"]) == ("saved", False)
    write(ann, job, "log", "one two")
    clock.advance(61)
    until(lambda: read(ann, shown, "log") == b"one two")
    ann.finish(job)
    saved(ann, job)
    assert kinds(ann, job).count("results_saved") == 1


def test_what_fails_is_told_once_and_tried_until_it_works(ann: Api, disk: tuple[str, Path]) -> None:
    name, folder = disk
    # A file is where the folder should be.
    (folder / "outputs").write_text("in the way")
    job = ann.running(results=f"{name}:")
    write(ann, job, "model", "weights")
    ann.finish(job)
    shown = until(lambda: (found := ann.job(job["id"])["results"])["error"] and found)
    assert (shown["state"], shown["is_complete"]) == ("delayed", False)
    assert (ann.folder(job) / "model").read_text() == "weights"
    (folder / "outputs").unlink()
    shown = saved(ann, job)
    assert shown["error"] is None
    assert read(ann, shown, "model") == b"weights"
    told = kinds(ann, job)
    assert (told.count("results_delayed"), told.count("results_saved")) == (1, 1)


def test_only_what_has_changed_is_sent_again(ann: Api, clock: FakeClock, disk: tuple[str, Path]) -> None:
    name, folder = disk
    job = ann.running(results={"storage": name, "every": "1m"})
    write(ann, job, "old", "old")
    clock.advance(61)
    kept = folder / "outputs" / job["id"]
    until((kept / MANIFEST).exists)
    before = (kept / "old").stat().st_ino
    write(ann, job, "new", "new")
    ann.finish(job)
    assert saved(ann, job)["n_files"] == 2
    assert (kept / "old").stat().st_ino == before


def test_results_go_only_where_their_owner_may_write(
    ann: Api, admin: Api, hire: Hire, disks: Path, disk: tuple[str, Path]
) -> None:
    folder = disks / fresh("disk")
    folder.mkdir()
    theirs = fresh("storage")
    body = {"name": theirs, "path": str(folder), "read_only": False, "users": [hire().name]}
    admin.ok("POST", "/storages", status=201, json=body)
    for storage, code in ((theirs, "results_unknown"), ("nothing", "results_unknown")):
        refused = ann.refused(
            "POST",
            "/jobs",
            422,
            "results.storage",
            json={"name": fresh("job"), "command": "true", "results": f"{storage}:"},
        )
        assert refused["problems"][0]["message_code"] == code
    # What may be written to at first and no longer later is told of; the results stay with the job.
    name, _ = disk
    job = ann.running(results=f"{name}:")
    write(ann, job, "model", "weights")
    admin.ok("PATCH", f"/storages/{name}", json={"read_only": True})
    ann.finish(job)
    shown = until(lambda: (found := ann.job(job["id"])["results"])["error"] and found)
    assert shown["error"]["message_code"] == "storage_not_writable"
    admin.ok("PATCH", f"/storages/{name}", json={"read_only": False})
    assert saved(ann, job)["n_files"] == 1


def test_others_see_neither_the_results_nor_where_they_are(ann: Api, hire: Hire) -> None:
    job = ann.running(results={})
    write(ann, job, "model", "weights")
    ann.finish(job)
    shown = saved(ann, job)
    other = hire(default="member")
    assert other.job(job["id"])["results"] is None
    where = {"path": f"{shown['path']}/model"}
    assert other.call("GET", "/storages/home/content", params=where).status_code == 404


def test_a_removed_job_leaves_its_results_where_they_are_kept(ann: Api, disk: tuple[str, Path]) -> None:
    name, folder = disk
    job = ann.running(results=f"{name}:")
    write(ann, job, "model", "weights")
    ann.finish(job)
    shown = saved(ann, job)
    assert ann.call("DELETE", f"/jobs/{job['id']}", params={"for_good": "true"}).is_success
    ann.until_gone(job)
    assert (folder / shown["path"] / "model").read_text() == "weights"
