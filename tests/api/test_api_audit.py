"""The trail of who changed what, and the order in which jobs wait."""

from __future__ import annotations

import csv
import io
import json

import pytest
from apiclient import PASSWORD, Api, Hire, fresh

from footplate.domain.kinds import show_instant
from footplate.testing.fake_clock import FakeClock
from footplate.testing.server import until
from footplate.wire.audit import Audit
from footplate.wire.jobs import Waiting


def test_every_change_of_the_platform_leaves_a_line(admin: Api) -> None:
    queue, user = fresh("queue"), fresh("user")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    admin.ok("PATCH", f"/queues/{queue}", json={"description": "x"})
    admin.ok("POST", "/users", status=201, json={"name": user, "password": PASSWORD})
    admin.ok("PATCH", f"/users/{user}", json={"password": PASSWORD + "!"})
    admin.ok("PUT", f"/queues/{queue}/members/{user}", status=204, json={"role": "viewer"})
    admin.ok("DELETE", f"/queues/{queue}/members/{user}", status=204)
    admin.ok("PUT", f"/images/{fresh('image')}", json={"reference": "busybox:1"})
    admin.ok("PUT", f"/secrets/{fresh('secret')}", json={"value": "hush hush"})
    admin.ok("PATCH", "/nodes/fake", json={"is_schedulable": True})
    admin.ok("DELETE", f"/users/{user}", status=204)
    admin.ok("DELETE", f"/queues/{queue}", status=204)
    trail = admin.ok("GET", "/audit?limit=11", Audit)["items"]
    assert [one["action"] for one in reversed(trail)] == [
        "queue.added",
        "queue.changed",
        "user.added",
        "user.changed",
        "member.set",
        "member.removed",
        "image.set",
        "secret.set",
        "node.opened",
        "user.removed",
        "queue.removed",
    ]
    assert {one["actor"] for one in trail} == {"admin"}
    assert trail[7]["detail"] == {"changes": {"password": None}}
    assert trail[9]["detail"] == {"changes": {"description": ["", "x"]}}
    assert "hush" not in str(trail)
    assert PASSWORD not in str(trail)


def test_a_change_that_was_refused_leaves_none(admin: Api) -> None:
    newest = admin.ok("GET", "/audit?limit=1", Audit)["items"]
    admin.refused("DELETE", "/queues/default", 409)
    admin.refused("DELETE", f"/images/{fresh('none')}", 404)
    assert admin.ok("GET", "/audit?limit=1", Audit)["items"] == newest


def test_the_trail_is_read_page_by_page_and_by_actor(admin: Api, ann: Api) -> None:
    ann.ok("PUT", f"/secrets/{fresh('mine')}", json={"value": "hush hush"})
    (mine,) = admin.ok("GET", f"/audit?actor={ann.name}&limit=1")["items"]
    assert mine["action"] == "secret.set"
    older = admin.ok("GET", f"/audit?before={mine['seq']}&limit=5")["items"]
    assert all(one["seq"] < mine["seq"] for one in older)
    ann.refused("GET", "/audit", 403)


@pytest.mark.parametrize(("was", "became"), [(False, True), (True, False)])
def test_the_trail_tells_who_became_an_admin_from_who_no_longer_is(
    admin: Api, hire: Hire, was: bool, became: bool
) -> None:
    user = hire(is_admin=was)
    admin.ok("PATCH", f"/users/{user.name}", json={"is_admin": became})
    (line,) = admin.ok("GET", "/audit", Audit, params={"subject": user.name, "action": "user.changed"})[
        "items"
    ]
    assert line["detail"] == {"changes": {"is_admin": [was, became]}}


def test_the_trail_tells_what_a_queue_was_given(admin: Api) -> None:
    queue = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": queue, "share": {"gpus": 1}})
    admin.ok("PATCH", f"/queues/{queue}", json={"share": {"gpus": 2}, "is_open": True})
    changed, added = admin.ok("GET", "/audit", Audit, params={"subject": queue})["items"]
    one, two = ({"cpus": 0, "memory_bytes": 0, "gpus": n} for n in (1, 2))
    assert added["detail"]["changes"]["share"][1] == one
    assert changed["detail"] == {"changes": {"share": [one, two]}}


def test_what_an_admin_does_to_the_job_of_another_is_noted_and_what_its_owner_does_is_not(
    admin: Api, ann: Api
) -> None:
    stopped, own = ann.running(cpus=0.1), ann.running(cpus=0.1)
    admin.ok("POST", f"/jobs/{stopped['id']}/stop")
    ann.ok("POST", f"/jobs/{own['id']}/stop")
    admin.ok("DELETE", f"/jobs/{ann.until(stopped, 'STOPPED')['id']}", status=204)
    found = admin.ok("GET", "/audit", Audit, params={"subject": stopped["id"]})["items"]
    assert [one["action"] for one in found] == ["job.delete", "job.stop"]
    assert found[0]["detail"] == {"name": stopped["name"], "owner": ann.name, "queue": "default"}
    assert admin.ok("GET", "/audit", Audit, params={"subject": own["id"]})["items"] == []


def test_the_trail_is_filtered_by_action_and_by_time(admin: Api, clock: FakeClock) -> None:
    name = fresh("timed")
    admin.ok("PUT", f"/secrets/{name}", json={"value": "hush hush"})
    clock.advance(10)
    between = show_instant(clock.now())
    clock.advance(10)
    admin.ok("DELETE", f"/secrets/{name}", status=204)

    def found(**params: str) -> list[str]:
        lines = admin.ok("GET", "/audit", Audit, params={"subject": name.upper(), **params})["items"]
        return [one["action"] for one in lines]

    assert found() == ["secret.removed", "secret.set"]
    assert found(until=between) == ["secret.set"]
    assert found(since=between) == ["secret.removed"]
    assert found(action="secret.set") == ["secret.set"]
    assert found(subject="%") == []
    admin.refused("GET", "/audit", 422, "since", params={"since": "yesterday"})


def test_the_trail_is_exported_as_a_table_that_runs_nothing(admin: Api) -> None:
    queue = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": queue, "description": '=cmd("x"), "quoted"'})
    for role in ("member", "viewer") * 300:
        admin.ok("PUT", f"/queues/{queue}/members/admin", status=204, json={"role": role})
    answer = admin.call("GET", "/audit/export", params={"subject": queue})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 601
    assert len({row["seq"] for row in rows}) == 601
    assert rows[-1]["action"] == "queue.added"
    assert json.loads(rows[-1]["detail"])["changes"]["description"][1] == '=cmd("x"), "quoted"'
    assert not any(value.startswith(("=", "+", "-", "@")) for row in rows for value in row.values())


def test_waiting_jobs_are_listed_in_the_order_of_their_start(admin: Api, hire: Hire) -> None:
    ann, stranger = hire(default="member"), hire()
    holders = [ann.running(cpus=4) for _ in range(2)]
    late = ann.submit(cpus=4)
    urgent = ann.submit(cpus=4, priority=5)
    told = until(lambda: _both(ann.ok("GET", "/waiting", Waiting)))
    assert [one["id"] for one in told["items"]] == [urgent["id"], late["id"]]
    assert [one["position"] for one in told["items"]] == [0, 1]
    assert told["items"][0]["estimate"] is not None
    assert stranger.ok("GET", "/waiting", Waiting) == {"items": [], "n_waiting": 2}
    for one in (*holders, late, urgent):
        ann.ok("POST", f"/jobs/{one['id']}/stop")


def _both(told: dict) -> dict | None:  # type: ignore[type-arg]
    return told if len(told["items"]) == 2 else None
