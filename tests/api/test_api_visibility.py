"""What colleagues in a queue see of a job that is not theirs: an outline, unless it is shared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from apiclient import Api, Data, Hire, check_refusal, fresh

from footplate.server.app import API, make_app
from footplate.server.settings import Settings
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import until
from footplate.wire.events import Events
from footplate.wire.jobs import JobDetail, Jobs, Waiting

MARK = "xyzzy-only-for-ada"
# How a member of the queue is answered who is neither owner nor admin: while the job is private, and shared.
ABOUT_A_JOB: dict[str, tuple[int, int]] = {
    "GET /jobs/{job_id}": (200, 200),
    "GET /jobs/{job_id}/events": (200, 200),
    "GET /jobs/{job_id}/config": (403, 200),
    "GET /jobs/{job_id}/tasks": (403, 200),
    "GET /jobs/{job_id}/attempts": (403, 200),
    "GET /jobs/{job_id}/usage": (403, 200),
    "GET /jobs/{job_id}/metrics": (403, 200),
    "GET /jobs/{job_id}/metrics/export": (403, 200),
    "GET /jobs/{job_id}/metrics/stream": (403, 0),
    "POST /jobs/{job_id}/metrics": (403, 403),
    # This one was written for no other system.
    "GET /jobs/{job_id}/original": (403, 404),
    "GET /jobs/{job_id}/files": (403, 200),
    "GET /jobs/{job_id}/files/{what}": (403, 200),
    "GET /jobs/{job_id}/files/{what}/preview": (403, 200),
    "GET /jobs/{job_id}/download": (403, 200),
    "GET /jobs/{job_id}/cost": (403, 200),
    "GET /jobs/{job_id}/sizes": (403, 200),
    "GET /jobs/{job_id}/logs": (403, 200),
    "GET /jobs/{job_id}/logs/search": (403, 200),
    "GET /jobs/{job_id}/logs/download": (403, 200),
    "GET /jobs/{job_id}/logs/merged": (403, 200),
    "GET /jobs/{job_id}/logs/times": (403, 200),
    # Streams are opened in tests of their own where they are allowed.
    "GET /jobs/{job_id}/logs/stream": (403, 0),
    "POST /jobs/{job_id}/clone": (403, 201),
    # Who may look may not touch.
    "POST /jobs/{job_id}/exec": (403, 403),
    "GET /jobs/{job_id}/services": (403, 403),
    "POST /jobs/{job_id}/services": (403, 403),
    "DELETE /jobs/{job_id}/services/{service}": (403, 403),
    "GET /jobs/{job_id}/ssh": (403, 403),
    "POST /jobs/{job_id}/ssh-key": (403, 403),
    "GET /jobs/{job_id}/shells": (403, 403),
    "POST /jobs/{job_id}/shells": (403, 403),
    "DELETE /jobs/{job_id}/shells/{shell_id}": (404, 404),
    "PATCH /jobs/{job_id}": (403, 403),
    "DELETE /jobs/{job_id}": (403, 403),
    "POST /jobs/{job_id}/stop": (403, 403),
    "POST /jobs/{job_id}/halt": (403, 403),
    "POST /jobs/{job_id}/preempt": (403, 403),
    "POST /jobs/{job_id}/release": (403, 403),
    "POST /jobs/{job_id}/restore": (403, 403),
}
# Answers that speak of several jobs, or of code: nothing private may be in them.
ABOUT_MANY = frozenset(
    {
        "GET /jobs",
        "GET /events",
        "GET /events/stream",
        "GET /metrics/latest",
        "GET /waiting",
        "GET /summary",
        "GET /summary/history",
        "GET /nodes",
        "GET /nodes/{name}",
        "GET /nodes/{name}/usage",
        "GET /queues",
        "GET /queues/{name}",
        "GET /storages",
        "GET /engines",
        "GET /images",
        "GET /instance-types",
        "GET /frameworks",
        "POST /jobs",
        "POST /notebooks",
        "GET /notebooks/samples",
        "GET /notebooks/samples/{file}",
        "POST /jobs/check",
        "POST /jobs/dry-run",
        # The logs that it brings are tried in test_api_streams.py.
        "POST /stream",
        "GET /code/{digest}",
        "HEAD /code/{digest}",
    }
)
# Nothing of anybody's jobs is in these, or only platform admins may call them.
NOT_ABOUT_JOBS = frozenset(
    {
        "DELETE /environments/{name}",
        "DELETE /frameworks/{name}/{version}",
        "DELETE /images/{name}",
        "DELETE /instance-types/{name}",
        "DELETE /invites/{user}",
        "DELETE /queues/{name}",
        "DELETE /queues/{name}/members/{user}",
        "DELETE /secrets/{name}",
        "DELETE /session",
        "DELETE /access-keys/{key_id}",
        "GET /access-keys",
        "POST /access-keys",
        "DELETE /tokens",
        "DELETE /tokens/{token_id}",
        "DELETE /users/{name}",
        # Each sees their own; how much of jobs they tell is tried in test_api_alerts.py.
        "DELETE /alerts/channels/{channel_id}",
        "DELETE /alerts/rules/{rule_id}",
        "GET /alerts/channels",
        "GET /alerts/deliveries",
        "GET /alerts/rules",
        "GET /alerts/settings",
        "PATCH /alerts/channels/{channel_id}",
        "POST /alerts/channels",
        "POST /alerts/channels/{channel_id}/test",
        "POST /alerts/deliveries/{delivery_id}/retry",
        "POST /alerts/rules",
        "PUT /alerts/rules/{rule_id}",
        "PUT /alerts/settings",
        "GET /audit",
        "GET /audit/export",
        "GET /client/{file}",
        # Each sees their own; more is tried in test_api_accounting.py.
        "GET /accounting",
        "GET /accounting/export",
        # Each sees their own; the rest is tried in test_api_retention.py.
        "GET /sizes",
        "POST /sweep",
        # Models have rights of their own, which test_api_models.py tries.
        "GET /models",
        "POST /models",
        "GET /models/{model}",
        "PATCH /models/{model}",
        "DELETE /models/{model}",
        "POST /models/{model}/restore",
        "PUT /models/{model}/aliases/{alias}",
        "DELETE /models/{model}/aliases/{alias}",
        "GET /models/{model}/compare",
        "GET /models/{model}/versions/{version}",
        "PATCH /models/{model}/versions/{version}",
        "DELETE /models/{model}/versions/{version}",
        "POST /models/{model}/versions/{version}/restore",
        "GET /models/{model}/versions/{version}/content",
        "GET /models/{model}/versions/{version}/archive",
        "PUT /model-contents/{sha256}",
        "POST /model-contents/{sha256}",
        "HEAD /model-contents/{sha256}",
        "GET /inference-environments",
        "PUT /inference-environments/{name}",
        "DELETE /inference-environments/{name}",
        "GET /environments",
        "GET /environments/{name}/log",
        "GET /health",
        "GET /invites",
        "GET /me",
        "GET /queues/{name}/members",
        "GET /schema/job",
        "GET /secrets",
        "GET /session",
        "GET /settings",
        "POST /jobs/translate",
        "PUT /settings/{name}",
        "DELETE /settings/{name}",
        "GET /strategies",
        "GET /me/ssh-keys",
        "POST /me/ssh-keys",
        "DELETE /me/ssh-keys/{key_id}",
        "GET /tokens",
        "GET /users",
        "GET /users/{name}",
        "GET /version",
        "PATCH /nodes/{name}",
        "PATCH /queues/{name}",
        "PATCH /users/{name}",
        "POST /code",
        "POST /invites",
        "POST /invites/accept",
        "POST /invites/lookup",
        "POST /login",
        "POST /me/password",
        "POST /queues",
        "POST /session/links",
        "POST /session/links/follow",
        "POST /session",
        "POST /session/tickets",
        "POST /tokens",
        "POST /users",
        "PUT /frameworks/{name}/{version}",
        "PUT /images/{name}",
        "PUT /instance-types/{name}",
        "PUT /queues/{name}/members/{user}",
        "PUT /secrets/{name}",
        # Files of people, not of jobs; who sees which is tried in test_api_files.py.
        "DELETE /storages/{name}",
        "DELETE /storages/{name}/entries",
        "DELETE /storages/{name}/uploads/{upload_id}",
        "GET /storages/{name}",
        "GET /storages/{name}/archive",
        "GET /storages/{name}/content",
        "GET /storages/{name}/entries",
        "GET /storages/{name}/entry",
        "GET /storages/{name}/preview",
        "GET /storages/{name}/uploads",
        "GET /storages/{name}/uploads/{upload_id}",
        "GET /storages/{name}/usage",
        "PATCH /storages/{name}",
        "PATCH /storages/{name}/uploads/{upload_id}",
        "POST /storages",
        "POST /storages/{name}/batch",
        "POST /storages/{name}/check",
        "POST /storages/{name}/copy",
        "POST /storages/{name}/folders",
        "POST /storages/{name}/move",
        "POST /storages/{name}/uploads",
        "POST /storages/{name}/uploads/{upload_id}/finish",
        "PUT /storages/{name}/content",
    }
)
REQUESTS: dict[str, Data] = {
    "GET /jobs/{job_id}/files/{what}/preview": {"params": {"path": f"{MARK}.txt"}},
    "GET /jobs/{job_id}/logs/search": {"params": {"text": "x"}},
    "GET /jobs/{job_id}/logs/times": {"params": {"end": "1"}},
    "POST /jobs/{job_id}/exec": {"json": {"command": ["env"]}},
    "POST /jobs/{job_id}/shells": {"json": {}},
    "POST /jobs/{job_id}/services": {"json": {"service": "80"}},
    "PATCH /jobs/{job_id}": {"json": {"shared": True}},
}
PRIVATE: Data = {
    "description": MARK,
    "tags": [MARK],
    "env": {"DATASET": MARK},
    "parameters": {"lr": MARK},
    "extras": {"note": MARK},
    "command": f"wait {MARK}",
}


def test_every_operation_says_what_it_shows_of_jobs(tmp_path: Path) -> None:
    clock = FakeClock()
    described = make_app(Settings(tmp_path), FakeEngine(clock), clock).openapi()["paths"]
    operations = {
        f"{method.upper()} {path.removeprefix(API)}"
        for path, methods in described.items()
        for method in methods
    }
    assert operations == ABOUT_A_JOB.keys() | ABOUT_MANY | NOT_ABOUT_JOBS
    assert {name for name in operations if "{job_id}" in name} == ABOUT_A_JOB.keys()


@pytest.fixture
def queue(admin: Api) -> str:
    name = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": name})
    return name


@pytest.fixture
def ada(hire: Hire, queue: str) -> Api:
    return hire(**{queue: "member"})


@pytest.fixture
def bob(hire: Hire, queue: str) -> Api:
    return hire(**{queue: "member"})


@pytest.fixture
def private(ada: Api, queue: str) -> Data:
    """A running job that has something to hide wherever something can be."""
    job = ada.running(queue=queue, **PRIVATE)
    ada.write_log(job, f"loss {MARK}\n".encode())
    (ada.folder(job) / f"{MARK}.txt").write_text(MARK)
    return job


def call(api: Api, name: str, job: Data) -> Any:
    method, path = name.split()
    return api.call(
        method,
        path.format(job_id=job["id"], what="output", shell_id="0" * 16, service="1"),
        **REQUESTS.get(name, {}),
    )


@pytest.mark.parametrize("name", ABOUT_A_JOB)
def test_a_private_job_shows_colleagues_its_outline_and_no_more(private: Data, bob: Api, name: str) -> None:
    status, _ = ABOUT_A_JOB[name]
    answer = call(bob, name, private)
    assert answer.status_code == status, answer.text
    assert MARK not in answer.text
    if status == 403:
        refusal = check_refusal(answer)
        assert refusal["code"] == "denied"
        # It says who may.
        assert private["owner"] in refusal["message"]
        assert private["queue"] in refusal["message"]


@pytest.mark.parametrize("name", [name for name, (_, shared) in ABOUT_A_JOB.items() if shared])
def test_a_shared_job_can_be_looked_into_but_not_touched(
    private: Data, ada: Api, bob: Api, name: str
) -> None:
    ada.ok("PATCH", f"/jobs/{private['id']}", JobDetail, json={"shared": True})
    answer = call(bob, name, private)
    assert answer.status_code == ABOUT_A_JOB[name][1], answer.text


@pytest.mark.parametrize("name", ABOUT_A_JOB)
def test_a_job_is_not_there_for_those_outside_of_its_queue(private: Data, hire: Hire, name: str) -> None:
    assert call(hire(default="member"), name, private).status_code == 404


def test_a_refusal_says_how_to_share(private: Data, bob: Api) -> None:
    says = "The owner can share the job with the queue"
    assert (
        bob.refused("GET", f"/jobs/{private['id']}/config", 403, says=says)["message_code"] == "job_private"
    )


def test_an_outline_says_whose_it_is_what_it_takes_and_why_it_waits(ada: Api, bob: Api, queue: str) -> None:
    holding = ada.running(queue=queue, gpus=2)
    waiting = ada.submit(queue=queue, gpus=2, **PRIVATE)
    seen = until(lambda: _explained(bob.job(waiting["id"])))
    assert (seen["is_readable"], seen["is_shared"]) == (False, False)
    assert (seen["owner"], seen["name"], seen["resources"]["gpus"]) == (ada.name, waiting["name"], 2)
    assert seen["reason"]["code"] == "insufficient_resources"
    assert "2 GPU" in seen["reason"]["message"]
    assert (seen["config"], seen["tasks"], seen["description"], seen["tags"]) == ({}, [], "", [])
    assert not any(seen["can"].values())
    line = bob.ok("GET", "/waiting", Waiting, params={"queue": queue})["items"][0]
    assert (line["id"], line["is_readable"]) == (waiting["id"], False)
    ada.finish(holding)


def _explained(job: Data) -> Data | None:
    """The job once the scheduler has looked at it."""
    return job if job["reason"]["code"] != "submitted" else None


def test_how_a_private_job_failed_is_told_as_a_code_only(ada: Api, bob: Api, queue: str) -> None:
    failed = ada.finished(3, queue=queue)
    seen = bob.job(failed["id"])
    assert (seen["state"], seen["reason"]["code"]) == ("FAILED", "task_failed")
    assert seen["reason"]["message_code"] == "details_private"
    assert "exit_code" not in seen["reason"]["details"]
    assert "code 3" in ada.job(failed["id"])["reason"]["message"]


def test_lists_events_and_the_rest_say_nothing_private(private: Data, bob: Api, queue: str) -> None:
    ada_only = {"name": queue, "file": "first-steps.ipynb", "digest": "sha256:" + "0" * 64}
    for name in ABOUT_MANY:
        method, path = name.split()
        if method == "GET" and not name.endswith("/stream"):
            names = {**ada_only, "name": "fake"} if path.startswith("/nodes") else ada_only
            answer = bob.call(method, path.format(**names))
            assert MARK not in answer.text, name


def test_a_search_does_not_tell_what_is_in_private_descriptions_and_tags(
    private: Data, ada: Api, bob: Api
) -> None:
    def found(api: Api, **wanted: str) -> list[str]:
        return [job["id"] for job in api.ok("GET", "/jobs", Jobs, params=wanted)["items"]]

    mine = [private["id"]]
    for wanted in ({"search": MARK}, {"tag": MARK}):
        assert found(ada, **wanted) == mine
        assert found(bob, **wanted) == []
    assert found(bob, search=private["name"]) == mine
    ada.ok("PATCH", f"/jobs/{private['id']}", json={"shared": True})
    for wanted in ({"search": MARK}, {"tag": MARK}):
        assert found(bob, **wanted) == mine


def test_events_of_a_private_job_say_that_something_happened(private: Data, ada: Api, bob: Api) -> None:
    ada.ok("PATCH", f"/jobs/{private['id']}", json={"description": f"{MARK} again"})
    path = f"/jobs/{private['id']}/events"
    whole, outline = (api.ok("GET", path, Events)["items"] for api in (ada, bob))
    assert [one["seq"] for one in whole] == [one["seq"] for one in outline]
    by_kind = {one["kind"]: one for one in outline}
    assert by_kind["running"]["data"]["state"] == "RUNNING"
    assert (
        by_kind["submitted"]["message"] == next(one for one in whole if one["kind"] == "submitted")["message"]
    )
    assert by_kind["edited"]["data"].keys() == {"owner", "queue"}
    ada.ok("PATCH", f"/jobs/{private['id']}", json={"shared": True})
    assert MARK in str(bob.ok("GET", path, Events)["items"])


def test_a_stream_of_events_says_nothing_private(private: Data, ada: Api, bob: Api) -> None:
    with bob.stream("/events/stream") as events:
        ada.ok("PATCH", f"/jobs/{private['id']}", json={"description": f"{MARK} again"})
        edited = next(one for one in events if one.data["job_id"] == private["id"])
    assert edited.data["kind"] == "edited"
    assert MARK not in str(edited.data)


def test_following_a_log_ends_when_it_is_no_longer_shared(
    private: Data, ada: Api, bob: Api, clock: FakeClock
) -> None:
    ada.ok("PATCH", f"/jobs/{private['id']}", json={"shared": True})
    with bob.stream(f"/jobs/{private['id']}/logs/stream") as events:
        assert any(MARK in one.data["text"] for one in events if one.kind == "log")
        ada.ok("PATCH", f"/jobs/{private['id']}", json={"shared": False})
        clock.advance(10)
        ada.write_log(private, b"later\n")
        assert "later" not in str([one.data for one in events])


@pytest.mark.parametrize(
    ("of_queue", "of_job", "status"),
    [
        (False, None, 403),
        (True, None, 200),
        (False, True, 200),
        (True, False, 403),
    ],
)
def test_a_job_is_shared_as_it_says_or_else_as_its_queue_does(
    admin: Api, ada: Api, bob: Api, queue: str, of_queue: bool, of_job: bool | None, status: int
) -> None:
    admin.ok("PATCH", f"/queues/{queue}", json={"is_shared": of_queue})
    job = ada.submit(queue=queue, shared=of_job)
    assert bob.call("GET", f"/jobs/{job['id']}/config").status_code == status
    assert bob.job(job["id"])["is_shared"] is (status == 200)


def test_admins_of_the_queue_and_of_the_platform_look_into_every_job(
    private: Data, admin: Api, hire: Hire, queue: str
) -> None:
    for api in (admin, hire(**{queue: "admin"})):
        assert MARK in api.job(private["id"])["config"]["roles"][0]["command"]
        assert [one["id"] for one in api.ok("GET", "/jobs", params={"tag": MARK})["items"]] == [private["id"]]


def test_a_viewer_looks_into_a_shared_job_but_downloads_no_files(
    private: Data, ada: Api, hire: Hire, queue: str
) -> None:
    ada.ok("PATCH", f"/jobs/{private['id']}", json={"shared": True})
    viewer = hire(**{queue: "viewer"})
    assert MARK in viewer.call("GET", f"/jobs/{private['id']}/logs").text
    viewer.refused("GET", f"/jobs/{private['id']}/download", 403, says="viewer")
