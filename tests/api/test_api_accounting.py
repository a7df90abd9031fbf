"""What jobs used: it agrees with the event log, outlives the jobs, and is nobody else's business."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from apiclient import NODE, Api, Hire, fresh

from footplate.domain.kinds import Instant, show_instant
from footplate.domain.problems import Problems
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import served
from footplate.wire.accounting import AccountingReport


def hours_of(api: Api, job_id: str, **params: str) -> float:
    report = api.ok("GET", "/accounting", AccountingReport, params=params)
    return sum(line["cpu_hours"] for line in report["items"] if line["key"] == job_id)


def seconds_by_events(api: Api, job_id: str) -> float:
    """Add up by the event log how long a job held what it held."""

    def at(event: dict[str, str]) -> float:
        return float(Instant().read(event["at"], "at", Problems()))

    held, since = 0.0, None
    for event in api.ok("GET", f"/jobs/{job_id}/events")["items"]:
        if event["kind"] == "starting":
            since = at(event)
        elif event["kind"] in ("requeued", "succeeded", "failed", "stopped") and since is not None:
            held, since = held + at(event) - since, None
    return held


def test_a_job_uses_what_it_holds_for_as_long_as_it_holds_it(ann: Api, clock: FakeClock) -> None:
    job = ann.running(cpus=2, memory="1GB")
    clock.advance(1800)
    assert hours_of(ann, job["id"]) == pytest.approx(1.0, abs=0.001)
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    clock.advance(7200)
    after = hours_of(ann, job["id"])
    assert after == pytest.approx(2 * seconds_by_events(ann, job["id"]) / 3600, abs=1 / 3600)


def test_attempts_add_up_and_what_lies_between_them_does_not(ann: Api, clock: FakeClock) -> None:
    job = ann.running(cpus=1, retry=1)
    clock.advance(60)
    ann.finish(job, code=1)
    ann.until(job, "RUNNING", attempt=1)
    clock.advance(30)
    ann.finish(job, attempt=1)
    ann.until(job, "SUCCEEDED")
    by_events = seconds_by_events(ann, job["id"])
    assert by_events >= 90
    assert hours_of(ann, job["id"]) == pytest.approx(by_events / 3600, abs=1 / 3600)


def test_only_the_part_within_the_period_counts(ann: Api, clock: FakeClock) -> None:
    job = ann.running(cpus=1)
    began = clock.now()
    clock.advance(100)
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    period = {"since": show_instant(began + 20), "until": show_instant(began + 50)}
    assert hours_of(ann, job["id"], **period) == pytest.approx(30 / 3600, abs=0.1 / 3600)
    assert hours_of(ann, job["id"], until=show_instant(began - 3600)) == 0


def test_use_is_still_known_when_the_job_is_gone(ann: Api, clock: FakeClock) -> None:
    job = ann.running(cpus=1)
    clock.advance(3600)
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    ann.ok("DELETE", f"/jobs/{job['id']}", status=204, params={"for_good": "true"})
    ann.until_gone(job)
    assert hours_of(ann, job["id"]) == pytest.approx(1.0, abs=0.01)


def test_people_see_their_own_queue_admins_their_queues_and_admins_all(
    admin: Api, hire: Hire, clock: FakeClock
) -> None:
    queue = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    owner, colleague, boss = hire(**{queue: "member"}), hire(**{queue: "member"}), hire(**{queue: "admin"})
    job = owner.running(queue=queue, cpus=1, tags=["sweep"])
    clock.advance(3600)
    owner.finish(job)
    owner.until(job, "SUCCEEDED")
    assert hours_of(colleague, job["id"]) == 0
    for reader in (owner, boss, admin):
        assert hours_of(reader, job["id"]) == pytest.approx(1.0, abs=0.01)
    by_tag = boss.ok("GET", "/accounting", params={"by": "tag", "queue": queue})
    assert [line["key"] for line in by_tag["items"]] == ["sweep"]
    assert by_tag["total"]["n_jobs"] == 1
    assert colleague.ok("GET", "/accounting", params={"user": owner.name})["items"] == []
    assert job["id"] not in colleague.call("GET", "/accounting/export").text


def test_the_table_is_one_that_a_spreadsheet_reads(hire: Hire, clock: FakeClock) -> None:
    owner = hire(default="member")
    job = owner.running(cpus=1, tags=["=1+1"])
    clock.advance(3600)
    answer = owner.call("GET", "/accounting/export")
    assert answer.headers["content-type"].startswith("text/csv")
    [row] = csv.DictReader(io.StringIO(answer.text))
    assert (row["job"], row["user"], row["tags"]) == (job["id"], owner.name, "'=1+1")
    assert float(row["cpu_hours"]) == pytest.approx(1.0, abs=0.01)
    owner.finish(job)


def test_a_period_that_ends_before_it_begins_and_other_nonsense_are_refused(
    ann: Api, clock: FakeClock
) -> None:
    now = show_instant(clock.now())
    ann.refused("GET", "/accounting", 422, "until", params={"since": now, "until": now})
    ann.refused("GET", "/accounting", 422, "since", params={"since": "yesterday"})
    assert ann.call("GET", "/accounting", params={"by": "moon"}).status_code == 422


def test_what_was_held_before_a_restart_counts_after_it(tmp_path: Path) -> None:
    clock = FakeClock()
    engine = FakeEngine(clock, [NODE])
    with served(tmp_path, engine, clock) as first, Api(first, first.sign_in(), "admin") as api:
        job = api.running(cpus=1)
        clock.advance(1800)
    clock.advance(1800)
    again = FakeEngine(clock, [NODE], engine.world)
    with served(tmp_path, again, clock) as second, Api(second, second.sign_in(), "admin") as api:
        assert hours_of(api, job["id"]) == pytest.approx(1.0, abs=0.001)
        again.finish(f"{job['id']}.0", "main", 0, 0)
        api.until(job, "SUCCEEDED")
        assert hours_of(api, job["id"]) == pytest.approx(1.0, abs=0.001)
