"""Accounts over REST: who may see and touch what, and why not."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from apiclient import NODE, PASSWORD, Api, Data, Hire, Sign, fresh

from footplate.sdk.client import Client
from footplate.store.usagefiles import Sample
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine, FakeTasks
from footplate.testing.server import ADMIN_PASSWORD, Served, served, until
from footplate.wire.accounts import IssuedToken, Me, RevokedTokens, Tokens, UserBody, Users
from footplate.wire.jobs import Jobs
from footplate.wire.nodes import NodeBody, NodeDetail, Nodes, NodeUsageBody
from footplate.wire.platform import Summary
from footplate.wire.queues import Members, QueueBody


@pytest.fixture
def queue(admin: Api) -> str:
    """A queue of its own, shared with nobody yet."""
    name = fresh("queue")
    admin.ok("POST", "/queues", QueueBody, 201, json={"name": name})
    return name


def test_signing_in_gives_a_token_that_says_who_one_is(nobody: Api, ann: Api, sign: Sign) -> None:
    login = {"user": ann.name, "password": PASSWORD, "name": "laptop", "expires_in_s": 3600}
    issued = nobody.ok("POST", "/login", IssuedToken, json=login)
    mine = sign(issued["token"])
    me = mine.ok("GET", "/me", Me)
    assert me == {
        "name": ann.name,
        "is_admin": False,
        "job_id": None,
        "queues": [{"name": "default", "role": "member"}],
    }


@pytest.mark.parametrize(("user", "password"), [("admin", "wrong password"), ("nobody-there", "x"), ("", "")])
def test_a_wrong_name_or_password_is_refused_alike(nobody: Api, user: str, password: str) -> None:
    body = nobody.refused("POST", "/login", 401, json={"user": user, "password": password})
    assert body["message"] == f"wrong name or password for {user!r}"


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Basic YWRtaW46eA==", "Bearer fp_unknown", "bearer \xff", "Bearer fpj_x_0_y"]
)
def test_a_call_without_a_valid_token_is_refused_and_says_what_to_do(nobody: Api, header: str) -> None:
    headers = {"Authorization": header.encode("latin-1")}
    body = nobody.refused("GET", "/me", 401, says="footplate login", headers=headers)
    assert body["code"] == "unauthenticated"


def test_a_login_that_replaces_leaves_one_token_of_its_name(nobody: Api, hire: Hire, sign: Sign) -> None:
    ann, bob = hire(), hire()

    def login(user: str, name: str, **more: bool) -> Api:
        body = {"user": user, "password": PASSWORD, "name": name, **more}
        return sign(nobody.ok("POST", "/login", IssuedToken, json=body)["token"])

    first, other = login(ann.name, "cli ann@laptop"), login(ann.name, "cli ann@desk")
    foreign, program = login(bob.name, "cli ann@laptop"), login(ann.name, "sdk")
    first.ok("GET", "/me")
    second = login(ann.name, "cli ann@laptop", replaces=True)
    first.refused("GET", "/me", 401)
    for kept in (second, other, foreign, program):
        kept.ok("GET", "/me")
    names = [token["name"] for token in ann.ok("GET", "/tokens", Tokens)["items"]]
    assert sorted(names) == ["cli ann@desk", "cli ann@laptop", "login", "sdk"]


def test_a_login_with_a_wrong_password_replaces_nothing(nobody: Api, hire: Hire, sign: Sign) -> None:
    ann = hire()
    body = {"user": ann.name, "password": PASSWORD, "name": "cli"}
    first = sign(nobody.ok("POST", "/login", IssuedToken, json=body)["token"])
    nobody.refused("POST", "/login", 401, json={**body, "password": "wrong", "replaces": True})
    first.ok("GET", "/me")


def test_tokens_are_listed_without_their_secret_and_revoked(ann: Api, sign: Sign) -> None:
    issued = ann.ok("POST", "/tokens", IssuedToken, 201, json={"name": "ci"})
    ci = sign(issued["token"])
    ci.ok("GET", "/me", Me)
    listed = ann.ok("GET", "/tokens", Tokens)["items"]
    assert "ci" in [token["name"] for token in listed]
    assert issued["token"] not in str(listed)
    ann.ok("DELETE", f"/tokens/{issued['id']}", status=204)
    ci.refused("GET", "/me", 401)
    ann.refused("DELETE", f"/tokens/{issued['id']}", 404)


def test_nobody_revokes_the_tokens_of_others(ann: Api, admin: Api) -> None:
    token = ann.ok("POST", "/tokens", IssuedToken, 201, json={"name": "mine"})
    admin.refused("DELETE", f"/tokens/{token['id']}", 404)


def test_all_tokens_but_the_one_in_use_are_revoked_at_once(hire: Hire, sign: Sign) -> None:
    somebody, other = hire(), hire()
    lost = [somebody.ok("POST", "/tokens", IssuedToken, 201, json={"name": "ci"})["token"] for _ in range(2)]
    assert somebody.ok("DELETE", "/tokens", RevokedTokens) == {"n_revoked": 2}
    for token in lost:
        sign(token).refused("GET", "/me", 401)
    (kept,) = somebody.ok("GET", "/tokens", Tokens)["items"]
    assert kept["is_current"]
    assert other.ok("GET", "/tokens", Tokens)["items"]
    assert somebody.ok("DELETE", "/tokens", RevokedTokens) == {"n_revoked": 0}


def test_a_token_expires_to_the_second(ann: Api, sign: Sign, clock: FakeClock) -> None:
    issued = ann.ok("POST", "/tokens", IssuedToken, 201, json={"name": "short", "expires_in_s": 60})
    short = sign(issued["token"])
    clock.advance(58)
    short.ok("GET", "/me", Me)
    clock.advance(2)
    short.refused("GET", "/me", 401, says="has expired")


def test_a_changed_password_ends_every_session(hire: Hire, server: Served) -> None:
    user = hire()
    change = {"old_password": PASSWORD, "new_password": "another long one"}
    user.refused("POST", "/me/password", 422, "old_password", json={**change, "old_password": "wrong"})
    user.refused("POST", "/me/password", 422, "new_password", json={**change, "new_password": "short"})
    user.ok("POST", "/me/password", status=204, json=change)
    user.refused("GET", "/me", 401)
    assert server.sign_in(user.name, "another long one")


@pytest.fixture
def quick_server(tmp_path: Path) -> Iterator[Served]:
    """A server whose throttle no other test shares."""
    clock = FakeClock()
    with served(tmp_path / "home", FakeEngine(clock, [NODE]), clock) as running:
        yield running


def test_guessing_passwords_is_slowed_down(quick_server: Served) -> None:
    clock = quick_server.clock
    assert isinstance(clock, FakeClock)
    guess = {"user": "admin", "password": "a guess"}
    right = {"user": "admin", "password": ADMIN_PASSWORD}
    with Api(quick_server) as stranger:
        for _ in range(5):
            stranger.refused("POST", "/login", 401, json=guess)
        answer = stranger.call("POST", "/login", json=right)
        assert (answer.status_code, answer.json()["code"]) == (429, "throttled")
        wait_s = int(answer.headers["retry-after"])
        assert 1 <= wait_s <= 2
        clock.advance(wait_s)
        stranger.refused("POST", "/login", 401, json=guess)
        assert int(stranger.call("POST", "/login", json=guess).headers["retry-after"]) == 4
        clock.advance(4)
        stranger.ok("POST", "/login", IssuedToken, json=right)
        stranger.refused("POST", "/login", 401, json=guess)


def test_only_a_trusted_proxy_is_believed_whose_login_it_is(tmp_path: Path) -> None:
    def sign_in(server: Served, caller: str, password: str) -> int:
        with Api(server) as proxy:
            body = {"user": "admin", "password": password}
            return proxy.call("POST", "/login", json=body, headers={"X-Forwarded-For": caller}).status_code

    def as_others_do(server: Served, caller: str) -> list[int]:
        forwarded, account = {"X-Forwarded-For": caller}, ("admin", ADMIN_PASSWORD)
        models = httpx.get(f"{server.url}/v1/models", headers=forwarded, auth=account)
        body = dict(zip(("username", "password"), account, strict=True))
        pages = httpx.post(f"{server.url}/cc/v1/LDAPlogin", headers=forwarded, json=body)
        return [models.status_code, pages.status_code]

    clock = FakeClock()
    for number, (trusted, expected) in enumerate([(("127.0.0.1",), 200), ((), 429)]):
        home = tmp_path / str(number)
        with served(home, FakeEngine(clock, [NODE]), clock, trusted_proxies=trusted) as server:
            for _ in range(5):
                assert sign_in(server, "192.0.2.1", "a guess") == 401
            assert sign_in(server, "192.0.2.2", ADMIN_PASSWORD) == expected
            # The ways in of other systems' clients count alike.
            assert as_others_do(server, "192.0.2.3") == [expected, expected]


def test_people_who_sign_in_at_the_same_moment_are_all_let_in(quick_server: Served) -> None:
    with Client(quick_server.url, user="admin", password=ADMIN_PASSWORD) as shared:
        clients = [Client(quick_server.url, user="admin", password=ADMIN_PASSWORD) for _ in range(8)]
        with ThreadPoolExecutor(16) as threads:
            names = list(threads.map(lambda client: client.whoami()["name"], [shared] * 8 + clients))
        assert names == ["admin"] * 16
        # One for the client that threads share; each goes with its client.
        assert [token["name"] for token in shared.tokens()].count("session") == 9
        for client in clients:
            client.close()
        assert [token["name"] for token in shared.tokens()].count("session") == 1


RIGHTS: dict[str, dict[str, int]] = {
    # What each may do with a job of somebody else in the queue, and with the queue.
    "stranger": {
        "see": 404,
        "stop": 404,
        "edit": 404,
        "delete": 404,
        "submit": 404,
        "queue": 404,
        "members": 404,
    },
    "viewer": {
        "see": 200,
        "stop": 403,
        "edit": 403,
        "delete": 403,
        "submit": 403,
        "queue": 200,
        "members": 403,
    },
    "member": {
        "see": 200,
        "stop": 403,
        "edit": 403,
        "delete": 403,
        "submit": 201,
        "queue": 200,
        "members": 403,
    },
    "admin": {
        "see": 200,
        "stop": 200,
        "edit": 200,
        "delete": 202,
        "submit": 201,
        "queue": 200,
        "members": 200,
    },
    "platform admin": {
        "see": 200,
        "stop": 200,
        "edit": 200,
        "delete": 202,
        "submit": 201,
        "queue": 200,
        "members": 200,
    },
}


@pytest.mark.parametrize("role", RIGHTS)
def test_a_role_in_a_queue_gives_these_rights(admin: Api, hire: Hire, queue: str, role: str) -> None:
    owner = hire(**{queue: "member"})
    roles = {queue: role} if role in ("viewer", "member", "admin") else {}
    caller = hire(is_admin=role == "platform admin", **roles)
    job, other = owner.running(queue=queue, cpus=0.1), owner.running(queue=queue, cpus=0.1)
    listed = {one["id"] for one in caller.ok("GET", "/jobs", Jobs)["items"]}
    assert (job["id"] in listed) is (RIGHTS[role]["see"] == 200)
    submission = {"name": fresh("job"), "command": "wait", "queue": queue, "cpus": 0.1}
    calls: dict[str, tuple[str, str, Data]] = {
        "see": ("GET", f"/jobs/{job['id']}", {}),
        "edit": ("PATCH", f"/jobs/{job['id']}", {"json": {"description": "changed"}}),
        "stop": ("POST", f"/jobs/{job['id']}/stop", {}),
        "delete": ("DELETE", f"/jobs/{other['id']}", {}),
        "submit": ("POST", "/jobs", {"json": submission}),
        "queue": ("GET", f"/queues/{queue}", {}),
        "members": ("GET", f"/queues/{queue}/members", {}),
    }
    seen = {what: caller.call(*call[:2], **call[2]) for what, call in calls.items()}
    assert {what: answer.status_code for what, answer in seen.items()} == RIGHTS[role]
    for answer in seen.values():
        if answer.status_code == 403:
            message = answer.json()["message"]
            assert caller.name in message or "viewer" in message or owner.name in message


def test_what_one_may_do_is_told_with_the_job(admin: Api, hire: Hire, queue: str) -> None:
    owner, viewer = hire(**{queue: "member"}), hire(**{queue: "viewer"})
    job = owner.submit(queue=queue)
    can = {verb for verb, allowed in owner.until(job, "RUNNING")["can"].items() if allowed}
    assert can == {"stop", "halt", "preempt", "edit", "delete"}
    assert not any(viewer.job(job["id"])["can"].values())


def test_an_owner_who_left_the_queue_still_sees_their_job_but_cannot_touch_it(
    admin: Api, hire: Hire, queue: str
) -> None:
    owner = hire(**{queue: "member"})
    job = owner.running(queue=queue)
    admin.ok("DELETE", f"/queues/{queue}/members/{owner.name}", status=204)
    owner.job(job["id"])
    owner.refused("POST", f"/jobs/{job['id']}/stop", 403, says=queue)


def test_members_of_a_queue_are_listed_put_and_removed_by_its_admin(
    admin: Api, hire: Hire, queue: str
) -> None:
    boss, worker = hire(**{queue: "admin"}), hire()
    boss.ok("PUT", f"/queues/{queue}/members/{worker.name}", status=204, json={"role": "viewer"})
    boss.ok("PUT", f"/queues/{queue}/members/{worker.name}", status=204, json={"role": "member"})
    members = boss.ok("GET", f"/queues/{queue}/members", Members)["items"]
    assert {one["user"]: one["role"] for one in members} == {boss.name: "admin", worker.name: "member"}
    worker.submit(queue=queue)
    boss.refused("PUT", f"/queues/{queue}/members/nobody-there", 404, json={"role": "viewer"})
    boss.refused("PUT", f"/queues/{queue}/members/{worker.name}", 422, "role", json={"role": "king"})
    boss.ok("DELETE", f"/queues/{queue}/members/{worker.name}", status=204)
    worker.refused("POST", "/jobs", 404, json={"name": "x", "command": "wait", "queue": queue})
    boss.refused("DELETE", f"/queues/{queue}/members/{worker.name}", 404)


def test_only_platform_admins_manage_users_queues_and_nodes(ann: Api, admin: Api, queue: str) -> None:
    for method, path, body in (
        ("GET", "/users", None),
        ("GET", "/users/admin", None),
        ("POST", "/users", {"name": "eve", "password": PASSWORD}),
        ("PATCH", f"/users/{ann.name}", {"is_admin": True}),
        ("DELETE", "/users/admin", None),
        ("POST", "/queues", {"name": "mine"}),
        ("PATCH", "/queues/default", {"is_open": False}),
        ("DELETE", "/queues/default", None),
        ("PATCH", "/nodes/fake", {"is_schedulable": False}),
    ):
        sent: Data = {} if body is None else {"json": body}
        refusal = ann.refused(method, path, 403, None, "only a platform admin may", **sent)
        assert refusal["code"] == "denied"
    assert ann.ok("GET", f"/users/{ann.name}", UserBody)["is_admin"] is False


def test_people_say_who_they_are_and_admins_see_when_they_were_there(
    admin: Api, hire: Hire, clock: FakeClock
) -> None:
    eve = hire(default="member")
    wanted = {"full_name": "Eve Ad", "email": "e@x.org"}
    changed = eve.ok("PATCH", f"/users/{eve.name}", UserBody, json=wanted)
    assert (changed["full_name"], changed["email"]) == ("Eve Ad", "e@x.org")
    for refused in ({"is_admin": True}, {"full_name": "x", "is_enabled": True}, {"password": PASSWORD}):
        eve.refused("PATCH", f"/users/{eve.name}", 403, json=refused)
    eve.refused("PATCH", f"/users/{admin.ok('GET', '/me')['name']}", 403, json={"full_name": "x"})
    admin.refused("PATCH", f"/users/{eve.name}", 422, "email", json={"email": "no address"})
    [told] = admin.ok("GET", "/audit", params={"subject": eve.name, "action": "user.changed"})["items"]
    assert told["detail"] == {"changes": {"full_name": ["", "Eve Ad"], "email": ["", "e@x.org"]}}
    before = admin.ok("GET", f"/users/{eve.name}")["last_seen_at"]
    clock.advance(3600)
    eve.ok("GET", "/me")
    assert admin.ok("GET", f"/users/{eve.name}")["last_seen_at"] > before
    new = {"name": fresh("u"), "password": PASSWORD, "full_name": "New", "email": "n@x.org"}
    made = admin.ok("POST", "/users", UserBody, status=201, json=new)
    assert (made["full_name"], made["email"], made["last_seen_at"]) == ("New", "n@x.org", None)


def test_the_last_admin_stays(quick_server: Served) -> None:
    second = {"name": "two", "password": PASSWORD, "is_admin": True}
    with Api(quick_server, quick_server.sign_in()) as admin:
        admin.refused("DELETE", "/users/admin", 409, says="last enabled admin")
        for change in ({"is_admin": False}, {"is_enabled": False}):
            admin.refused("PATCH", "/users/admin", 409, says="last enabled admin", json=change)
        admin.ok("POST", "/users", UserBody, 201, json=second)
        admin.ok("PATCH", "/users/admin", UserBody, json={"is_admin": False})
        admin.refused("GET", "/users", 403)


def test_a_disabled_account_is_shut_out_until_it_is_enabled(admin: Api, hire: Hire) -> None:
    user = hire(default="member")
    admin.ok("PATCH", f"/users/{user.name}", UserBody, json={"is_enabled": False})
    user.refused("GET", "/me", 401, says="disabled")
    user.refused("POST", "/login", 401, says="disabled", json={"user": user.name, "password": PASSWORD})
    admin.ok("PATCH", f"/users/{user.name}", UserBody, json={"is_enabled": True})
    user.ok("GET", "/me", Me)


def test_a_password_set_by_an_admin_ends_the_users_sessions(admin: Api, hire: Hire, server: Served) -> None:
    user = hire()
    admin.ok("PATCH", f"/users/{user.name}", UserBody, json={"password": "set by an admin"})
    user.refused("GET", "/me", 401)
    assert server.sign_in(user.name, "set by an admin")


def test_a_removed_account_is_gone_and_its_jobs_stay(admin: Api, hire: Hire) -> None:
    user = hire(default="member")
    job = user.running()
    admin.ok("DELETE", f"/users/{user.name}", status=204)
    user.refused("GET", "/me", 401)
    assert admin.job(job["id"])["state"] == "RUNNING"
    admin.refused("DELETE", f"/users/{user.name}", 404)


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"name": "admin"}, 409, None),
        ({"name": "has space"}, 422, "name"),
        ({"name": "new\nline"}, 422, "name"),
        ({"name": "../up"}, 422, "name"),
        ({"name": ""}, 422, "name"),
        ({"name": "x" * 65}, 422, "name"),
        ({"password": "short"}, 422, "password"),
        ({"password": "nul\x00 in a password"}, 422, "password"),
        ({"queues": {"nowhere": "member"}}, 422, "queues.nowhere"),
        ({"queues": {"default": "king"}}, 422, "queues.default"),
        ({"is_admin": "yes please"}, 422, "is_admin"),
        ({"shoe_size": 43}, 422, "shoe_size"),
    ],
)
def test_an_account_that_cannot_be_is_refused(
    admin: Api, change: Data, status: int, field: str | None
) -> None:
    before = admin.ok("GET", "/users", Users)
    account = {"name": fresh("user"), "password": PASSWORD, **change}
    admin.refused("POST", "/users", status, field, json=account)
    assert admin.ok("GET", "/users", Users) == before


def test_queues_are_added_changed_and_removed(admin: Api, queue: str) -> None:
    limit = {"cpus": 2.5, "memory_bytes": 2**30, "gpus": 1}
    change = {"description": "for vision", "maximum": limit, "share": limit, "nodes": ["fake"]}
    changed = admin.ok("PATCH", f"/queues/{queue}", QueueBody, json=change)
    assert {name: changed[name] for name in change} == change
    assert admin.ok("PATCH", f"/queues/{queue}", QueueBody, json={"maximum": None})["maximum"] is None
    assert admin.ok("GET", f"/queues/{queue}", QueueBody)["description"] == "for vision"
    admin.refused("POST", "/queues", 409, json={"name": queue})
    job = admin.running(queue=queue)
    admin.refused("DELETE", f"/queues/{queue}", 409, says="still has jobs")
    used = admin.ok("GET", f"/queues/{queue}", QueueBody)
    assert (used["used"]["cpus"], used["n_running"]) == (1.0, 1)
    admin.ok("DELETE", f"/jobs/{job['id']}?for_good=true", status=202)
    admin.until_gone(job)
    admin.ok("DELETE", f"/queues/{queue}", status=204)
    admin.refused("GET", f"/queues/{queue}", 404)
    admin.refused("DELETE", "/queues/default", 409, says="default queue cannot be deleted")


def test_the_share_of_a_queue_cannot_exceed_its_maximum(admin: Api, queue: str) -> None:
    small, large = (
        {"cpus": 1, "memory_bytes": 2**30, "gpus": 1},
        {"cpus": 1, "memory_bytes": 2**30, "gpus": 2},
    )
    new = {"name": fresh("queue"), "share": large, "maximum": small}
    admin.refused("POST", "/queues", 422, "share.gpus", "more than the maximum 1", json=new)
    admin.refused("GET", f"/queues/{new['name']}", 404)
    admin.ok("PATCH", f"/queues/{queue}", QueueBody, json={"share": large, "maximum": large})
    admin.refused("PATCH", f"/queues/{queue}", 422, "maximum.gpus", json={"maximum": small})
    admin.ok("PATCH", f"/queues/{queue}", QueueBody, json={"share": small, "maximum": small})
    admin.refused("PATCH", f"/queues/{queue}", 422, "share.gpus", json={"share": large})


def test_a_queue_that_its_nodes_cannot_serve_is_warned_of(admin: Api, queue: str) -> None:
    assert admin.ok("GET", f"/queues/{queue}", QueueBody)["warnings"] == []
    changed = admin.ok("PATCH", f"/queues/{queue}", QueueBody, json={"nodes": ["fake", "nowhere"]})
    (warning,) = changed["warnings"]
    assert warning["message_code"] == "queue_nodes_unknown"
    assert warning["params"]["nodes"] == ["nowhere"]
    change = {"nodes": [], "share": {"cpus": 1, "gpus": 100_000}}
    (warning,) = admin.ok("PATCH", f"/queues/{queue}", QueueBody, json=change)["warnings"]
    assert warning["message_code"] == "share_above_nodes"
    assert warning["params"]["share"] == {"gpus": 100_000}


def test_jobs_of_a_queue_run_on_its_nodes_only(tmp_path: Path) -> None:
    clock, home = FakeClock(), tmp_path / "home"
    nodes = [replace(NODE, name=name) for name in ("left", "right")]
    with served(home, FakeEngine(clock, nodes), clock) as quick, Api(quick, quick.sign_in()) as boss:
        for node in nodes:
            boss.ok("POST", "/queues", QueueBody, 201, json={"name": f"of-{node.name}", "nodes": [node.name]})
        # More than one node has room for, so that a second would be taken if it could.
        started = {
            queue: [boss.submit(queue=queue, cpus=3) for _ in range(3)] for queue in ("of-left", "of-right")
        }
        for queue, jobs in started.items():
            places = {task["node"] for job in jobs[:2] for task in boss.until(job, "RUNNING")["tasks"]}
            assert places == {queue.removeprefix("of-")}
            assert boss.job(jobs[2]["id"])["state"] == "QUEUED"


def test_a_drained_node_starts_nothing_until_it_is_opened(admin: Api) -> None:
    drained = admin.ok("PATCH", "/nodes/fake", NodeBody, json={"is_schedulable": False})
    assert (drained["is_schedulable"], drained["drained_by"]) == (False, admin.name)
    job = admin.submit()
    assert admin.job(job["id"])["state"] == "QUEUED"
    admin.ok("PATCH", "/nodes/fake", NodeBody, json={"is_schedulable": True})
    admin.until(job, "RUNNING")
    admin.refused("PATCH", "/nodes/none", 404, json={"is_schedulable": True})


def test_nodes_show_who_holds_which_card(admin: Api) -> None:
    job = admin.running(gpus=1)
    (node,) = admin.ok("GET", "/nodes", Nodes)["items"]
    assert [card["job_id"] for card in node["gpus"]].count(job["id"]) == 1
    assert node["free"]["gpus"] == 1


def test_a_node_shows_its_tasks_to_those_who_may_see_them(admin: Api, hire: Hire, queue: str) -> None:
    insider, outsider = hire(**{queue: "viewer"}), hire(default="member")
    job = admin.running(queue=queue, gpus=1, cpus=2)
    found = insider.ok("GET", "/nodes/fake", NodeDetail)
    (task,) = found["tasks"]
    assert (task["job_id"], task["task"], task["resources"]["cpus"]) == (job["id"], "main-0", 2)
    assert len(task["gpus"]) == 1
    assert found["n_hidden_tasks"] == 0
    hidden = outsider.ok("GET", "/nodes/fake", NodeDetail)
    assert (hidden["tasks"], hidden["n_hidden_tasks"]) == ([], 1)
    admin.refused("GET", "/nodes/none", 404)


def test_what_is_used_of_a_node_is_told_over_time(ann: Api, server: Served, clock: FakeClock) -> None:
    def points() -> list[Data]:
        clock.advance(2)
        found: list[Data] = ann.ok("GET", "/nodes/fake/usage", NodeUsageBody)["points"]
        return found

    until(points)
    point = points()[-1]
    # The fake engine says that one CPU is busy all the time.
    assert (point["cpus"], point["memory_bytes"]) == (1, 2**30)
    assert point["power_w"] is point["received_bytes_s"] is None
    assert ann.ok("GET", "/nodes/fake", NodeDetail)["used_memory_bytes"] == 2**30
    server.parts.platform.usage.append_node("fake", Sample(clock.now(), 0, 0, gpu_utilisation=0.5), 1)
    assert ann.ok("GET", "/nodes/fake", NodeDetail)["cards"] == [
        {"index": 1, "utilisation": 0.5, "memory_bytes": -1, "power_w": None}
    ]
    ann.ok("GET", "/nodes/fake/usage", NodeUsageBody, params={"card": 1})
    ann.refused("GET", "/nodes/fake/usage", 404, params={"card": 99})
    ann.refused("GET", "/nodes/none/usage", 404)
    ann.refused("GET", "/nodes/fake/usage", 422, params={"card": -1})


def test_the_summary_counts_what_the_caller_may_see(admin: Api, hire: Hire, queue: str) -> None:
    insider, outsider = hire(**{queue: "member"}), hire(default="viewer")
    insider.running(queue=queue)
    insider.finished(queue=queue)
    seen = {api: api.ok("GET", "/summary", Summary) for api in (insider, outsider)}
    assert (seen[insider]["jobs"]["RUNNING"], seen[insider]["finished_today"]["SUCCEEDED"]) == (1, 1)
    assert (seen[outsider]["jobs"]["RUNNING"], seen[outsider]["finished_today"]["SUCCEEDED"]) == (0, 0)
    assert [one["name"] for one in seen[outsider]["queues"]] == ["default"]
    assert seen[outsider]["resources"]["total"]["cpus"] == 8


def test_a_jobs_own_token_acts_for_its_owner_while_the_attempt_lives(
    server: Served, hire: Hire, sign: Sign
) -> None:
    owner = hire(is_admin=True, default="member")
    job = owner.running(retry=1)
    engine = server.engine
    assert isinstance(engine, FakeTasks)

    def token(attempt: int) -> str:
        return str(engine.world.requests[f"{job['id']}.{attempt}"]["tasks"][0]["env"]["FOOTPLATE_TOKEN"])

    inside = sign(token(0))
    me = inside.ok("GET", "/me", Me)
    assert (me["name"], me["is_admin"], me["job_id"]) == (owner.name, False, job["id"])
    inside.refused("GET", "/users", 403, says="a job may not list users")
    inside.refused("GET", "/tokens", 403, says="a job may not")
    inside.refused("DELETE", "/tokens/any", 403, says="a job may not revoke")
    role = {"role": "admin"}
    inside.refused("PUT", f"/queues/default/members/{owner.name}", 403, says="grant roles", json=role)
    inside.refused("DELETE", f"/queues/default/members/{owner.name}", 403, says="revoke roles")
    inside.refused("POST", "/tokens", 403, says="a job may not create tokens", json={"name": "sneaky"})
    inside.refused("POST", f"/jobs/{job['id']}/ssh-key", 403, says="a job may not manage SSH keys")
    inside.refused("POST", "/me/password", 403, json={"old_password": PASSWORD, "new_password": "x" * 9})
    inside.submit(cpus=0.1)
    owner.finish(job, code=1)
    owner.until(job, "RUNNING", attempt=1)
    inside.refused("GET", "/me", 401, says="ended with attempt")
    second = sign(token(1))
    second.ok("GET", "/me", Me)
    owner.finish(job, attempt=1)
    owner.until(job, "SUCCEEDED")
    second.refused("GET", "/me", 401)
    forged = sign(token(1)[:-1] + ("0" if token(1)[-1] != "0" else "1"))
    forged.refused("GET", "/me", 401)


def test_the_token_of_a_call_is_marked_among_ones_own(hire: Hire) -> None:
    somebody = hire(default="member")
    somebody.ok("POST", "/tokens", status=201, json={"name": "another"})
    marks = {one["name"]: one["is_current"] for one in somebody.ok("GET", "/tokens", Tokens)["items"]}
    assert marks.pop("another") is False
    assert list(marks.values()) == [True]
