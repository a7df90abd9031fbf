"""Storages that admins keep: added, changed and removed, with credentials that nobody sees again."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from apiclient import NODE, Api, Data, Hire, fresh

from footplate.testing.bucket import KEY, BucketServer, running_bucket_server
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served
from footplate.wire import storages as w


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("disks")


@pytest.fixture(scope="module")
def server(
    module_database_url: str, disks: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    clock, home = FakeClock(), tmp_path_factory.mktemp("home")
    roots = {"storage_roots": (str(disks),)}
    with served(home, FakeEngine(clock, [NODE]), clock, module_database_url, **roots) as running:
        yield running


@pytest.fixture(scope="module")
def buckets() -> Iterator[BucketServer]:
    with running_bucket_server() as running:
        yield running


@pytest.fixture
def folder(disks: Path) -> Path:
    path = disks / fresh("disk")
    path.mkdir()
    return path


def add(admin: Api, **fields: object) -> Data:
    body = {"name": fresh("storage"), "read_only": False, **fields}
    return admin.ok("POST", "/storages", w.StorageBody, status=201, json=body)


def put(api: Api, storage: str, path: str, content: bytes = b"content") -> int:
    return api.call("PUT", f"/storages/{storage}/content", params={"path": path}, content=content).status_code


def test_an_admin_adds_changes_and_removes_a_folder(admin: Api, ann: Api, folder: Path) -> None:
    (folder / "x").write_text("here")
    made = add(admin, path=str(folder), description="A disk", read_only=True)
    name = made["name"]
    assert (made["kind"], made["origin"], made["path"]) == ("folder", "database", str(folder))
    seen = ann.ok("GET", f"/storages/{name}", w.StorageBody)
    assert (seen["path"], seen["read_only"], seen["users"]) == (None, True, None)
    assert put(ann, name, "y") == 403
    changed = admin.ok("PATCH", f"/storages/{name}", w.StorageBody, json={"read_only": False})
    assert (changed["read_only"], changed["description"]) == (False, "A disk")
    assert put(ann, name, "y") == 200
    assert (folder / "y").read_text() == "content"
    assert admin.call("POST", f"/storages/{name}/check").status_code == 204
    assert admin.call("DELETE", f"/storages/{name}").status_code == 204
    ann.refused("GET", f"/storages/{name}/entries", 404)
    assert (folder / "y").exists()
    told = [one["action"] for one in admin.ok("GET", "/audit", params={"limit": 3})["items"]]
    assert told == ["storage.removed", "storage.changed", "storage.added"]


def test_only_admins_keep_storages(ann: Api, folder: Path) -> None:
    ann.refused("POST", "/storages", 403, json={"name": "mine", "path": str(folder)})
    ann.refused("PATCH", "/storages/shared", 403, json={"read_only": True})
    ann.refused("DELETE", "/storages/shared", 403)
    ann.refused("POST", "/storages/shared/check", 403)


def test_rights_are_per_user_and_queue_to_read_or_to_write(admin: Api, hire: Hire, folder: Path) -> None:
    queue = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    member, viewer, other = hire(**{queue: "member"}), hire(**{queue: "viewer"}), hire(default="member")
    name = add(admin, path=str(folder), queues=[queue])["name"]
    assert [put(api, name, "x") for api in (member, viewer, other)] == [200, 403, 404]
    admin.ok("PATCH", f"/storages/{name}", json={"users": [other.name], "writers": [f"user:{other.name}"]})
    assert [put(api, name, "x") for api in (member, viewer, other)] == [403, 403, 200]
    assert viewer.call("GET", f"/storages/{name}/entries").status_code == 200
    admin.ok("PATCH", f"/storages/{name}", json={"read_only": True})
    assert [put(api, name, "x") for api in (member, viewer, other, admin)] == [403, 403, 403, 403]


def test_a_storage_that_could_not_be_or_would_show_the_server_is_refused(
    admin: Api, server: Served, folder: Path, disks: Path
) -> None:
    def refuse(field: str, **body: object) -> None:
        admin.refused("POST", "/storages", 422, field, json={"name": fresh("bad"), **body})

    refuse("path", path="/etc")
    refuse("path", path="relative")
    refuse("path", path=str(disks))
    refuse("path", path=f"{disks}/../x")
    refuse("path", path=str(server.home))
    (folder / "link").symlink_to("/etc")
    refuse("path", path=str(folder / "link"))
    refuse("bucket", path=str(folder), bucket="x")
    refuse("bucket", kind="s3")
    refuse("endpoint", kind="http", endpoint="ftp://x")
    refuse("endpoint", kind="http", endpoint="https://user:password@host/")
    refuse("queues[0]", path=str(folder), queues=["none"])
    refuse("writers[0]", path=str(folder), writers=["ann"])
    refuse("credentials.secret_access_key", kind="s3", bucket="b", credentials={"access_key_id": "a"})
    refuse("credentials.token", kind="s3", bucket="b", credentials={"token": "a"})
    admin.refused("POST", "/storages", 422, "name", json={"name": "job", "path": str(folder)})
    admin.refused("POST", "/storages", 409, json={"name": "home"})
    name = add(admin, path=str(folder))["name"]
    (folder / "inner").mkdir()
    # Whoever can write there could make a link of it.
    admin.refused(
        "POST", "/storages", 422, "path", name, json={"name": fresh("bad"), "path": f"{folder}/inner"}
    )


def test_a_quota_is_held(admin: Api, ann: Api, folder: Path) -> None:
    name = add(admin, path=str(folder), quota_bytes=1000)["name"]
    assert put(ann, name, "a", b"x" * 600) == 200
    assert put(ann, name, "b", b"x" * 600) == 507
    # Nor when nobody says beforehand how much comes.
    streamed = {"params": {"path": "d"}, "content": iter([b"x" * 600])}
    ann.refused("PUT", f"/storages/{name}/content", 507, **streamed)
    ann.refused("POST", f"/storages/{name}/batch", 422, "Content-Length", content=iter([b"x" * 600]))
    assert [path.name for path in folder.iterdir() if not path.name.startswith(".")] == ["a"]
    body = {"path": "c", "size_bytes": 600}
    ann.refused("POST", f"/storages/{name}/uploads", 507, json=body)
    assert ann.call("DELETE", f"/storages/{name}/entries", params={"path": "a"}).status_code == 204
    assert put(ann, name, "b", b"x" * 600) == 200


def test_tasks_write_to_home_and_shared_unless_a_quota_is_over(admin: Api, ann: Api, folder: Path) -> None:
    mounts = [{"storage": name, "path": f"/{name}-of", "read_only": False} for name in ("home", "shared")]
    made = ann.ok("POST", "/jobs", status=201, json={"name": fresh("w"), "command": "true", "data": mounts})
    ann.until(made, "SUCCEEDED")
    name = add(admin, path=str(folder), quota_bytes=1000)["name"]
    assert put(ann, name, "a", b"x" * 600) == 200
    admin.ok("PATCH", f"/storages/{name}", json={"quota_bytes": 500})
    mounts = [{"storage": name, "path": "/data", "read_only": False}]
    full = ann.ok("POST", "/jobs", status=201, json={"name": fresh("w"), "command": "true", "data": mounts})
    assert "holds 600B of its quota" in ann.until(full, "FAILED")["reason"]["message"]


def test_credentials_are_sealed_and_never_shown(admin: Api, server: Served, buckets: BucketServer) -> None:
    fields = {"kind": "s3", "endpoint": buckets.url, "bucket": buckets.new_bucket(), "credentials": KEY}
    made = add(admin, **fields)
    assert made["is_private"]
    everything = [
        admin.call("GET", path).text for path in ("/storages", f"/storages/{made['name']}", "/audit")
    ]
    assert KEY["secret_access_key"] not in json.dumps(everything)
    for file in server.home.rglob("*"):
        if file.is_file():
            assert KEY["secret_access_key"].encode() not in file.read_bytes(), file
    public = admin.ok("PATCH", f"/storages/{made['name']}", json={"credentials": {}})
    assert not public["is_private"]


def test_a_bucket_works_like_a_folder(admin: Api, ann: Api, buckets: BucketServer) -> None:
    fields = {"kind": "s3", "endpoint": buckets.url, "bucket": buckets.new_bucket(), "credentials": KEY}
    name = add(admin, **fields)["name"]
    assert admin.call("POST", f"/storages/{name}/check").status_code == 204
    assert put(ann, name, "d/ü", b"0123456789") == 200
    content = {"path": "d/ü"}
    answer = ann.call("GET", f"/storages/{name}/content", params=content, headers={"Range": "bytes=2-4"})
    assert (answer.status_code, answer.content) == (206, b"234")
    piece = b"x" * 100_000
    upload = ann.ok(
        "POST", f"/storages/{name}/uploads", status=201, json={"path": "large", "size_bytes": len(piece)}
    )
    at = f"/storages/{name}/uploads/{upload['id']}"
    digest = {"X-Content-SHA256": hashlib.sha256(piece).hexdigest()}
    ann.ok("PATCH", at, params={"offset": 0}, content=piece, headers=digest)
    ann.ok("POST", f"{at}/finish")
    assert [one["name"] for one in ann.ok("GET", f"/storages/{name}/entries")["items"]] == ["d", "large"]
    body = {"source": "d", "target": {"storage": "home", "path": fresh("from-bucket")}}
    assert ann.ok("POST", f"/storages/{name}/copy", json=body)["size_bytes"] == 10


@pytest.fixture
def engine(server: Served) -> FakeEngine:
    assert isinstance(server.engine, FakeEngine)
    return server.engine


def test_jobs_are_brought_data_of_buckets_that_their_owner_may_read(
    admin: Api, ann: Api, hire: Hire, engine: FakeEngine, buckets: BucketServer
) -> None:
    fields = {"kind": "s3", "endpoint": buckets.url, "bucket": buckets.new_bucket(), "credentials": KEY}
    name = add(admin, **fields, users=[ann.name])["name"]
    assert put(ann, name, "d/file") == 200
    job = {"name": fresh("staged"), "command": "true", "data": {f"{name}:d": "/data"}}
    made = ann.ok("POST", "/jobs", status=201, json=job)
    ann.until(made, "SUCCEEDED")
    assert (f"{made['id']}.0", name, "d") in engine.world.staged
    # What somebody else may read looks as if it did not exist.
    hire(default="member").refused("POST", "/jobs", 422, "data[0].storage", json=job)
    written = {**job, "data": [{"source": f"{name}:d", "path": "/data", "read_only": False}]}
    ann.refused("POST", "/jobs", 422, "data[0].read_only", json={**written, "name": fresh("staged")})


def test_a_server_that_was_installed_without_s3_says_what_to_install(
    admin: Api, ann: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = add(admin, kind="s3", bucket="b")["name"]
    monkeypatch.delitem(sys.modules, "footplate.storages.s3", raising=False)
    monkeypatch.setitem(sys.modules, "obstore", None)
    ann.refused("GET", f"/storages/{name}/entries", 409)
    assert "footplate[s3]" in ann.call("GET", f"/storages/{name}/entries").text
    admin.refused("POST", f"/storages/{name}/check", 409)


def test_a_web_server_that_does_not_answer_is_told_of(admin: Api, buckets: BucketServer) -> None:
    silent = add(admin, kind="http", endpoint="http://127.0.0.1:9")["name"]
    admin.refused("POST", f"/storages/{silent}/check", 503, says="does not answer")
    living = add(admin, kind="http", endpoint=buckets.url)["name"]
    assert admin.call("POST", f"/storages/{living}/check").status_code == 204


def test_a_bucket_that_does_not_answer_is_told_of(admin: Api, ann: Api, buckets: BucketServer) -> None:
    gone = {"kind": "s3", "endpoint": buckets.url, "bucket": "no-such-bucket", "credentials": KEY}
    name = add(admin, **gone)["name"]
    answer = ann.call("GET", f"/storages/{name}/entries")
    assert answer.status_code in (404, 503), answer.text
    assert admin.call("POST", f"/storages/{name}/check").status_code == answer.status_code
