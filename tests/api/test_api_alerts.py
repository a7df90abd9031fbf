"""Alerts: who is told what, when, through which channel."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from apiclient import Api, Data, Hire, fresh

from footplate.domain.alerts import Notice
from footplate.domain.messages import say
from footplate.services.alerts.matching import Receiver
from footplate.services.alerts.outbox import make_delivery
from footplate.services.alerts.sending import BATCH
from footplate.store import delivery_queries
from footplate.testing.fake_clock import FakeClock
from footplate.testing.receivers import Hook, Mailbox, hook_receiver, mail_receiver
from footplate.testing.server import Served, until
from footplate.wire import alerts as w

LOOPBACK = {"private_networks": ["127.0.0.0/8"]}


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hook_receiver() as running:
        yield running


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with mail_receiver("open sesame") as running:
        yield running


@pytest.fixture(autouse=True)
def webhooks_may_lead_here(admin: Api) -> None:
    admin.ok("PUT", "/alerts/settings", w.AlertSettingsBody, json=LOOPBACK)


def channel(api: Api, hook: Hook, kind: str = "webhook", **more: Any) -> Data:
    given = {"name": fresh("channel"), "kind": kind, "address": f"{hook.url}/hook?key=abc", **more}
    return api.ok("POST", "/alerts/channels", w.ChannelBody, 201, json=given)


def rule(api: Api, *on: str, **more: Any) -> Data:
    return api.ok("POST", "/alerts/rules", w.RuleBody, 201, json={"on": list(on), **more})


def told(api: Api, **params: Any) -> list[Data]:
    items: list[Data] = api.ok("GET", "/alerts/deliveries", w.Deliveries, params=params)["items"]
    return items


def until_told(api: Api, job: Data, n: int = 1, state: str = "sent") -> list[Data]:
    def look() -> list[Data] | None:
        found = [one for one in told(api, job=job["id"]) if one["state"] == state]
        return found if len(found) >= n else None

    return until(look)


def test_a_failed_job_is_told_with_its_last_lines_a_link_and_a_signature(ann: Api, hook: Hook) -> None:
    mine = channel(ann, hook, secret="between us")
    job = ann.running(alerts=[{"on": "failed", "level": "major", "to": [mine["name"]]}])
    ann.write_log(job, b"epoch 1\nout of luck\n")
    ann.finish(job, 3)
    until(lambda: hook.posts)
    post = hook.posts[0]
    assert post.json["event"] == "failed"
    assert post.json["level"] == "major"
    assert post.json["log"][-1] == "out of luck"
    assert post.json["job"]["id"] == job["id"]
    assert post.json["link"].endswith(f"/jobs/{job['id']}")
    assert job["name"] in post.json["title"]
    moment, signed = (part.split("=")[1] for part in post.headers["X-Footplate-Signature"].split(","))
    expected = hmac.new(b"between us", f"{moment}.".encode() + post.body, hashlib.sha256).hexdigest()
    assert signed == expected
    [delivery] = until_told(ann, job)
    assert delivery["id"] == post.headers["X-Footplate-Delivery"]
    assert delivery["n_attempts"] == 1


def test_what_nobody_asked_for_is_told_to_nobody(ann: Api, hook: Hook) -> None:
    mine = channel(ann, hook)
    job = ann.finished(alerts=[{"on": "failed", "to": [mine["name"]]}])
    other = ann.finished(1, alerts=[{"on": "failed", "to": [mine["name"]]}])
    until_told(ann, other)
    assert told(ann, job=job["id"]) == []
    assert [post.json["job"]["id"] for post in hook.posts] == [other["id"]]


def test_a_job_without_receivers_tells_its_owner_through_all_channels(hire: Hire, hook: Hook) -> None:
    bob = hire(default="member")
    channel(bob, hook)
    channel(bob, hook, kind="slack")
    job = bob.finished(alerts=[{"on": "succeeded"}])
    until_told(bob, job, 2)
    assert len(hook.posts) == 2


def test_somebody_without_a_channel_finds_it_in_the_list(hire: Hire) -> None:
    bob = hire(default="member")
    job = bob.finished(alerts=[{"on": "finished", "level": "minor"}])
    [one] = until_told(bob, job, state="shown")
    assert (one["on"], one["level"], one["channel"]) == ("finished", "minor", None)


def test_secrets_are_masked_in_the_last_lines(ann: Api, hook: Hook) -> None:
    mine = channel(ann, hook)
    job = ann.running(env={"HF_TOKEN": "hf_abcdefgh1234"}, alerts=[{"on": "failed", "to": [mine["name"]]}])
    ann.write_log(job, b"login with hf_abcdefgh1234\n")
    ann.finish(job, 1)
    until(lambda: hook.posts)
    assert b"hf_abcdefgh1234" not in hook.posts[0].body
    assert "login with" in hook.posts[0].json["log"][0]


def test_a_rule_tells_of_all_jobs_of_a_person(hire: Hire, hook: Hook) -> None:
    bob, eve = hire(default="member"), hire(default="member")
    channel(bob, hook)
    made = rule(bob, "succeeded", "started", level="warning")
    mine, others = bob.finished(), eve.finished()
    found = until_told(bob, mine, 2)
    assert {one["on"] for one in found} == {"succeeded", "started"}
    assert told(bob, job=others["id"]) == []
    bob.ok("DELETE", f"/alerts/rules/{made['id']}", status=204)
    assert told(bob, job=bob.finished()["id"]) == []


def test_a_rule_does_not_tell_what_was_before_it(hire: Hire, hook: Hook, clock: FakeClock) -> None:
    bob = hire(default="member")
    channel(bob, hook)
    before = bob.finished()
    clock.advance(1)
    rule(bob, "succeeded")
    after = bob.finished()
    until_told(bob, after)
    assert told(bob, job=before["id"]) == []


def queue_of(admin: Api, **members: str) -> str:
    name = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": name})
    for user, role in members.items():
        admin.ok("PUT", f"/queues/{name}/members/{user}", status=204, json={"role": role})
    return name


def test_a_queue_is_told_only_an_outline_of_private_jobs(admin: Api, hire: Hire, hook: Hook) -> None:
    bob = hire()
    queue = queue_of(admin, **{bob.name: "member"})
    channel(admin, hook, queue=queue)
    rule(admin, "failed", queue=queue)
    private = bob.running(queue=queue)
    bob.write_log(private, b"something private\n")
    bob.finish(private, 7)
    until(lambda: hook.posts)
    assert b"something private" not in hook.posts[0].body
    assert "exit" not in hook.posts[0].json["text"]
    assert hook.posts[0].json["log"] == []
    shared = bob.running(queue=queue, shared=True)
    bob.write_log(shared, b"for everybody\n")
    bob.finish(shared, 7)
    until(lambda: len(hook.posts) == 2)
    assert hook.posts[1].json["log"] == ["for everybody"]


def test_channels_and_rules_of_a_queue_are_for_its_admins(admin: Api, hire: Hire, hook: Hook) -> None:
    member, stranger = hire(), hire()
    queue = queue_of(admin, **{member.name: "member"})
    given = {"name": "c", "kind": "webhook", "address": hook.url, "queue": queue}
    member.refused("POST", "/alerts/channels", 403, json=given)
    stranger.refused("POST", "/alerts/channels", 404, json=given)
    member.refused("POST", "/alerts/rules", 403, json={"on": ["failed"], "queue": queue})
    kept = channel(admin, hook, queue=queue)
    assert member.ok("GET", "/alerts/channels")["items"] == []
    for method, path in (("PATCH", ""), ("DELETE", ""), ("POST", "/test")):
        body = {"json": {"name": "x"}} if method == "PATCH" else {}
        member.refused(method, f"/alerts/channels/{kept['id']}{path}", 404, **body)


def test_nobody_sees_or_uses_channels_of_others(ann: Api, hire: Hire, hook: Hook) -> None:
    bob = hire(default="member")
    kept = channel(ann, hook)
    bob.refused("POST", f"/alerts/channels/{kept['id']}/test", 404)
    bob.refused("DELETE", f"/alerts/channels/{kept['id']}", 404)
    bob.refused(
        "POST", "/alerts/rules", 422, "channels[0]", json={"on": ["failed"], "channels": [kept["id"]]}
    )
    job = {"name": fresh("job"), "command": "x", "alerts": [{"on": "failed", "to": [kept["name"]]}]}
    bob.refused("POST", "/jobs", 422, "alerts[0].to[0]", json=job)
    assert hook.posts == []


def test_a_job_cannot_tell_somebody_who_may_not_see_it(admin: Api, hire: Hire, hook: Hook) -> None:
    bob, stranger = hire(), hire()
    queue = queue_of(admin, **{bob.name: "member"})
    job = {
        "name": fresh("job"),
        "command": "wait",
        "queue": queue,
        "alerts": [{"on": "failed", "to": [stranger.name]}],
    }
    bob.refused("POST", "/jobs", 422, "alerts[0].to[0]", says="may not see", json=job)
    job["alerts"] = [{"on": "failed", "to": ["nobody-such"]}]
    bob.refused("POST", "/jobs", 422, "alerts[0].to[0]", says="no user", json=job)


def test_another_member_is_told_an_outline_and_nothing_once_they_leave(
    admin: Api, hire: Hire, hook: Hook
) -> None:
    bob, eve = hire(), hire()
    queue = queue_of(admin, **{bob.name: "member", eve.name: "member"})
    channel(eve, hook)
    job = bob.running(queue=queue, alerts=[{"on": "failed", "to": [eve.name]}])
    bob.write_log(job, b"private line\n")
    bob.finish(job, 1)
    until_told(eve, job)
    assert b"private line" not in hook.posts[0].body
    assert told(bob, job=job["id"]) == []
    second = bob.running(queue=queue, alerts=[{"on": "failed", "to": [eve.name]}])
    admin.ok("DELETE", f"/queues/{queue}/members/{eve.name}", status=204)
    bob.finish(second, 1)
    bob.until(second, "FAILED")
    third = eve_free(bob, queue)
    bob.until(third, "SUCCEEDED")
    assert told(eve, job=second["id"]) == []


def eve_free(bob: Api, queue: str) -> Data:
    job = bob.running(queue=queue)
    bob.finish(job)
    return job


def test_a_webhook_that_fails_is_tried_again_with_the_same_id(ann: Api, hook: Hook, clock: FakeClock) -> None:
    mine = channel(ann, hook)
    hook.answer((500, "broken"), (429, "busy"), (200, "ok"))
    job = ann.finished(alerts=[{"on": "succeeded", "to": [mine["name"]]}])

    def waits_after(words: str) -> bool:
        return any(one["error"] and words in one["error"]["message"] for one in told(ann, job=job["id"]))

    until(lambda: waits_after("500"))
    clock.advance(6)
    until(lambda: waits_after("429"))
    clock.advance(31)
    [sent] = until_told(ann, job)
    assert [post.headers["X-Footplate-Attempt"] for post in hook.posts] == ["1", "2", "3"]
    assert {post.headers["X-Footplate-Delivery"] for post in hook.posts} == {sent["id"]}


def test_a_receiver_that_does_not_answer_holds_up_nobody_else(
    ann: Api, hire: Hire, hook: Hook, server: Served
) -> None:
    bob, platform = hire(default="member"), server.parts.platform
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        given = {"name": "silent", "kind": "webhook", "address": address}
        dead = bob.ok("POST", "/alerts/channels", w.ChannelBody, 201, json=given)
        receiver = Receiver(f"user:{bob.name}", platform.alerts.channels[dead["id"]])
        notice = Notice("test", "info", say("alert_test", channel="silent"), at=0.0)
        many = [make_delivery(str(number), receiver, notice, now=0.0) for number in range(2 * BATCH)]
        server.run(platform.store.write(lambda tx: delivery_queries.add(tx.connection, many)))
        mine = channel(ann, hook)
        until_told(ann, ann.finished(alerts=[{"on": "succeeded", "to": [mine["name"]]}]))
        bob.ok("DELETE", f"/alerts/channels/{dead['id']}", status=204)


def test_a_refusal_is_final_until_somebody_asks_again(ann: Api, hook: Hook) -> None:
    mine = channel(ann, hook)
    hook.answer((404, "no such hook"))
    job = ann.finished(alerts=[{"on": "succeeded", "to": [mine["name"]]}])
    [failed] = until_told(ann, job, state="failed")
    assert "no such hook" in failed["error"]["message"]
    hook.answer((200, "ok"))
    ann.ok("POST", f"/alerts/deliveries/{failed['id']}/retry", w.DeliveryBody)
    [sent] = until_told(ann, job)
    ann.refused("POST", f"/alerts/deliveries/{sent['id']}/retry", 409)


def test_private_addresses_are_refused_unless_an_admin_allows_them(ann: Api, admin: Api, hook: Hook) -> None:
    mine = channel(ann, hook)
    admin.ok("PUT", "/alerts/settings", json={"private_networks": ["10.0.0.0/8"]})
    ann.refused("POST", f"/alerts/channels/{mine['id']}/test", 409, says="private network")
    job = ann.finished(alerts=[{"on": "succeeded", "to": [mine["name"]]}])
    [failed] = until_told(ann, job, state="failed")
    assert "127.0.0.1" in failed["error"]["message"]
    for address in (
        "http://localhost:1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
    ):
        changed = ann.ok("PATCH", f"/alerts/channels/{mine['id']}", json={"address": address})
        ann.refused("POST", f"/alerts/channels/{changed['id']}/test", 409, says="private network")
    assert hook.posts == []


def test_a_redirect_is_not_followed(ann: Api, hook: Hook) -> None:
    mine = channel(ann, hook)
    hook.answer((302, ""))
    ann.refused("POST", f"/alerts/channels/{mine['id']}/test", 409, says="302")
    assert len(hook.posts) == 1


def signed_by_dingtalk(hook: Hook, secret: str) -> bool:
    query = parse_qs(urlsplit(hook.posts[-1].path).query)
    text = f"{query['timestamp'][0]}\n{secret}".encode()
    expected = base64.b64encode(hmac.new(secret.encode(), text, hashlib.sha256).digest()).decode()
    return query["sign"][0] == expected and query["key"] == ["abc"] and len(query["timestamp"][0]) == 13


def test_dingtalk_gets_signed_markdown(ann: Api, hook: Hook) -> None:
    hook.answer((200, '{"errcode": 0, "errmsg": "ok"}'))
    mine = channel(ann, hook, "dingtalk", secret="SEC1", language="zh")
    ann.ok("POST", f"/alerts/channels/{mine['id']}/test", status=204)
    body = hook.posts[0].json
    assert body["msgtype"] == "markdown"
    assert body["markdown"]["title"] == f"测试渠道 {mine['name']}"
    assert signed_by_dingtalk(hook, "SEC1")
    hook.answer((200, '{"errcode": 310000, "errmsg": "sign not match"}'))
    ann.refused("POST", f"/alerts/channels/{mine['id']}/test", 409, says="sign not match")


def test_wecom_gets_markdown_within_its_bound(ann: Api, hook: Hook) -> None:
    hook.answer((200, '{"errcode": 0, "errmsg": "ok"}'))
    mine = channel(ann, hook, "wecom")
    job = ann.running(alerts=[{"on": "failed", "to": [mine["name"]]}])
    ann.write_log(job, ("长" * 290 + "\n").encode() * 10)
    ann.finish(job, 1)
    until(lambda: hook.posts)
    body = hook.posts[0].json
    assert body["msgtype"] == "markdown"
    assert 2000 < len(body["markdown"]["content"].encode()) <= 4096


def test_feishu_gets_a_signed_post(ann: Api, hook: Hook) -> None:
    hook.answer((200, '{"code": 0, "msg": "success"}'))
    mine = channel(ann, hook, "feishu", secret="s1")
    ann.ok("POST", f"/alerts/channels/{mine['id']}/test", status=204)
    body = hook.posts[0].json
    key = f"{body['timestamp']}\ns1".encode()
    assert body["sign"] == base64.b64encode(hmac.new(key, b"", hashlib.sha256).digest()).decode()
    assert body["msg_type"] == "post"
    assert body["content"]["post"]["zh_cn"]["title"]
    hook.answer((200, '{"code": 19021, "msg": "sign match fail"}'))
    ann.refused("POST", f"/alerts/channels/{mine['id']}/test", 409, says="sign match fail")


def test_slack_gets_blocks_with_its_own_signs_escaped(ann: Api, hook: Hook) -> None:
    mine = channel(ann, hook, "slack")
    job = ann.running(alerts=[{"on": "failed", "to": [mine["name"]]}])
    ann.write_log(job, b"<script> & co\n")
    ann.finish(job, 1)
    until(lambda: hook.posts)
    body = hook.posts[0].json
    text = body["blocks"][1]["text"]["text"]
    assert "&lt;script&gt; &amp; co" in text
    assert f"/jobs/{job['id']}|" in text


# What the mail server of the tests says of itself.
@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS", "ignore:Session.login_data")
@pytest.mark.filterwarnings("ignore:.*:UserWarning:aiosmtpd", "ignore:.*:DeprecationWarning:aiosmtpd")
def test_mail_comes_in_the_language_of_the_channel(admin: Api, hire: Hire, mailbox: Mailbox) -> None:
    server = {"host": mailbox.host, "port": mailbox.port, "sender": "fp@example.org", "username": "fp"}
    shown = admin.ok(
        "PUT",
        "/alerts/settings",
        w.AlertSettingsBody,
        json={"mail": {**server, "password": "open sesame"}},
    )
    assert shown["mail"]["has_password"] is True
    assert "sesame" not in json.dumps(shown)
    bob = hire(default="member")
    given = {"name": "post", "kind": "mail", "address": "bob@example.org", "language": "zh"}
    mine = bob.ok("POST", "/alerts/channels", w.ChannelBody, 201, json=given)
    job = bob.running(alerts=[{"on": "failed", "to": ["post"], "level": "critical"}])
    bob.write_log(job, b"last words\n")
    bob.finish(job, 2)
    until(lambda: mailbox.messages)
    message = mailbox.messages[0]
    assert message["To"] == "bob@example.org"
    assert message["Subject"] == f"[critical] 任务 {job['name']} 失败"
    assert "last words" in message.get_content()
    assert mailbox.logins == [("fp", "open sesame")]
    [sent] = until_told(bob, job)
    assert sent["id"] in message["Message-ID"]
    # The password stays where none is given.
    admin.ok("PUT", "/alerts/settings", json={"mail": server})
    bob.ok("POST", f"/alerts/channels/{mine['id']}/test", status=204)
    admin.ok("PUT", "/alerts/settings", json={"mail": {**server, "password": "wrong"}})
    bob.refused("POST", f"/alerts/channels/{mine['id']}/test", 409, says="535")


def test_mail_without_a_server_says_what_to_do(admin: Api, ann: Api) -> None:
    admin.ok("PUT", "/alerts/settings", json={})
    given = {"name": fresh("post"), "kind": "mail", "address": "ann@example.org"}
    mine = ann.ok("POST", "/alerts/channels", w.ChannelBody, 201, json=given)
    ann.refused("POST", f"/alerts/channels/{mine['id']}/test", 409, says="--smtp")


def test_settings_of_alerts_are_for_admins(ann: Api, admin: Api) -> None:
    ann.refused("GET", "/alerts/settings", 403)
    ann.refused("PUT", "/alerts/settings", 403, json={})
    admin.refused(
        "PUT", "/alerts/settings", 422, "private_networks[0]", json={"private_networks": ["everywhere"]}
    )


def test_in_quiet_hours_notices_wait_unless_they_are_grave(hire: Hire, hook: Hook, clock: FakeClock) -> None:
    bob = hire(default="member")
    hour = int(clock.now() // 3600 % 24)
    quiet = f"{hour:02}:00-{(hour + 2) % 24:02}:00"
    mine = channel(bob, hook, quiet=quiet, quiet_level="major")
    grave = {"on": "succeeded", "level": "major", "to": [mine["name"]]}
    until_told(bob, bob.finished(alerts=[grave]))
    waiting = bob.finished(alerts=[{**grave, "level": "minor"}])

    def is_put_off() -> Data | None:
        [one] = told(bob, job=waiting["id"]) or [None]
        return one if one and one["next_at"] and one["next_at"] > one["at"] else None

    assert until(is_put_off)["state"] == "waiting"
    assert len(hook.posts) == 1
    clock.advance(2 * 3600)
    until_told(bob, waiting)
    assert len(hook.posts) == 2


def test_a_deadline_is_told_again_each_interval(ann: Api, hook: Hook, clock: FakeClock) -> None:
    mine = channel(ann, hook)
    at = clock.now() + 60
    alert = {"on": "deadline", "at": at_text(at), "every": "10m", "level": "major", "to": [mine["name"]]}
    job = ann.running(alerts=[alert])
    clock.advance(61)
    until_told(ann, job)
    clock.advance(601)
    until_told(ann, job, 2)
    clock.advance(601)
    found = until_told(ann, job, 3)
    assert {one["level"] for one in found} == {"major"}
    assert hook.posts[2].json["times_before"] == 2
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    clock.advance(1201)
    second = ann.finished(alerts=[{"on": "succeeded", "to": [mine["name"]]}])
    until_told(ann, second)
    assert len(told(ann, job=job["id"])) == 3
    kinds = [event["kind"] for event in ann.ok("GET", f"/jobs/{job['id']}/events")["items"]]
    assert kinds.count("alert") == 3


def at_text(at: float) -> str:
    from footplate.domain.kinds import show_instant

    return show_instant(at)


def test_a_job_that_runs_too_long_is_told_once(ann: Api, hook: Hook, clock: FakeClock) -> None:
    mine = channel(ann, hook)
    job = ann.running(alerts=[{"on": "overtime", "after": "1h", "to": [mine["name"]]}])
    clock.advance(3599)
    other = ann.finished(alerts=[{"on": "succeeded", "to": [mine["name"]]}])
    until_told(ann, other)
    assert told(ann, job=job["id"]) == []
    clock.advance(2)
    until_told(ann, job)
    clock.advance(7200)
    until_told(ann, ann.finished(alerts=[{"on": "succeeded", "to": [mine["name"]]}]))
    assert len(told(ann, job=job["id"])) == 1


def test_a_metric_beyond_its_bound_is_told(ann: Api, hook: Hook) -> None:
    mine = channel(ann, hook)
    alert = {"on": "metric", "metric": "loss", "above": 10, "level": "major", "to": [mine["name"]]}
    job = ann.running(alerts=[alert])
    for step, value in enumerate((3.0, 12.5)):
        points = [{"values": {"loss": value}, "step": step}]
        ann.ok("POST", f"/jobs/{job['id']}/metrics", json={"points": points})
    [one] = until_told(ann, job)
    assert one["on"] == "metric"
    assert "12.5" in hook.posts[0].json["text"]


def test_what_a_rule_names_is_told_each_by_itself(hire: Hire, hook: Hook, clock: FakeClock) -> None:
    bob = hire(default="member")
    channel(bob, hook)
    rule(bob, "overtime", "metric", after_s=3600, metric="loss", above=10)
    job = bob.running()
    clock.advance(3601)
    until_told(bob, job)
    bob.ok("POST", f"/jobs/{job['id']}/metrics", json={"points": [{"values": {"loss": 11}, "step": 1}]})
    found = until_told(bob, job, 2)
    assert {one["on"] for one in found} == {"overtime", "metric"}


def test_stops_retries_and_preemptions_are_told_as_what_they_are(ann: Api, admin: Api, hook: Hook) -> None:
    mine = channel(ann, hook)
    words = ("stopped", "retried", "preempted", "started", "failed")
    alerts = [{"on": word, "to": [mine["name"]]} for word in words]
    job = ann.running(alerts=alerts, retry=1)
    ann.finish(job, 1)
    ann.until(job, "RUNNING", 1)
    admin.ok("POST", f"/jobs/{job['id']}/preempt")
    ann.until(job, "RUNNING", 2)
    ann.ok("POST", f"/jobs/{job['id']}/stop")
    ann.until(job, "STOPPED")
    found = until_told(ann, job, 6)
    assert sorted(one["on"] for one in found) == [
        "preempted", "retried", "started", "started", "started", "stopped",
    ]  # fmt: skip


def test_trouble_of_the_disk_is_told_to_admins(server: Served, admin: Api, ann: Api, hook: Hook) -> None:
    ann.refused("POST", "/alerts/rules", 403, json={"on": ["disk"]})
    kept = channel(admin, hook)
    made = rule(admin, "disk", "node", level="critical", channels=[kept["id"]])
    disk = server.parts.platform.disk
    before = disk.free_bytes, disk.least_bytes

    def told() -> list[Any]:
        # The disk is measured all the time, and has room in truth.
        disk.free_bytes, disk.least_bytes = 1, 2
        return hook.posts

    try:
        until(told)
        assert hook.posts[0].json["event"] == "disk"
    finally:
        disk.free_bytes, disk.least_bytes = before
        admin.ok("DELETE", f"/alerts/rules/{made['id']}", status=204)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"kind": "mail", "address": "nobody"}, "address"),
        ({"kind": "mail", "address": "a@b.org\r\nBcc: eve@x.org"}, "address"),
        ({"kind": "webhook", "address": "ftp://example.org"}, "address"),
        ({"kind": "webhook", "address": "http://user:pw@example.org/"}, "address"),
        ({"kind": "webhook", "address": "http://[nonsense/"}, "address"),
        ({"kind": "slack", "address": "https://x.org", "quiet": "22-7"}, "quiet"),
        ({"kind": "slack", "address": "https://x.org", "zone": "Mars/Base"}, "zone"),
        ({"kind": "slack", "address": "https://x.org", "zone": "../../etc/passwd"}, "zone"),
        ({"kind": "pigeon", "address": "x"}, "kind"),
    ],
)
def test_bad_channels_are_refused_with_the_field(ann: Api, given: Data, field: str) -> None:
    ann.refused("POST", "/alerts/channels", 422, field, json={"name": fresh("bad"), **given})


def test_what_is_no_address_of_a_hook_is_refused_with_an_example(ann: Api) -> None:
    given = {"name": fresh("bad"), "kind": "webhook", "address": "ftp://example.org"}
    ann.refused("POST", "/alerts/channels", 422, "address", json=given, says="https://example.org/hook")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"on": []}, "on"),
        ({"on": ["sunshine"]}, "on[0]"),
        ({"on": ["overtime"]}, "after_s"),
        ({"on": ["metric"], "metric": "loss"}, "above"),
        ({"on": ["failed"], "every_s": 1}, "every_s"),
    ],
)
def test_bad_rules_are_refused_with_the_field(ann: Api, given: Data, field: str) -> None:
    ann.refused("POST", "/alerts/rules", 422, field, json=given)


def test_where_a_channel_leads_is_not_shown(ann: Api, hook: Hook) -> None:
    kept = channel(ann, hook, secret="between us")
    shown = ann.ok("GET", "/alerts/channels", w.Channels)
    assert "key=abc" not in json.dumps(shown)
    assert "between us" not in json.dumps(shown)
    assert kept["has_secret"] is True
    changed = ann.ok("PATCH", f"/alerts/channels/{kept['id']}", w.ChannelBody, json={"is_enabled": False})
    assert changed["is_enabled"] is False
    ann.refused(
        "POST",
        "/alerts/channels",
        409,
        json={"name": kept["name"], "kind": "webhook", "address": hook.url},
    )


def test_a_deleted_account_leaves_no_channel_behind(admin: Api, hire: Hire, hook: Hook) -> None:
    bob = hire(default="member")
    kept = channel(bob, hook)
    admin.ok("DELETE", f"/users/{bob.name}", status=204)
    platform = bob.served.parts.platform
    assert kept["id"] not in {one.id for one in bob.served.run(platform.store.read(_channels))}


def _channels(connection: Any) -> Any:
    from footplate.store.alert_queries import all_channels

    return all_channels(connection)
