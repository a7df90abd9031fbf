"""Metrics over REST: told once, read thinned, followed live, and not for everybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from apiclient import NODE, Api, Data, Hire, Sign

from footplate.sdk.client import Client
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine, FakeTasks
from footplate.testing.server import served, until
from footplate.wire.jobs import JobDetail
from footplate.wire.metrics import LatestValues, MetricsBody, Pushed


def push(api: Api, job: Data, *values: float, begin: int = 0, **more: Any) -> Data:
    points = [{"values": {"loss": value}, "step": step} for step, value in enumerate(values, begin)]
    return api.ok("POST", f"/jobs/{job['id']}/metrics", Pushed, json={"points": points, **more})


def curves(api: Api, job: Data, **params: Any) -> list[Data]:
    found: list[Data] = api.ok("GET", f"/jobs/{job['id']}/metrics", MetricsBody, params=params)["items"]
    return found


def test_points_come_back_as_a_curve(ann: Api) -> None:
    job = ann.running()
    assert push(ann, job, 3, 2, 1) == {"n_points": 3, "is_new": True}
    (curve,) = curves(ann, job)
    assert (curve["name"], curve["task"], curve["attempt"]) == ("loss", "main-0", 0)
    assert (curve["x"], curve["values"]) == ([0, 1, 2], [3, 2, 1])
    assert (curve["lowest"], curve["highest"], curve["n_points"]) == (1, 3, 3)
    assert curve["last"]["step"] == 2


def test_a_batch_with_a_number_is_kept_once(ann: Api) -> None:
    job = ann.running()
    assert push(ann, job, 1, 2, source="a", seq=1)["is_new"]
    assert not push(ann, job, 1, 2, source="a", seq=1)["is_new"]
    assert curves(ann, job)[0]["n_points"] == 2


def test_a_long_curve_is_thinned_and_a_part_of_it_is_whole(ann: Api) -> None:
    job = ann.running()
    values = [float(number % 100) for number in range(20_000)]
    values[12_345] = 1000.0
    for number, begin in enumerate(range(0, 20_000, 5000)):
        push(ann, job, *values[begin : begin + 5000], begin=begin, source="a", seq=number)
    (curve,) = curves(ann, job, max_points=100)
    assert len(curve["x"]) <= 100
    assert curve["is_thinned"]
    assert 1000.0 in curve["values"]
    (part,) = curves(ann, job, begin=12_300, end=12_400, max_points=500)
    assert not part["is_thinned"]
    assert part["x"] == list(range(12_299, 12_402))


def test_tasks_attempts_names_and_axes_are_chosen(ann: Api) -> None:
    job = ann.running(roles=[{"name": "worker", "count": 11, "command": "wait", "cpus": 0.1}], retry=1)
    at = f"/jobs/{job['id']}/metrics"
    for task in ("worker-10", "worker/2"):
        point = {"values": {"loss": 1, "acc": 2}, "epoch": 0.5, "at": 1_700_000_000, "group": "val"}
        ann.ok("POST", at, Pushed, json={"points": [point], "task": task})
    assert {(one["name"], one["task"]) for one in curves(ann, job)} == {
        ("val/loss", "worker-2"),
        ("val/loss", "worker-10"),
        ("val/acc", "worker-2"),
        ("val/acc", "worker-10"),
    }
    assert ann.ok("GET", at, MetricsBody)["tasks"] == ["worker-2", "worker-10"]
    (one,) = curves(ann, job, task="worker-10", name="val/acc", axis="time")
    assert (one["axis"], one["x"]) == ("time", [1_700_000_000])
    assert {one["axis"] for one in curves(ann, job)} == {"epoch"}
    assert curves(ann, job, attempt=1) == []
    ann.refused("POST", at, 404, json={"points": [], "task": "worker-11"})
    ann.refused("POST", at, 404, json={"points": [], "attempt": 1})


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"points": 5}', b"\xff", b"[" * 100_000, b'{"points": [], "task": 5}']
)
def test_bad_batches_are_refused(ann: Api, content: bytes) -> None:
    job = ann.running()
    headers = {"Content-Type": "application/json"}
    ann.refused("POST", f"/jobs/{job['id']}/metrics", 422, content=content, headers=headers)


def test_a_batch_that_is_too_large_is_refused(ann: Api) -> None:
    job = ann.running()
    ann.refused("POST", f"/jobs/{job['id']}/metrics", 413, json={"source": "x" * 5_000_000})


def test_a_job_tells_its_own_metrics_with_its_own_token_and_nobody_elses(
    ann: Api, admin: Api, sign: Sign, hire: Hire
) -> None:
    job = ann.running()
    engine = ann.served.engine
    assert isinstance(engine, FakeTasks)
    env = engine.world.requests[f"{job['id']}.0"]["tasks"][0]["env"]
    push(sign(env["FOOTPLATE_TOKEN"]), job, 1.0)
    another = hire(default="member")
    body = {"points": [{"values": {"loss": 1}}]}
    another.refused("POST", f"/jobs/{job['id']}/metrics", 403, json=body)
    noted = admin.ok("GET", "/audit", params={"subject": job["id"], "actor": another.name})["items"]
    assert [(one["action"], one["detail"]["way"]) for one in noted] == [("job.entry_refused", "metrics")]
    assert another.ok("GET", "/metrics/latest", LatestValues, params={"job": job["id"]})["items"] == []
    assert curves(ann, job)[0]["n_points"] == 1


def test_progress_and_remaining_time_come_from_steps(ann: Api, clock: FakeClock) -> None:
    job = ann.running()
    assert ann.job(job["id"])["progress"] is None
    now = clock.now()
    points = [{"values": {"loss": 1}, "step": step, "at": now - 100 + step} for step in range(101)]
    ann.ok("POST", f"/jobs/{job['id']}/metrics", json={"points": points, "total_steps": 400})
    progress = ann.ok("GET", f"/jobs/{job['id']}", JobDetail)["progress"]
    assert (progress["step"], progress["total_steps"], progress["fraction"]) == (100, 400, 0.25)
    assert progress["remaining_s"] == pytest.approx(300, abs=1)
    (line,) = [one for one in ann.ok("GET", "/jobs")["items"] if one["id"] == job["id"]]
    assert line["progress"]["step"] == 100
    assert [one["name"] for one in curves(ann, job)] == ["loss"]


def test_epochs_of_the_parameters_give_the_progress_too(ann: Api) -> None:
    job = ann.running(parameters={"epochs": 10})
    ann.ok("POST", f"/jobs/{job['id']}/metrics", json={"points": [{"values": {"acc": 1}, "epoch": 5}]})
    assert ann.job(job["id"])["progress"]["fraction"] == 0.5


def test_new_points_are_followed_live_and_once(ann: Api) -> None:
    job = ann.running()
    push(ann, job, 1, 2)
    with ann.stream(f"/jobs/{job['id']}/metrics/stream") as messages:
        assert next(messages).kind == "begin"
        first = next(messages)
        assert [point["value"] for point in first.data["points"]] == [1, 2]
        push(ann, job, 3, begin=2)
        assert [point["step"] for point in next(messages).data["points"]] == [2]
    push(ann, job, 4, begin=3)
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    with ann.stream(f"/jobs/{job['id']}/metrics/stream", cursor=first.cursor) as messages:
        seen = list(messages)
    assert [point["value"] for one in seen[1:-1] for point in one.data["points"]] == [3, 4]
    assert (seen[-1].kind, seen[-1].data) == ("end", {"state": "SUCCEEDED"})
    bad = {"Last-Event-ID": "[]"}
    ann.refused("GET", f"/jobs/{job['id']}/metrics/stream", 422, headers=bad)


def test_the_shared_connection_says_that_there_are_new_points(ann: Api, hire: Hire) -> None:
    job = ann.running()
    wanted = {"metrics": [{"key": "m", "job": job["id"]}]}
    with ann.stream("/stream", method="POST", json=wanted) as messages:
        assert next(messages).kind == "begin"
        # Points that come between a look at them and this are in the next look.
        told = (one.data for one in messages if one.kind == "metrics")
        assert next(told) == {"key": "m", "data": {"n_points": 0}}
        push(ann, job, 1, 2)
        assert next(told) == {"key": "m", "data": {"n_points": 2}}
    with hire().stream("/stream", method="POST", json=wanted) as messages:
        refused = next(one for one in messages if one.kind == "refused")
        assert (refused.data["key"], refused.data["data"]["status"]) == ("m", 404)


def test_a_table_has_every_point(ann: Api) -> None:
    job = ann.running()
    point = {"values": {"=loss,": 0.5}, "step": 3, "epoch": 1.5, "at": 1_700_000_000}
    ann.ok("POST", f"/jobs/{job['id']}/metrics", json={"points": [point]})
    text = ann.call("GET", f"/jobs/{job['id']}/metrics/export").text
    assert text.splitlines() == [
        "attempt,task,name,step,epoch,time,value",
        '0,main-0,"\'=loss,",3,1.5,1700000000.0,0.5',
    ]


def test_the_sdk_tells_and_reads(ann: Api) -> None:
    job = ann.running()
    with Client(ann.served.url, token=ann.token) as client:
        assert client.push_metrics({"loss": 0.5, "acc": 0.9}, job=job["id"], step=1) == 2
        more = [{"values": {"loss": 1 / step}, "step": step} for step in range(2, 5000)]
        assert client.push_metrics(more, job=job["id"]) == 4998
        mine = client.job(job["id"])
        assert mine.latest_metrics() == {"loss": pytest.approx(1 / 4999), "acc": 0.9}
        assert {one["name"]: one["n_points"] for one in mine.metrics()} == {"loss": 4999, "acc": 1}
        assert len(list(mine.follow_metrics(follow=False))) == 5000
        (found,) = client.latest_metrics([job["id"], "no-such-job"], ["acc"])
        assert [one["name"] for one in found["items"]] == ["acc"]
        ann.finish(job)
        assert len(list(mine.follow_metrics())) == 5000


def test_points_outlive_a_restart_and_go_with_their_job(tmp_path: Path) -> None:
    clock, home = FakeClock(), tmp_path / "home"
    with served(home, FakeEngine(clock, [NODE]), clock) as server, Api(server, server.sign_in()) as admin:
        job = admin.running()
        push(admin, job, 1, 2, source="a", seq=1)
    with served(home, FakeEngine(clock, [NODE]), clock) as server, Api(server, server.sign_in()) as admin:
        # The fake engine forgets its tasks: by now it may be another attempt.
        assert not push(admin, job, 1, 2, source="a", seq=1, attempt=0)["is_new"]
        assert push(admin, job, 3, begin=2, source="a", seq=2, attempt=0)["is_new"]
        assert curves(admin, job, attempt=0)[0]["values"] == [1, 2, 3]
        admin.call("DELETE", f"/jobs/{job['id']}", params={"for_good": "true"})
        admin.until_gone(job)
        until(lambda: not list(home.rglob("*.points")))
