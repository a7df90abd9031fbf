"""What is kept how long, what a sweep removes, and what it never does."""

from __future__ import annotations

import io
import os
import tarfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from apiclient import NODE, Api, Data, Hire, fresh

from footplate.control.quota import QuotaKeeper, Quotas
from footplate.domain.errors import FootplateError
from footplate.domain.results import ResultState, SavedResults
from footplate.domain.retention import Retention
from footplate.services import retention
from footplate.store import result_queries
from footplate.store.disk import Disk
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import ADMIN_PASSWORD, Served, served, until
from footplate.wire import retention as w
from footplate.wire.queues import QueueBody

# Short, so that nobody's token expires meanwhile.
KEPT_S = 600


@pytest.fixture(scope="module")
def server(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    clock, home = FakeClock(), tmp_path_factory.mktemp("kept")
    kept = {"retention": Retention(uploads_s=30 * KEPT_S), "trash_kept_s": KEPT_S}
    with served(home, FakeEngine(clock, [NODE]), clock, module_database_url, **kept) as running:
        yield running


def sweep(admin: Api, **params: str) -> dict[str, tuple[int, int]]:
    found = admin.ok("POST", "/sweep", w.Sweep, params=params)
    return {one["kind"]: (one["n"], one["size_bytes"]) for one in found["items"]}


@pytest.fixture
def queue(admin: Api) -> str:
    """A queue that keeps results twice as long as the rest."""
    name = fresh("queue")
    kept = {"logs": KEPT_S, "outputs": 2 * KEPT_S, "work": KEPT_S, "code": KEPT_S}
    admin.ok("POST", "/queues", QueueBody, 201, json={"name": name, "retention": kept})
    return name


def ended(api: Api, queue: str, **fields: object) -> Data:
    """A job that is over and has left something of everything."""
    job = api.running(queue=queue, **fields)
    api.write_log(job, b"line\n" * 5000)
    api.finish(job)
    job = api.until(job, "SUCCEEDED")
    for what in ("output", "checkpoints", "work", "code"):
        folder = api.folder(job, what) / ("main-0/work" if what == "work" else ".")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "file").write_bytes(b"x" * 10_000)
    return job


def sizes(api: Api, job: Data) -> Data:
    return api.ok("GET", f"/jobs/{job['id']}/sizes", w.JobSizes)


def test_parts_go_when_their_time_is_over_and_the_job_says_so(
    admin: Api, queue: str, clock: FakeClock
) -> None:
    job = ended(admin, queue)
    before = sizes(admin, job)
    assert min(before[f"{part}_bytes"] for part in ("logs", "outputs", "work", "code")) > 0
    assert sweep(admin)["logs"] == (0, 0)
    clock.advance(KEPT_S + 60)
    would = sweep(admin, dry_run="true")
    assert would["logs"][0] == 1
    assert sizes(admin, job) == before
    assert sweep(admin)["logs"] == (1, before["logs_bytes"])
    after = sizes(admin, job)
    assert (after["logs_bytes"], after["work_bytes"], after["code_bytes"]) == (0, 0, 0)
    assert after["outputs_bytes"] == before["outputs_bytes"]
    assert sorted(after["gone"]) == ["code", "logs", "work"]
    kinds = [event["kind"] for event in admin.ok("GET", f"/jobs/{job['id']}/events")["items"]]
    assert kinds.count("expired") == 3
    clock.advance(KEPT_S)
    assert sweep(admin)["outputs"] == (1, before["outputs_bytes"])
    assert sweep(admin)["outputs"] == (0, 0)


def test_what_was_swept_counts_for_no_quota_any_more(
    server: Served, hire: Hire, admin: Api, queue: str, clock: FakeClock
) -> None:
    platform, disk = server.parts.platform, Disk(server.home)
    ann = hire(**{queue: "member"})
    job = ended(ann, queue)
    quotas = Quotas(person_bytes=1)
    looking = QuotaKeeper(platform.store, platform.files, platform.clock, disk, quotas)
    server.run(looking.watch_once())
    assert disk.taken_by[ann.name] >= sizes(ann, job)["outputs_bytes"]
    sweep(admin)
    clock.advance(3 * KEPT_S)
    sweep(admin)
    server.run(looking.watch_once())
    assert disk.taken_by[ann.name] == 0


