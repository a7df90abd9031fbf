"""The trail of who changed what, and the order in which jobs wait."""

from __future__ import annotations

from apiclient import PASSWORD, Api, Hire, fresh

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
    assert trail[7]["detail"] == {"fields": ["password"]}
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
