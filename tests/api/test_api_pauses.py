"""Jobs that pause before they are tried again, as people see and handle them."""

from __future__ import annotations

import pytest
from apiclient import Api, Data, fresh

from footplate.domain.kinds import show_instant
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeTasks
from footplate.testing.server import until
from footplate.wire.jobs import DryRun, JobDetail, Jobs, Waiting


def pausing(api: Api, **fields: object) -> Data:
    """A job that lost its task twice and pauses for a second."""
    engine = api.served.engine
    assert isinstance(engine, FakeTasks)
    job = api.submit(**fields)
    for attempt in (0, 1):
        api.until(job, "RUNNING", attempt)
        engine.lose(f"{job['id']}.{attempt}")
    return api.until(job, "QUEUED", 2)


def test_a_job_pauses_and_is_then_tried_again(ann: Api, clock: FakeClock) -> None:
    job = pausing(ann)
    assert job["reason"]["code"] == "retry_later"
    assert (job["reason"]["details"]["retry"], job["reason"]["details"]["retries"]) == (2, 8)
    clock.advance(1)
    assert ann.until(job, "RUNNING", 2)["retries_used"] == 0


def test_everybody_is_told_what_failed_and_when_the_next_try_comes(ann: Api, clock: FakeClock) -> None:
    job = pausing(ann)
    next_try = show_instant(clock.now() + 1)
    lost = "task main-0 was lost: its process can no longer be found"
    shown = f"{next_try[:10]} {next_try[11:19]} UTC"
    told = f"{lost}; retry 2 of 8 after a platform fault, not before {shown}"
    assert job["reason"]["message"] == told
    assert job["reason"]["details"]["not_before"] == next_try
    (listed,) = ann.ok("GET", "/jobs", Jobs, params={"state": "QUEUED"})["items"]
    assert (listed["id"], listed["reason"]["message"]) == (job["id"], told)

    def queued() -> Data | None:
        waiting = ann.ok("GET", "/waiting", Waiting)["items"]
        return waiting[0] if waiting else None

    first = until(queued)
    assert (first["reason"]["code"], first["reason"]["message"]) == ("retry_later", told)
    assert (first["position"], first["estimate"]["expected_at"]) == (0, next_try)
    shown = ann.job(job["id"])
    assert (shown["estimate"]["expected_at"], shown["estimate"]["latest_at"]) == (next_try, next_try)
    lines = ann.ok("GET", f"/jobs/{job['id']}/events")["items"]
    assert [line["data"].get("pause_s") for line in lines if line["kind"] == "requeued"] == [None, 1]


def test_others_start_in_the_meantime_and_a_dry_run_says_so(ann: Api, clock: FakeClock) -> None:
    job = pausing(ann, cpus=8)
    asked = {"name": fresh("behind"), "command": "wait", "cpus": 8}
    assert ann.ok("POST", "/jobs/dry-run", DryRun, json=asked)["would_start"]
    other = ann.running(cpus=8)
    clock.advance(1)
    until(lambda: ann.job(job["id"])["reason"]["code"] == "insufficient_resources")
    ann.finish(other)
    ann.until(job, "RUNNING", 2)


@pytest.mark.our_nodes
def test_a_job_that_pauses_is_ahead_of_those_that_came_later(ann: Api, clock: FakeClock) -> None:
    job = pausing(ann, cpus=8)
    other, later = ann.running(cpus=8), ann.submit(cpus=8)
    until(lambda: ann.job(later["id"])["reason"]["details"].get("ahead") == 0)
    clock.advance(1)
    until(lambda: ann.job(later["id"])["reason"]["details"].get("ahead") == 1)
    ann.finish(other)
    ann.until(job, "RUNNING", 2)
    assert ann.job(later["id"])["state"] == "QUEUED"


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [("POST", "/stop", "STOPPED"), ("POST", "/halt", "STOPPED"), ("DELETE", "", "STOPPED")],
)
def test_a_job_that_pauses_can_be_ended_at_once(ann: Api, method: str, path: str, expected: str) -> None:
    job = pausing(ann)
    assert ann.call(method, f"/jobs/{job['id']}{path}").is_success
    assert ann.job(job["id"])["state"] == expected


def test_a_job_that_pauses_can_be_deleted_for_good(ann: Api) -> None:
    job = pausing(ann)
    assert ann.call("DELETE", f"/jobs/{job['id']}", params={"for_good": "true"}).is_success
    ann.until_gone(job)


def test_the_priority_can_be_changed_during_a_pause(ann: Api, clock: FakeClock) -> None:
    job = pausing(ann, cpus=8)
    edited = ann.ok("PATCH", f"/jobs/{job['id']}", JobDetail, json={"priority": 5})
    assert (edited["priority"], edited["reason"]["code"]) == (5, "retry_later")
    assert ann.job(job["id"])["state"] == "QUEUED"
    clock.advance(1)
    ann.until(job, "RUNNING", 2)


def test_a_deadline_that_passes_during_a_pause_ends_the_job(ann: Api, clock: FakeClock) -> None:
    job = pausing(ann, deadline=show_instant(clock.now() + 0.9))
    clock.advance(0.95)
    assert ann.until(job, "STOPPED")["reason"]["code"] == "deadline"


def test_a_copy_of_a_job_that_pauses_starts_at_once(ann: Api) -> None:
    job = pausing(ann)
    copy = ann.ok("POST", f"/jobs/{job['id']}/clone", JobDetail, 201, json={"name": fresh("copy")})
    ann.until(copy, "RUNNING", 0)


def test_a_job_that_crashes_at_once_time_and_again_pauses(ann: Api, clock: FakeClock) -> None:
    job = ann.submit(command="exit 4", retry=4)
    for attempt, pause_s in ((3, 1), (4, 2)):
        paused = ann.until(job, "QUEUED", attempt)
        assert paused["reason"]["details"]["pause_s"] == pause_s
        clock.advance(pause_s)
    assert "tried 5 times" in ann.until(job, "FAILED")["reason"]["message"]
