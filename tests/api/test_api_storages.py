"""Storages over REST: who sees which, and what a job may ask of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from apiclient import NODE, PASSWORD, Api, Data, fresh

from footplate.domain.storage import Storage
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served
from footplate.wire import storages as w


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    clock, folder = FakeClock(), tmp_path_factory.mktemp("storages")
    (folder / "sets" / "digits").mkdir(parents=True)
    (folder / "sets" / "out").symlink_to("/etc")
    storages = (
        Storage("sets", str(folder / "sets"), description="What everybody trains on"),
        Storage("scratch", str(folder / "scratch"), read_only=False, queues=("vision",)),
        Storage("gone", str(folder / "gone")),
    )
    with served(folder / "home", FakeEngine(clock, [NODE]), clock, storages=storages) as running:
        yield running


@pytest.fixture(scope="module")
def member(server: Served, admin: Api) -> Iterator[Api]:
    """Somebody who may use the default queue only."""
    name = fresh("user")
    account = {"name": name, "password": PASSWORD, "queues": {"default": "member"}}
    admin.ok("POST", "/queues", status=201, json={"name": "vision"})
    admin.ok("POST", "/users", status=201, json=account)
    api = Api(server, server.sign_in(name, PASSWORD), name)
    yield api
    api.close()


def job_with(**fields: object) -> Data:
    return {"name": fresh("job"), "command": "true", **fields}


def data(storage: str, **fields: object) -> Data:
    return job_with(data=[{"path": "/data", "storage": storage, **fields}])


def test_people_see_the_storages_of_their_queues_and_admins_where_they_lie(member: Api, admin: Api) -> None:
    seen = member.ok("GET", "/storages", w.Storages)["items"]
    assert [one["name"] for one in seen] == ["sets", "gone", "home", "shared"]
    assert seen[0]["description"] == "What everybody trains on"
    assert seen[0]["path"] is None
    everything = admin.ok("GET", "/storages", w.Storages)["items"]
    assert [one["name"] for one in everything] == ["sets", "scratch", "gone", "home", "shared"]
    assert everything[0]["path"].endswith("/sets")


def test_nobody_else_sees_them(nobody: Api) -> None:
    nobody.refused("GET", "/storages", 401)


def test_a_job_takes_data_of_its_queues_storages_and_of_its_own(member: Api) -> None:
    for document in (data("sets", source="digits"), data("job", source="output", read_only=False)):
        job = member.until(member.submit(**{**document, "command": "wait"}), "RUNNING")
        (stored,) = job["config"]["data"]
        assert stored.items() >= document["data"][0].items()
        member.finish(job)


@pytest.mark.parametrize(
    ("document", "field", "message"),
    [
        (data("nowhere"), "data[0].storage", "known: gone, home, sets, shared, job"),
        (data("scratch"), "data[0].storage", "no storage scratch for queue default"),
        (data("sets", read_only=False), "data[0].read_only", "is read-only"),
        (data("job", source="attempt-0"), "data[0].source", "output, checkpoints, code"),
        (data("job"), "data[0].source", "output, checkpoints, code"),
        (data("sets", source="../home"), "data[0].source", ".."),
        (job_with(data=[{"path": "/data"}]), "data[0].storage", "required"),
        (data("job", source="code"), "data[0].source", "the job has none"),
        (job_with(code={"storage": "nowhere"}), "code.storage", "known: gone, home"),
        (job_with(code={"storage": "job"}), "code.storage", "own folders"),
    ],
)
def test_what_a_job_cannot_have_is_refused_at_its_field(
    member: Api, document: Data, field: str, message: str
) -> None:
    member.refused("POST", "/jobs", 422, field, message, json=document)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (data("gone"), "the folder of storage gone is gone"),
        (data("sets", source="missing"), "storage sets has no missing"),
        (data("sets", source="out"), "leads out of its storage"),
        (job_with(code={"storage": "sets", "path": "missing"}), "storage sets has no missing"),
    ],
)
def test_what_is_not_there_at_the_start_ends_the_job_and_is_not_tried_again(
    member: Api, document: Data, message: str
) -> None:
    ended = member.until(member.submit(**document, retry=3), "FAILED")
    assert message in ended["reason"]["message"]
    assert ended["attempt"] == 0


def test_the_settings_say_that_they_are_where_a_storage_comes_from(admin: Api) -> None:
    told = {one["name"]: one["origin"] for one in admin.ok("GET", "/storages")["items"]}
    assert told["sets"] == "settings"
    assert told["shared"] == "database"
    admin.refused("PATCH", "/storages/sets", 409, json={"read_only": False})
    admin.refused("DELETE", "/storages/sets", 409)


def test_files_of_a_declared_storage_follow_the_rights_on_it(member: Api, admin: Api) -> None:
    names = [one["name"] for one in member.ok("GET", "/storages/sets/entries")["items"]]
    assert names == ["digits", "out"]
    member.refused("PUT", "/storages/sets/content", 403, params={"path": "x"}, content=b"x")
    admin.refused("PUT", "/storages/sets/content", 403, params={"path": "x"}, content=b"x")
    member.refused("GET", "/storages/sets/entries", 403, params={"path": "out"})
    member.refused("GET", "/storages/scratch/entries", 404)
    admin.refused("GET", "/storages/scratch/entries", 404)


def test_a_dry_run_shows_the_same_refusals(member: Api) -> None:
    member.refused("POST", "/jobs/dry-run", 422, "data[0].storage", json=data("nowhere"))


def test_code_cannot_come_from_a_web_server(admin: Api) -> None:
    web = {"name": fresh("web"), "kind": "http", "endpoint": "http://127.0.0.1:9/"}
    admin.ok("POST", "/storages", status=201, json=web)
    code = {"storage": web["name"], "path": "project"}
    admin.refused("POST", "/jobs", 422, "code.storage", "is a web server", json=job_with(code=code))
    admin.ok("DELETE", f"/storages/{web['name']}", status=204)
