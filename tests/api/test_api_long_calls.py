"""Calls that are answered when a job has come to a state."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from apiclient import Api, Data

from footplate.wire.jobs import JobDetail


@pytest.fixture
def beside() -> Iterator[ThreadPoolExecutor]:
    """A thread for calls that wait."""
    with ThreadPoolExecutor(1) as caller:
        yield caller


def test_a_long_call_is_answered_when_the_job_is_over(ann: Api, beside: ThreadPoolExecutor) -> None:
    job = ann.submit()
    ann.until(job, "RUNNING")
    asked = beside.submit(ann.ok, "GET", f"/jobs/{job['id']}", JobDetail, params={"wait": 60}, timeout=70)
    ann.finish(job)
    assert asked.result(20)["state"] == "SUCCEEDED"


def test_a_long_call_is_answered_in_a_state_that_it_asks_for(ann: Api) -> None:
    job = ann.submit()
    params = {"wait": 60, "until": ["RUNNING", "STOPPING"]}
    assert ann.ok("GET", f"/jobs/{job['id']}", params=params, timeout=20)["state"] == "RUNNING"


def test_a_long_call_about_a_job_that_is_over_is_answered_at_once(ann: Api) -> None:
    job = ann.submit()
    ann.until(job, "RUNNING")
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    assert ann.ok("GET", f"/jobs/{job['id']}", params={"wait": 60}, timeout=10)["state"] == "SUCCEEDED"


def test_a_long_call_is_answered_in_the_end_whatever_happens(ann: Api) -> None:
    job = ann.submit()
    ann.until(job, "RUNNING")
    assert ann.ok("GET", f"/jobs/{job['id']}", params={"wait": 0.05})["state"] == "RUNNING"


def test_a_long_call_ends_when_the_job_is_deleted(ann: Api, beside: ThreadPoolExecutor) -> None:
    job = ann.submit()
    ann.until(job, "RUNNING")
    asked = beside.submit(ann.call, "GET", f"/jobs/{job['id']}", params={"wait": 60}, timeout=70)
    with Api(ann.served, ann.token) as other:
        other.call("DELETE", f"/jobs/{job['id']}", params={"for_good": "true"})
    # It was over before it was gone.
    assert asked.result(20).status_code in (200, 404)


@pytest.mark.parametrize("params", [{"wait": -1}, {"wait": 61}, {"wait": "x"}, {"until[0]": "DONE"}])
def test_a_long_call_that_makes_no_sense_is_refused(ann: Api, params: Data) -> None:
    job = ann.submit()
    ((field, value),) = params.items()
    ann.refused("GET", f"/jobs/{job['id']}", 422, field, params={field.removesuffix("[0]"): value})


def test_what_is_changed_after_the_end_of_a_job_is_shown(ann: Api) -> None:
    job = ann.submit()
    ann.until(job, "RUNNING")
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    ann.ok("PATCH", f"/jobs/{job['id']}", json={"description": "the best of all"})
    assert ann.ok("GET", f"/jobs/{job['id']}")["description"] == "the best of all"
    ann.call("DELETE", f"/jobs/{job['id']}")
    assert ann.ok("GET", f"/jobs/{job['id']}")["deleted_at"] is not None