def test_a_queue_says_otherwise_than_the_platform(admin: Api, clock: FakeClock) -> None:
    other = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": other})
    job = ended(admin, other)
    clock.advance(100 * KEPT_S)
    sweep(admin)
    assert sizes(admin, job)["gone"] == []
    admin.ok("PATCH", f"/queues/{other}", QueueBody, json={"retention": {"logs": KEPT_S}})
    sweep(admin)
    assert sizes(admin, job)["gone"] == ["logs"]
    admin.refused("PATCH", f"/queues/{other}", 422, json={"retention": {"pictures": 1}})


def test_what_runs_lies_in_the_trash_or_was_restored_keeps_all(
    admin: Api, queue: str, clock: FakeClock
) -> None:
    running = admin.running(queue=queue)
    admin.write_log(running, b"line\n" * 5000)
    trashed = ended(admin, queue)
    admin.ok("DELETE", f"/jobs/{trashed['id']}", status=204)
    clock.advance(KEPT_S - 60)
    sweep(admin)
    admin.ok("POST", f"/jobs/{trashed['id']}/restore")
    assert sizes(admin, trashed)["gone"] == []
    assert sizes(admin, running)["logs_bytes"] > 0


def test_outputs_stay_until_their_model_is_registered(
    admin: Api, queue: str, clock: FakeClock, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_disk: Disk, _person: str, _n_bytes: int = 0) -> None:
        from footplate.domain.errors import DiskFull

        raise DiskFull("disk_is_full")

    name = fresh("model")
    job = admin.running(queue=queue, model=name)
    (admin.folder(job) / "model.bin").write_bytes(b"weights")
    # The model cannot be registered while the disk is full: it stays due.
    with monkeypatch.context() as patch:
        patch.setattr(Disk, "require_room", full)
        admin.finish(job)
        admin.until(job, "SUCCEEDED")
        clock.advance(3 * KEPT_S)
        server.run(retention.sweep_all(server.parts.platform))
        assert (admin.folder(job) / "model.bin").exists()
    from footplate.services.duemodels import settle_all

    server.run(settle_all(server.parts.platform))
    server.run(retention.sweep_all(server.parts.platform))
    assert not (admin.folder(job) / "model.bin").exists()
    assert admin.call("GET", f"/models/{name}/versions/1/content").content == b"weights"


def test_results_stay_until_they_are_saved(admin: Api, queue: str, clock: FakeClock, server: Served) -> None:
    job = ended(admin, queue)
    store = server.parts.platform.store
    waiting = SavedResults("home", "outputs", state=ResultState.DELAYED)
    server.run(store.write(lambda tx: result_queries.put(tx.connection, job["id"], waiting)))
    clock.advance(3 * KEPT_S)
    server.run(retention.sweep_all(server.parts.platform))
    assert sizes(admin, job)["gone"] == []
    saved = replace(waiting, state=ResultState.SAVED, is_complete=True)
    server.run(store.write(lambda tx: result_queries.put(tx.connection, job["id"], saved)))
    server.run(retention.sweep_all(server.parts.platform))
    assert "outputs" in sizes(admin, job)["gone"]
    # FfDL's command knows a model that is kept no longer from one that made nothing.
    asked = f"{server.url}/v1/models/training-{job['id']}/trained_model"
    answer = httpx.get(asked, auth=("admin", ADMIN_PASSWORD))
    assert (answer.status_code, answer.json()["code"]) == (410, 410)


