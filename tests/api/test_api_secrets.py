"""Secrets over REST: who may set and use them, and that no value ever comes back."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from apiclient import PASSWORD, Api, Data, Hire, Sign, fresh
from test_api_routes import OPERATIONS

from footplate.services import secrets as service
from footplate.store.tables import secrets as table
from footplate.testing.fake_clock import FakeClock
from footplate.testing.server import Served
from footplate.wire import secrets as w

VALUE = "hunter22-is-the-value"
LOGIN = {"kind": "registry", "server": "registry.example.com:5000", "username": "ada", "password": VALUE}


def put(api: Api, name: str = "", status: int = 200, **body: Any) -> Data:
    return api.ok("PUT", f"/secrets/{name or fresh('secret')}", w.SecretBody, status, json=body)


def names(api: Api) -> list[tuple[str, str | None]]:
    return [(one["name"], one["queue"]) for one in api.ok("GET", "/secrets", w.Secrets)["items"]]


@pytest.fixture
def queue(admin: Api) -> str:
    name = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": name})
    return name


def test_a_secret_is_told_of_without_its_value(hire: Hire, clock: FakeClock) -> None:
    ada = hire(default="member")
    made = put(ada, "wandb", value=VALUE)
    assert (made["name"], made["kind"], made["owner"], made["queue"]) == ("wandb", "value", ada.name, None)
    assert made["last_used_at"] is None
    clock.advance(5)
    again = put(ada, "wandb", value="another")
    assert again["created_at"] == made["created_at"] < again["updated_at"]
    assert ada.ok("GET", "/secrets", w.Secrets)["items"] == [again]


def test_a_secret_that_was_deleted_is_gone(hire: Hire) -> None:
    ada = hire(default="member")
    put(ada, "wandb", value=VALUE)
    ada.ok("DELETE", "/secrets/wandb", status=204)
    assert names(ada) == []
    ada.refused("DELETE", "/secrets/wandb", 404, says="you have no secret 'wandb'")


def test_people_do_not_see_or_touch_the_secrets_of_others(hire: Hire, admin: Api) -> None:
    ada, bob = hire(default="member"), hire(default="member")
    put(ada, "mine", value=VALUE)
    for other in (bob, admin):
        assert ("mine", None) not in names(other)
        other.refused("DELETE", "/secrets/mine", 404)
    put(bob, "mine", value="of bob")
    assert names(ada) == [("mine", None)]


RIGHTS = {"admin": (200, True), "member": (403, True), "viewer": (403, False), None: (404, False)}


@pytest.mark.parametrize("role", RIGHTS)
def test_a_queues_secrets_are_set_by_its_admins_and_used_by_its_members(
    admin: Api, hire: Hire, queue: str, role: str | None
) -> None:
    status, may_use = RIGHTS[role]
    caller = hire(**({queue: role} if role else {}))
    put(admin, "shared", queue=queue, value=VALUE)
    answer = caller.call("PUT", "/secrets/shared", json={"value": "new", "queue": queue})
    assert answer.status_code == status, answer.text
    assert (("shared", queue) in names(caller)) is may_use
    answer = caller.call("DELETE", "/secrets/shared", params={"queue": queue})
    assert answer.status_code == (204 if status == 200 else status), answer.text


def test_a_secret_of_a_queue_that_is_not_there_is_refused(admin: Api) -> None:
    admin.refused("PUT", "/secrets/x", 404, json={"value": "x", "queue": "nothing-such"})
    admin.refused("DELETE", "/secrets/x", 404, params={"queue": "nothing-such"})


def test_a_job_may_not_set_list_or_delete_secrets(ann: Api, server: Served, sign: Sign) -> None:
    job = ann.running()
    task = sign(server.parts.tokens.issue(job["id"], 0))
    task.refused("PUT", "/secrets/x", 403, json={"value": "x"})
    task.refused("GET", "/secrets", 403)
    task.refused("DELETE", "/secrets/x", 403)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "value"),
        ({"value": ""}, "value"),
        ({"value": None}, "value"),
        ({"value": 5}, "value"),
        ({"value": "a\0b"}, "value"),
        ({"value": "x" * 65_537}, "value"),
        ({"value": "密" * 30_000}, "value"),
        ({"value": "x", "kind": "other"}, "kind"),
        ({"value": "x", "password": "y"}, "password"),
        ({"value": "x", "queue": "a b"}, "queue"),
        ({"value": "x", "more": 1}, "more"),
        ({**LOGIN, "value": "x"}, "value"),
        ({**LOGIN, "server": "https://registry.example.com"}, "server"),
        ({**LOGIN, "server": None}, "server"),
        ({**LOGIN, "username": ""}, "username"),
        ({**LOGIN, "password": "a\nb"}, "password"),
    ],
)
def test_bad_input_is_refused_by_its_field(ann: Api, body: Data, field: str) -> None:
    refusal = ann.refused("PUT", "/secrets/bad", 422, field, json=body)
    assert VALUE not in str(refusal)
    assert ("bad", None) not in names(ann)


@pytest.mark.parametrize("name", ["a b", ".x", "x" * 64, "%C3%A4", "%00"])
def test_a_bad_name_is_refused(ann: Api, name: str) -> None:
    ann.refused("PUT", f"/secrets/{name}", 422, "name", json={"value": "x"})


def test_a_lone_half_of_a_character_is_refused(ann: Api) -> None:
    content = b'{"value": "\\ud800"}'
    ann.refused("PUT", "/secrets/bad", 422, content=content, headers={"Content-Type": "application/json"})


def test_nobody_keeps_more_secrets_than_there_may_be(hire: Hire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_OF_A_SCOPE", 2)
    ada = hire(default="member")
    put(ada, "a", value="x")
    put(ada, "b", value="x")
    ada.refused("PUT", "/secrets/c", 409, json={"value": "x"}, says="delete some")
    put(ada, "b", value="still replaced")


def test_the_secrets_of_a_removed_account_do_not_wait_for_the_next_of_its_name(
    admin: Api, hire: Hire, server: Served, sign: Sign
) -> None:
    ada = hire(default="member")
    put(ada, "wandb", value=VALUE)
    admin.ok("DELETE", f"/users/{ada.name}", status=204)
    admin.ok("POST", "/users", status=201, json={"name": ada.name, "password": PASSWORD})
    assert names(sign(server.sign_in(ada.name, PASSWORD))) == []


def test_the_secrets_of_a_removed_queue_are_gone(admin: Api, queue: str) -> None:
    put(admin, "shared", queue=queue, value=VALUE)
    admin.ok("DELETE", f"/queues/{queue}", status=204)
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    assert ("shared", queue) not in names(admin)


# Jobs that name secrets


def test_a_job_may_name_secrets_of_its_owner_and_of_its_queue(admin: Api, hire: Hire, queue: str) -> None:
    ada = hire(**{queue: "member"})
    put(ada, "mine", value=VALUE)
    put(admin, "shared", queue=queue, value=VALUE)
    job = ada.submit(queue=queue, secrets={"A": "mine", "B": "shared"})
    assert job["config"]["secrets"] == {"A": "mine", "B": "shared"}


def refuse(api: Api, field: str, says: str, **fields: Any) -> None:
    """A submit, its dry run and a clone are refused alike."""
    document = {"name": fresh("job"), "command": "wait", **fields}
    for path in ("/jobs", "/jobs/dry-run"):
        api.refused("POST", path, 422, field, says=says, json=document)


def test_a_secret_that_is_not_there_is_refused_by_the_variable_that_it_was_for(ann: Api) -> None:
    refuse(
        ann,
        "secrets.TOKEN",
        "there is no secret nothing-such that you may use",
        secrets={"TOKEN": "nothing-such"},
    )


def test_a_job_may_not_name_the_secret_of_somebody_else(hire: Hire, ann: Api) -> None:
    put(hire(default="member"), "of-another", value=VALUE)
    refuse(ann, "secrets.TOKEN", "of-another", secrets={"TOKEN": "of-another"})


def test_a_job_may_not_name_the_secret_of_another_queue(admin: Api, hire: Hire, queue: str) -> None:
    put(admin, "elsewhere", queue=queue, value=VALUE)
    both = hire(default="member", **{queue: "member"})
    refuse(both, "secrets.TOKEN", "in queue default", secrets={"TOKEN": "elsewhere"})


def test_a_clone_needs_the_secrets_of_who_clones(hire: Hire, queue: str) -> None:
    ada, bob = hire(**{queue: "member"}), hire(**{queue: "member"})
    put(ada, "mine", value=VALUE)
    job = ada.submit(queue=queue, secrets={"A": "mine"}, shared=True)
    bob.refused("POST", f"/jobs/{job['id']}/clone", 422, "secrets.A")


def test_every_secret_at_fault_is_named_at_once(ann: Api) -> None:
    put(ann, "login", **LOGIN)
    put(ann, "plain", value=VALUE)
    fields = {
        "secrets": {"A": "login", "B": "gone", "C": "plain"},
        "image": "x/y",
        "image_credentials": "plain",
    }
    body = ann.refused("POST", "/jobs", 422, json={"name": "many", "command": "wait", **fields})
    assert {problem["path"]: problem["message"] for problem in body["problems"]} == {
        "secrets.A": "secret login is of kind registry, not value",
        "secrets.B": "there is no secret gone that you may use in queue default: "
        "add it with `footplate secrets set gone` or on the page Secrets",
        "image_credentials": "secret plain is of kind value, not registry",
    }


def test_a_job_may_name_a_login_for_its_image(ann: Api) -> None:
    put(ann, "hub", **LOGIN)
    assert ann.submit(image="x/y", image_credentials="hub")["config"]["image_credentials"] == "hub"
    refuse(ann, "image_credentials", "no secret gone", image="x/y", image_credentials="gone")


def test_a_submit_that_is_repeated_is_answered_although_its_secret_is_gone(ann: Api) -> None:
    put(ann, "fleeting", value=VALUE)
    document = {"name": fresh("job"), "command": "wait", "secrets": {"A": "fleeting"}}
    key = {"Idempotency-Key": fresh("key")}
    first = ann.ok("POST", "/jobs", status=201, json=document, headers=key)
    ann.ok("DELETE", "/secrets/fleeting", status=204)
    again = ann.call("POST", "/jobs", json=document, headers=key)
    assert again.is_success, again.text
    assert again.json()["id"] == first["id"]


# Never in plain sight


@pytest.fixture
def every_log_line() -> Iterator[list[str]]:
    """All that anything in this process logs, down to the finest."""
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    root, keep = logging.getLogger(), Keep()
    before = root.level
    root.addHandler(keep)
    root.setLevel(logging.DEBUG)
    yield lines
    root.setLevel(before)
    root.removeHandler(keep)


def stored_bytes(server: Served) -> bytes:
    """Every file of the home folder, and every row of secrets as the database has it."""
    files = [path.read_bytes() for path in server.home.rglob("*") if path.is_file()]
    rows = server.run(
        server.parts.platform.store.read(lambda connection: connection.execute(sa.select(table)).all())
    )
    return b"".join([*files, *(repr(tuple(row)).encode() for row in rows)])


def test_a_value_is_in_no_answer_no_log_line_and_no_file(
    admin: Api, queue: str, server: Served, every_log_line: list[str]
) -> None:
    put(admin, "plain", value=VALUE)
    put(admin, "shared", queue=queue, value=VALUE)
    put(admin, "login", **LOGIN)
    fields = {"secrets": {"A": "plain", "B": "shared"}, "image": "x/y", "image_credentials": "login"}
    job = admin.running(queue=queue, **fields)
    admin.ok("POST", "/jobs/dry-run", json={"name": "dry", "command": "wait", "queue": queue, **fields})
    asked = [
        name.split()[1] for name, one in OPERATIONS.items() if name.startswith("GET ") and not one.is_stream
    ]
    known = {"job_id": job["id"], "name": queue, "user": "admin", "what": "output"}
    for path in asked:
        found = path.format_map(defaultdict(lambda: "0" * 12, known))
        assert VALUE not in admin.call("GET", found).text, path
    with admin.stream("/events/stream", after=0) as events:
        assert VALUE not in str(next(events))
    assert not [line for line in every_log_line if VALUE in line]
    assert VALUE.encode() not in stored_bytes(server)


def test_a_value_that_is_refused_is_not_logged(ann: Api, every_log_line: list[str]) -> None:
    answer = ann.call("PUT", "/secrets/bad", json={"value": [VALUE], "password": {"x": VALUE}})
    assert answer.status_code == 422
    assert VALUE not in answer.text
    assert not [line for line in every_log_line if VALUE in line]


def test_the_key_is_for_the_servers_user_alone(server: Served) -> None:
    key = Path(server.home / "secret")
    assert (key.stat().st_mode & 0o777, key.stat().st_size) == (0o600, 32)
    assert not (server.home / "secret.new").exists()
