"""Models over REST: where they come from, what outlives what, and who may do what with them."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest
from apiclient import Api, Data, Hire, fresh

from footplate.sdk import models, uploading
from footplate.sdk.client import Client
from footplate.testing.fake_clock import FakeClock
from footplate.testing.server import Served, until
from footplate.wire import models as w

FIRST, SECOND = b"first weights", b"second weights"


def with_output(api: Api, files: dict[str, bytes], **fields: object) -> Data:
    """A job that runs and has written files."""
    job = api.running(**fields)
    for path, content in files.items():
        place = api.folder(job) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return job


def register(api: Api, name: str, job: Data, path: str = "", **fields: object) -> Data:
    body = {"name": name, "job": {"job": job["id"], "path": path}, **fields}
    return api.ok("POST", "/models", w.VersionBody, 201, json=body)


def send(api: Api, content: bytes) -> str:
    sha256 = hashlib.sha256(content).hexdigest()
    api.ok("PUT", f"/model-contents/{sha256}", w.ContentBody, 201, content=content)
    return sha256


def uploaded(api: Api, name: str, content: bytes = FIRST, **fields: object) -> Data:
    body = {"name": name, "files": [{"path": "model.bin", "sha256": send(api, content)}], **fields}
    return api.ok("POST", "/models", w.VersionBody, 201, json=body)


def content_of(api: Api, model: str, version: object = "latest", **params: str) -> bytes:
    answer = api.call("GET", f"/models/{model}/versions/{version}/content", params=params)
    assert answer.status_code == 200, answer.text
    return answer.content


def names(api: Api, **params: str) -> list[str]:
    listed = api.ok("GET", "/models", w.Models, params=params)
    return [one["name"] for one in listed["items"]]


# Where models come from


def test_a_model_from_a_job_links_to_it_and_outlives_it(ann: Api) -> None:
    name = fresh("model")
    job = with_output(ann, {"model.bin": FIRST, "more/notes.txt": b"n"}, parameters={"lr": 0.1})
    made = register(ann, name, job, "model.bin", metrics={"accuracy": 0.9}, framework="pytorch:2.4")
    assert (made["number"], made["origin"]["job_id"], made["origin"]["parameters"]) == (
        1,
        job["id"],
        {"lr": 0.1},
    )
    assert [one["path"] for one in made["files"]] == ["model.bin"]
    assert names(ann, job=job["id"]) == [name]
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    ann.ok("DELETE", f"/jobs/{job['id']}", status=204, params={"for_good": "true"})
    assert content_of(ann, name) == FIRST


def test_a_whole_folder_becomes_a_version_and_an_archive(ann: Api) -> None:
    name = fresh("model")
    job = with_output(ann, {"a/model.bin": FIRST, "a/b/vocab.txt": b"words"})
    (ann.folder(job) / "a" / "link").symlink_to("/etc/passwd")
    made = register(ann, name, job, "a")
    assert [one["path"] for one in made["files"]] == ["b/vocab.txt", "model.bin"]
    archive = ann.call("GET", f"/models/{name}/versions/1/archive")
    with tarfile.open(fileobj=io.BytesIO(archive.content)) as tar:
        assert sorted(tar.getnames()) == [f"{name}-v1/b/vocab.txt", f"{name}-v1/model.bin"]
    ann.refused("GET", f"/models/{name}/versions/1/content", 404, says="name one of them")
    assert content_of(ann, name, 1, path="b/vocab.txt") == b"words"


@pytest.mark.parametrize("path", ["../secret", "a/../../x", "none.bin", "link"])
def test_nothing_outside_of_the_job_can_be_registered(ann: Api, path: str) -> None:
    job = with_output(ann, {"model.bin": FIRST})
    (ann.folder(job) / "link").symlink_to("/etc/passwd")
    body = {"name": fresh("model"), "job": {"job": job["id"], "path": path}}
    assert ann.call("POST", "/models", json=body).status_code in (404, 422)


def test_equal_content_is_kept_once(ann: Api, server: Served) -> None:
    content = os.urandom(1000)
    uploaded(ann, fresh("model"), content)
    uploaded(ann, fresh("model"), content)
    job = with_output(ann, {"model.bin": content})
    register(ann, fresh("model"), job)
    sha256 = hashlib.sha256(content).hexdigest()
    assert len(list((server.parts.platform.home / "models").rglob(sha256))) == 1


def test_a_model_comes_from_a_storage(ann: Api) -> None:
    path = fresh("stored")
    ann.ok("PUT", "/storages/home/content", params={"path": f"{path}/model.bin"}, content=FIRST)
    body = {"name": fresh("model"), "storage": {"storage": "home", "path": path}}
    made = ann.ok("POST", "/models", w.VersionBody, 201, json=body)
    assert made["origin"]["kind"] == "storage"
    assert content_of(ann, made["model_id"]) == FIRST


def test_a_digest_that_somebody_else_has_sent_gives_nothing_away(ann: Api, hire: Hire) -> None:
    sha256 = send(ann, os.urandom(100))
    other = hire(default="member")
    assert ann.call("HEAD", f"/model-contents/{sha256}").status_code == 200
    assert other.call("HEAD", f"/model-contents/{sha256}").status_code == 404
    body = {"name": fresh("model"), "files": [{"path": "x", "sha256": sha256}]}
    other.refused("POST", "/models", 422, "files[0].sha256", json=body)


def test_a_content_with_another_digest_is_refused(ann: Api, server: Served) -> None:
    wrong = "0" * 64
    ann.refused("PUT", f"/model-contents/{wrong}", 422, "sha256", content=b"something")
    assert server.parts.platform.models.path(wrong) is None


def begin(api: Api, content: bytes, n_sent: int) -> str:
    """An upload in pieces of which so much has come."""
    body = {"path": fresh("large"), "size_bytes": len(content)}
    upload: str = api.ok("POST", "/storages/home/uploads", status=201, json=body)["id"]
    at = f"/storages/home/uploads/{upload}"
    if n_sent:
        api.ok("PATCH", at, params={"offset": 0}, content=content[:n_sent])
    return upload


def test_a_content_comes_in_pieces_too_once_it_is_whole(ann: Api, hire: Hire, server: Served) -> None:
    content = os.urandom(3000)
    sha256 = hashlib.sha256(content).hexdigest()
    at, upload = f"/model-contents/{sha256}", begin(ann, content, 2000)
    body = {"storage": "home", "upload": upload}
    ann.refused("POST", at, 409, json=body)
    ann.ok("PATCH", f"/storages/home/uploads/{upload}", params={"offset": 2000}, content=content[2000:])
    hire(default="member").refused("POST", at, 404, json=body)
    ann.refused("POST", f"/model-contents/{'0' * 64}", 422, "sha256", json=body)
    assert ann.call("HEAD", at).status_code == 404
    assert ann.ok("POST", at, w.ContentBody, 201, json=body)["size_bytes"] == 3000
    # Nothing of it is left on the storage.
    ann.refused("POST", at, 404, json=body)
    assert ann.ok("GET", "/storages/home/uploads")["items"] == []
    files = [{"path": "model.bin", "sha256": sha256}]
    made = ann.ok("POST", "/models", w.VersionBody, 201, json={"name": fresh("model"), "files": files})
    assert content_of(ann, made["model_id"]) == content


def test_a_large_model_that_is_cut_goes_on_where_it_was(
    ann: Api, server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "WHOLE_BYTES", 1000)
    monkeypatch.setattr(uploading, "PIECE_BYTES", 1000)
    (tmp_path / "model.bin").write_bytes(os.urandom(5500))
    sent: list[int] = []

    def cut(_path: str, n_bytes: int) -> None:
        sent.append(n_bytes)
        if len(sent) == 3:
            raise KeyboardInterrupt

    name = fresh("model")
    with Client(server.url, ann.token) as client:
        with pytest.raises(KeyboardInterrupt):
            client.register_model(name, tmp_path / "model.bin", told=cut)
        begun = sum(sent)
        sent.clear()
        made = client.register_model(name, tmp_path / "model.bin", told=lambda _path, n: sent.append(n))
    assert (sent[0], sum(sent)) == (begun, 5500)
    assert made["size_bytes"] == 5500
    assert ann.ok("GET", "/storages/home/uploads")["items"] == []


# Registered when a job succeeds


def test_a_job_file_registers_its_model_when_the_job_has_succeeded(ann: Api) -> None:
    name = fresh("model")
    asked = {"name": name, "path": "model.bin", "aliases": ["production"], "tags": ["nightly"]}
    job = with_output(ann, {"model.bin": FIRST}, model=asked)
    assert names(ann, search=name) == []
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    until(lambda: names(ann, search=name) == [name])
    found = ann.ok("GET", f"/models/{name}", w.ModelDetail)
    assert found["aliases"] == {"production": 1}
    assert found["versions"][0]["tags"] == ["nightly"]
    kinds = [event["kind"] for event in ann.ok("GET", f"/jobs/{job['id']}/events")["items"]]
    assert kinds.count("model_registered") == 1


def test_a_failed_job_registers_nothing(ann: Api, server: Served) -> None:
    name = fresh("model")
    job = with_output(ann, {"model.bin": FIRST}, model=name)
    ann.finish(job, code=1)
    ann.until(job, "FAILED")
    until(lambda: not due(server, job))
    assert names(ann, search=name) == []


def test_a_model_whose_file_is_missing_is_told_with_the_job(ann: Api, server: Served) -> None:
    name = fresh("model")
    job = with_output(ann, {"other.bin": FIRST}, model={"name": name, "path": "model.bin"})
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    until(lambda: not due(server, job))
    last = ann.ok("GET", f"/jobs/{job['id']}/events")["items"][-1]
    assert last["kind"] == "model_not_registered"
    assert "model.bin" in last["message"]


def due(server: Served, job: Data) -> bool:
    from footplate.store import model_queries

    found = server.run(server.parts.platform.store.read(model_queries.due))
    return job["id"] in [job_id for job_id, _ in found]


# Versions, aliases, comparison


def test_versions_aliases_and_what_they_differ_in(ann: Api) -> None:
    name = fresh("model")
    uploaded(ann, name, FIRST, metrics={"accuracy": 0.9}, aliases=["production"])
    uploaded(ann, name, SECOND, metrics={"accuracy": 0.95, "loss": 0.2}, description="better")
    assert content_of(ann, name, "production") == FIRST
    assert content_of(ann, name, "latest") == SECOND
    assert content_of(ann, name, "v1") == FIRST
    ann.ok("PUT", f"/models/{name}/aliases/production", w.ModelDetail, json={"version": "latest"})
    assert content_of(ann, name, "production") == SECOND
    found = ann.ok("GET", f"/models/{name}/compare", w.ComparisonBody, params={"first": "1", "second": "2"})
    assert found["metrics"] == {
        "accuracy": {"first": 0.9, "second": 0.95},
        "loss": {"first": None, "second": 0.2},
    }
    assert found["fields"]["description"] == {"first": "", "second": "better"}
    assert list(found["files"]) == ["model.bin"]
    assert found["n_same_files"] == 0
    ann.refused("PUT", f"/models/{name}/aliases/latest", 422, "alias", json={"version": "1"})
    ann.refused("PUT", f"/models/{name}/aliases/staging", 404, json={"version": "9"})


def test_what_is_said_of_a_version_can_change_and_its_files_cannot(ann: Api) -> None:
    name = fresh("model")
    uploaded(ann, name, tags=["old"])
    body = {"description": "new words", "tags": ["new"], "metrics": {"f1": 0.5}}
    changed = ann.ok("PATCH", f"/models/{name}/versions/1", w.VersionBody, json=body)
    assert (changed["description"], changed["tags"], changed["metrics"]) == (
        "new words",
        ["new"],
        {"f1": 0.5},
    )
    ann.refused("PATCH", f"/models/{name}/versions/1", 422, "files", json={"files": []})


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("name", {"name": "a b"}),
        ("name", {"name": "a:1"}),
        ("", {"files": None}),
        ("", {"job": {"job": "x"}}),
        ("metrics.loss", {"metrics": {"loss": "low"}}),
        ("aliases[0]", {"aliases": ["1st"]}),
        ("files[0].sha256", {"files": [{"path": "x", "sha256": "x"}]}),
        ("files[0].path", {"files": [{"path": "../x", "sha256": "0" * 64}]}),
        ("environment", {"environment": "none-such"}),
    ],
)
def test_bad_registrations_are_refused_by_field(ann: Api, field: str, body: Data) -> None:
    good = {"name": fresh("model"), "files": [{"path": "x", "sha256": send(ann, FIRST)}]}
    answer = ann.refused("POST", "/models", 422, json={**good, **body})
    assert any(field in problem["path"] for problem in answer["problems"]), answer


def test_inference_environments_are_kept_by_admins_and_give_their_image(admin: Api, ann: Api) -> None:
    name = fresh("torch-serve")
    listed = {"image": "registry.example.com/serve:2", "framework": "pytorch", "version": "2.4"}
    admin.ok("PUT", f"/inference-environments/{name}", w.InferenceBody, json=listed)
    ann.refused("PUT", f"/inference-environments/{name}", 403, json=listed)
    ann.refused("DELETE", f"/inference-environments/{name}", 403)
    made = uploaded(ann, fresh("model"), environment=name)
    assert (made["image"], made["framework"]) == (listed["image"], "pytorch:2.4")
    admin.ok("DELETE", f"/inference-environments/{name}", status=204)
    assert ann.ok("GET", f"/models/{made['model_id']}")["latest"]["environment"] == name


# The trash


def test_the_trash_gives_back_whole_models_and_single_versions(ann: Api) -> None:
    name = fresh("model")
    uploaded(ann, name, FIRST, aliases=["production"])
    made = uploaded(ann, name, SECOND)
    ann.ok("DELETE", f"/models/{name}/versions/1", status=204)
    ann.refused("GET", f"/models/{name}/versions/1", 404)
    ann.refused("GET", f"/models/{name}/versions/production", 404)
    ann.ok("POST", f"/models/{name}/versions/1/restore", w.VersionBody)
    assert content_of(ann, name, 1) == FIRST
    ann.ok("DELETE", f"/models/{name}", status=204)
    assert name not in names(ann)
    assert name in names(ann, trash="true")
    ann.ok("POST", f"/models/{made['model_id']}/restore", w.ModelDetail)
    assert content_of(ann, name) == SECOND


def test_a_name_in_the_trash_is_free_and_numbers_are_never_given_twice(ann: Api) -> None:
    name = fresh("model")
    old = uploaded(ann, name)
    ann.ok("DELETE", f"/models/{name}", status=204)
    new = uploaded(ann, name, SECOND)
    assert new["model_id"] != old["model_id"]
    ann.refused("POST", f"/models/{old['model_id']}/restore", 409, says="already")
    ann.ok("DELETE", f"/models/{name}/versions/1", status=204, params={"for_good": "true"})
    assert uploaded(ann, name, FIRST)["number"] == 2


# Rights: who does what with whose model, and how that is answered


@pytest.fixture
def people(hire: Hire, admin: Api) -> dict[str, Api]:
    queue = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    return {
        "owner": hire(**{queue: "member", "default": "member"}),
        "queue admin": hire(**{queue: "admin"}),
        "member": hire(**{queue: "member"}),
        "stranger": hire(),
        "platform admin": admin,
        "queue": queue,  # type: ignore[dict-item]
    }


LOOK = (("GET", ""), ("GET", "/versions/1"), ("GET", "/versions/1/content"), ("GET", "/versions/1/archive"))
CHANGE = (("PATCH", "", {"description": "x"}), ("PUT", "/aliases/a", {"version": "1"}))
RIGHTS = {
    # Who: what they get when they look at a private one, at a shared one, and when they change either.
    "owner": (200, 200, 200, 200),
    "queue admin": (200, 200, 200, 200),
    "platform admin": (200, 200, 200, 200),
    "member": (404, 200, 404, 403),
    "stranger": (404, 200, 404, 403),
}


@pytest.mark.parametrize("who", RIGHTS)
def test_who_may_do_what(people: dict[str, Api], who: str) -> None:
    owner, caller = people["owner"], people[who]
    job = with_output(owner, {"model.bin": FIRST}, queue=people["queue"])
    for is_shared, looking, changing in zip((False, True), RIGHTS[who][:2], RIGHTS[who][2:], strict=True):
        made = register(owner, fresh("model"), job, shared=is_shared)
        at = f"/models/{made['model_id']}"
        for method, inner in LOOK:
            assert caller.call(method, at + inner).status_code == looking, (method, inner)
        for method, inner, body in CHANGE:
            assert caller.call(method, at + inner, json=body).status_code == changing, (method, inner)
        assert (made["model_id"] in [one["id"] for one in caller.ok("GET", "/models")["items"]]) == (
            looking == 200
        )
        version = {"name": made["model_id"], "files": [{"path": "x", "sha256": send(caller, SECOND)}]}
        added = caller.call("POST", "/models", json=version).status_code
        assert added == {200: 201}.get(changing, changing)
        deleted = caller.call("DELETE", at).status_code
        assert deleted == {200: 204}.get(changing, changing)


def test_files_of_a_job_that_one_may_not_see_cannot_be_registered(people: dict[str, Api]) -> None:
    job = with_output(people["owner"], {"model.bin": FIRST}, queue=people["queue"])
    for who, status in (("member", 403), ("stranger", 404)):
        body = {"name": fresh("model"), "job": {"job": job["id"]}}
        people[who].refused("POST", "/models", status, json=body)


def test_a_shared_name_of_several_people_must_be_told_apart(ann: Api, hire: Hire) -> None:
    name = fresh("model")
    one, other, third = hire(), hire(), hire()
    made = uploaded(one, name, FIRST, shared=True)
    uploaded(other, name, SECOND, shared=True)
    assert content_of(other, name) == SECOND
    third.refused("GET", f"/models/{name}", 409, says=made["model_id"])
    assert content_of(third, made["model_id"]) == FIRST


def test_what_admins_do_to_models_of_others_is_in_the_trail(admin: Api, ann: Api, clock: FakeClock) -> None:
    made = uploaded(ann, fresh("model"))
    clock.advance(1)
    admin.ok("DELETE", f"/models/{made['model_id']}", status=204)
    newest = admin.ok("GET", "/audit")["items"][0]
    assert (newest["action"], newest["subject"]) == ("model.deleted", made["model_id"])