def test_a_sweep_goes_on_past_what_it_cannot_remove_tells_of_it_and_tries_again(
    admin: Api, queue: str, clock: FakeClock, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, other = ended(admin, queue), ended(admin, queue)
    clock.advance(KEPT_S + 60)
    files = server.parts.platform.files
    remove = type(files).remove_part

    def cut(self: object, job_id: str, part: str) -> int:
        if job_id == stuck["id"] and part == "logs":
            raise PermissionError(13, "Permission denied")
        freed = remove(files, job_id, part)
        if job_id == stuck["id"]:
            raise FootplateError("internal_error")
        return freed

    with monkeypatch.context() as patch:
        patch.setattr(type(files), "remove_part", cut)
        found = admin.ok("POST", "/sweep", w.Sweep)["items"]
    faults = {one["kind"]: [fault["params"] for fault in one["faults"]] for one in found}
    assert faults["logs"] == [{"part": "logs", "of_job": stuck["id"], "error": "Permission denied"}]
    assert [one["of_job"] for one in faults["work"]] == [stuck["id"]]
    assert faults["uploads"] == []
    assert sorted(sizes(admin, other)["gone"]) == ["code", "logs", "work"]
    assert sizes(admin, stuck)["gone"] == []
    sweep(admin)
    assert sorted(sizes(admin, stuck)["gone"]) == ["code", "logs", "work"]


def test_a_sweep_goes_on_past_a_store_that_cannot_be_read(
    admin: Api, queue: str, clock: FakeClock, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ended(admin, queue)
    clock.advance(KEPT_S + 60)

    def unreadable(*_given: object) -> dict[str, int]:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(type(server.parts.platform.blobs), "unused", unreadable)
        patch.setattr(type(server.parts.platform.files), "sizes", unreadable)
        found = admin.ok("POST", "/sweep", w.Sweep)["items"]
    (fault,) = next(one["faults"] for one in found if one["kind"] == "uploads")
    assert fault["message"] == "uploaded code could not be read or removed: Input/output error"
    assert "logs" in sizes(admin, job)["gone"]


def code() -> bytes:
    out = io.BytesIO()
    with tarfile.open(mode="w:gz", fileobj=out) as tar:
        info = tarfile.TarInfo(fresh("file"))
        tar.addfile(info)
    return out.getvalue()


def aged(server: Served, digest: str) -> Path:
    """Let an upload look as if it had come long ago, and nobody had asked for it since."""
    blobs = server.parts.platform.blobs
    path = blobs.path(digest)
    assert path is not None
    os.utime(path, (time.time() - 400 * 86400,) * 2)
    blobs._asked.clear()
    return path


def test_uploads_go_that_nobody_uses(admin: Api, queue: str, clock: FakeClock, server: Served) -> None:
    used, unused = (admin.ok("POST", "/code", status=201, content=code())["upload"] for _ in range(2))
    job = ended(admin, queue, code={"upload": used})
    clock.advance(40 * KEPT_S)
    kept, gone = aged(server, used), aged(server, unused)
    # The job's own code has expired in this queue, but only now.
    server.run(retention._sweep_uploads(server.parts.platform, dry_run=False))
    assert kept.exists()
    assert not gone.exists()
    admin.refused("POST", "/jobs", 422, "code.upload", json={**NEW, "name": "x", "code": {"upload": unused}})
    sweep(admin)
    assert "code" in sizes(admin, job)["gone"]
    sweep(admin)
    assert not kept.exists()


NEW = {"command": "wait"}


def test_an_upload_that_somebody_asks_for_stays(admin: Api, clock: FakeClock, server: Served) -> None:
    upload = admin.ok("POST", "/code", status=201, content=code())["upload"]
    clock.advance(40 * KEPT_S)
    path = aged(server, upload)
    assert admin.call("HEAD", f"/code/{upload}").status_code == 200
    sweep(admin)
    assert path.exists()


def test_the_trash_of_models_is_emptied(admin: Api, clock: FakeClock, server: Served) -> None:
    name = fresh("model")
    admin.ok("PUT", "/storages/home/content", params={"path": name}, content=name.encode())
    body = {"name": name, "storage": {"storage": "home", "path": name}}
    made = admin.ok("POST", "/models", status=201, json=body)
    content = server.parts.platform.models.path(made["files"][0]["sha256"])
    assert content is not None
    admin.ok("DELETE", f"/models/{name}", status=204)
    sweep(admin)
    admin.ok("POST", f"/models/{made['model_id']}/restore")
    admin.ok("DELETE", f"/models/{name}", status=204)
    clock.advance(2 * KEPT_S)
    os.utime(content, (time.time() - 400 * 86400,) * 2)
    sweep(admin)
    admin.refused("POST", f"/models/{made['model_id']}/restore", 404)
    assert not content.exists()


def test_everybody_sees_their_own_sizes_and_admins_all(admin: Api, ann: Api, hire: Hire) -> None:
    ended(ann, "default")
    other = hire(default="member")
    sweep(admin)
    mine = ann.ok("GET", "/sizes", w.SizesByUser)["items"]
    assert [(one["user"], one["n_jobs"]) for one in mine] == [(ann.name, 1)]
    assert mine[0]["total_bytes"] > 0
    assert [one["user"] for one in other.ok("GET", "/sizes")["items"]] == [other.name]
    assert ann.name in [one["user"] for one in admin.ok("GET", "/sizes")["items"]]
    ann.refused("POST", "/sweep", 403)


# A nearly full disk


@pytest.fixture
def tight(tmp_path: Path) -> Iterator[Served]:
    clock, home = FakeClock(), tmp_path / "home"
    (tmp_path / "disks" / "beside").mkdir(parents=True)
    wanted = {"retention": Retention(), "storage_roots": (str(tmp_path / "disks"),)}
    with served(home, FakeEngine(clock, [NODE]), clock, **wanted) as running:
        yield running


def test_on_a_nearly_full_disk_what_runs_goes_on_and_what_waits_does_not_start(
    tight: Served, tmp_path: Path
) -> None:
    with Api(tight, tight.sign_in(), "admin") as api:
        running = api.running(cpus=8)
        waiting = api.submit(cpus=8)
        upload = begun(api, 6)
        api.ok("PATCH", upload, params={"offset": 0}, content=b"abc")
        elsewhere = {"name": "far", "kind": "s3", "bucket": "b", "endpoint": "http://127.0.0.1:9"}
        api.ok("POST", "/storages", status=201, json={**elsewhere, "read_only": False})
        beside = {"name": "beside", "path": str(tmp_path / "disks" / "beside"), "read_only": False}
        api.ok("POST", "/storages", status=201, json=beside)
        disk = tight.parts.platform.disk
        disk._asked = (0, 2**60)
        disk._measure = lambda: (0, 0)  # type: ignore[method-assign]
        disk.free_bytes, disk.least_bytes = 1, 2
        api.refused("POST", "/jobs", 507, says="disk", json={"name": fresh("job"), "command": "x"})
        api.refused("PUT", "/storages/home/content", 507, params={"path": "x"}, content=b"x")
        # A folder of an admin is on the same disk; what goes elsewhere lies here until it is whole.
        api.refused("PUT", "/storages/beside/content", 507, params={"path": "x"}, content=b"x")
        api.refused("PUT", "/storages/far/content", 507, params={"path": "x"}, content=b"x")
        api.refused("PATCH", upload, 507, says="disk", params={"offset": 3}, content=b"def")
        api.refused("POST", "/code", 507, content=code())
        api.finish(running)
        api.until(running, "SUCCEEDED")

        def says_so() -> bool:
            return bool(api.job(waiting["id"])["reason"]["code"] == "disk_low")

        until(says_so)
        assert api.ok("GET", "/health")["status"] == "disk_low"
        disk.free_bytes = 10
        api.ok("PATCH", upload, params={"offset": 3}, content=b"def")
        assert api.ok("POST", f"{upload}/finish")["size_bytes"] == 6
        too_large = {"path": "y", "size_bytes": 9}
        api.refused("POST", "/storages/home/uploads", 507, says="no room for 9B more", json=too_large)
        begun(api, 8)
        tight.run(_told(disk))
        api.until(waiting, "RUNNING")
        api.finish(waiting)
        api.until(waiting, "SUCCEEDED")


def begun(api: Api, size_bytes: int) -> str:
    """Begin an upload, and say where its pieces go."""
    body = {"path": fresh("upload"), "size_bytes": size_bytes}
    upload = api.ok("POST", "/storages/home/uploads", status=201, json=body)
    return f"/storages/home/uploads/{upload['id']}"


async def _told(disk: Disk) -> None:
    for tell in disk._listeners:
        tell()
