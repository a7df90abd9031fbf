"""How long jobs usually run, and what that says about waiting ones."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from footplate.control.durations import MOST_SERIES, Durations, series_of
from footplate.control.estimates import Known, estimate, know
from footplate.domain.estimate import Estimate
from footplate.domain.job import Job
from footplate.domain.states import JobState
from footplate.scheduler.policy import Policy
from footplate.testing.builders import AT, job
from footplate.testing.builders import running as running_job
from footplate.testing.scheduling import node, pending, role, running, snapshot


def ended(name: str, seconds: float, state: JobState = JobState.SUCCEEDED) -> Job:
    return replace(job(name=name), state=state, running_at=AT, finished_at=AT + seconds)


def test_names_that_differ_in_a_number_are_of_one_kind() -> None:
    assert series_of("ann", "digits-17") == series_of("ann", "digits") == series_of("ann", "digits_2")
    assert series_of("ann", "digits") != series_of("bob", "digits")


def test_what_is_usual_comes_from_jobs_that_ended_well() -> None:
    times = Durations()
    times.learn([ended(f"d-{n}", 10.0 * n) for n in range(1, 12)])
    times.learn([ended("d-99", 9999, JobState.FAILED), ended("d-98", 9999, JobState.STOPPED)])
    assert times.usual(("ann", "d")) == (60.0, 100.0)
    assert times.usual(("ann", "other")) is None
    times.learn([ended("single", 5)])
    assert times.usual(("ann", "single")) == (5, 5)


def test_only_so_many_kinds_are_remembered() -> None:
    times = Durations()
    times.learn(ended(f"name-{n}x", 1) for n in range(MOST_SERIES + 1))
    assert times.usual(("ann", "name-0x")) is None
    assert times.usual(("ann", f"name-{MOST_SERIES}x")) == (1, 1)


def test_an_estimate_uses_history_and_limits() -> None:
    state = snapshot([node(cpus=2)], [pending("a", role(cpus=2))], [running("x", cpus=2)])
    known = {"x": Known(since=AT - 30, limit_s=600, usual_s=(100, 120)), "a": Known(None, None, None)}
    told = asyncio.run(estimate("a", state, Policy(), AT, known))
    assert (told.expected_at, told.latest_at) == (AT + 70, AT + 570)


def test_a_job_that_has_outrun_what_is_usual_is_not_expected_to_end_at_once() -> None:
    state = snapshot([node(cpus=2)], [pending("a", role(cpus=2))], [running("x", cpus=2)])
    known = {"x": Known(since=AT - 300, limit_s=None, usual_s=(100, 120))}
    told = asyncio.run(estimate("a", state, Policy(), AT, known))
    assert told.expected_at == AT + 10
    assert told.latest_at is None
    assert "without a time limit" in str(told.basis)


def told_of(behind: Job) -> Estimate:
    """What a job is told that waits for the end of another."""
    state = snapshot([node(cpus=2)], [pending("a", role(cpus=2))], [running(behind.id, cpus=2)])
    known = know([behind, job("a", name="other")], Durations())
    return asyncio.run(estimate("a", state, Policy(), AT + 2, known))


def test_the_latest_start_lies_behind_the_polite_stop_of_the_job_before() -> None:
    told = told_of(running_job(time_limit="10m", grace="30s"))
    assert told.latest_at == AT + 2 + 630
    assert str(told.basis) == "from time limits"


def test_the_latest_start_lies_behind_the_time_for_which_a_failure_is_kept() -> None:
    limited = running_job(time_limit="10m", grace="30s", keep_on_failure="1h")
    assert told_of(limited).latest_at == AT + 2 + 630 + 3600


def test_a_job_that_starts_has_its_whole_limit_before_it() -> None:
    starting = replace(running_job(time_limit="10m", grace="0s"), running_at=None)
    assert told_of(starting).latest_at == AT + 2 + 600


def test_what_is_not_known_is_told_in_whole_sentences() -> None:
    told = told_of(running_job())
    assert str(told.basis) == (
        "no estimate: 1 of 1 job ahead without a time limit, and no similar run before"
    )
