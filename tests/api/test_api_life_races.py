"""The life of jobs where something else happens in between."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from apiclient import Api, Hire, fresh

from footplate.domain.attempt import Attempt
from footplate.domain.errors import Conflict
from footplate.domain.events import TaskLost, TasksGone
from footplate.domain.job import Job
from footplate.engines.base import Notice, Request
from footplate.services import endings
from footplate.services.access import Caller
from footplate.services.platform import Platform
from footplate.store import job_queries
from footplate.store.writer import Work
from footplate.testing.fake_engine import FakeTasks
from footplate.testing.server import Served, until


@pytest.fixture
def ann(hire: Hire) -> Api:
    return hire(default="member")


def test_an_admin_restores_a_job_under_a_name_that_its_owner_does_not_use(ann: Api, admin: Api) -> None:
    name = f"{fresh('twice')}x"
    job = ann.finished(name=name)
    ann.ok("DELETE", f"/jobs/{job['id']}", status=204)
    for other in (name, f"{name}-2"):
        ann.submit(name=other)
    back = admin.ok("POST", f"/jobs/{job['id']}/restore")
    assert back["name"] == f"{name}-3"


def test_a_job_that_was_just_restored_is_not_emptied_out_with_the_trash(
    ann: Api, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ann.finished()
    # What the sweep has read is old by the time at which it acts on it.
    monkeypatch.setattr(job_queries, "in_trash_since", lambda _connection, _before: [job["id"]])
    server.run(server.parts.controller.sweep())
    assert ann.job(job["id"])["state"] == "SUCCEEDED"


@pytest.mark.parametrize("verb", [endings.stop, endings.halt, endings.preempt, endings.release])
def test_what_is_asked_of_a_job_that_ends_meanwhile_is_a_conflict(
    ann: Api, server: Served, verb: Callable[[Platform, Caller, str], Awaitable[Job]]
) -> None:
    kept = verb is endings.release
    job = ann.running(**({"keep_on_failure": "1h"} if kept else {}))
    if kept:
        ann.finish(job, 1)
        ann.until(job, "STOPPING")
    platform, caller = server.parts.platform, Caller("admin", is_admin=True)
    may_write = threading.Event()

    async def ask_while_it_ends() -> Job:
        ending = Work(lambda _tx: may_write.wait(10))
        platform.store.put([ending])
        stopping = asyncio.create_task(endings.stop(platform, caller, job["id"]))
        gone = [TaskLost(0.0, 0, "main", 0), TasksGone(0.0, 0)]
        over = asyncio.create_task(platform.store.apply_all([(job["id"], event) for event in gone]))
        asking = asyncio.create_task(verb(platform, caller, job["id"]))  # type: ignore[arg-type]
        # Each comes as far as the writer, where it is behind the unit that waits.
        await asyncio.sleep(0)
        may_write.set()
        await asyncio.gather(stopping, over)
        return await asking

    with pytest.raises(Conflict, match=f"job {job['id']} is already over: it is (STOPPED|FAILED)"):
        server.run(ask_while_it_ends())


def test_a_retried_task_whose_launch_answered_too_late_is_stopped_too(
    ann: Api, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = server.engine
    assert isinstance(engine, FakeTasks)
    job = ann.running(count=2, task_retry=1)
    start = engine.launch
    stopped: list[Attempt] = []
    stop = engine.stop

    async def start_and_fail(request: Request) -> None:
        monkeypatch.setattr(engine, "launch", start)
        await start(request)
        raise RuntimeError("the answer was lost")

    async def note_and_stop(attempt: Attempt, grace_s: float, notice: Notice | None = None) -> None:
        stopped.append(attempt)
        await stop(attempt, grace_s, notice)

    monkeypatch.setattr(engine, "launch", start_and_fail)
    monkeypatch.setattr(engine, "stop", note_and_stop)
    ann.finish(job, 3, index=1)
    until(lambda: stopped)
    assert [task.run for task in stopped[0].tasks] == [0, 1]
    again = ann.until(job, "RUNNING", attempt=1)
    ann.ok("POST", f"/jobs/{again['id']}/stop")


def test_a_job_that_is_restored_several_times_at_once_keeps_its_name(ann: Api) -> None:
    job = ann.finished(name=fresh("again"))
    ann.ok("DELETE", f"/jobs/{job['id']}", status=204)
    with ThreadPoolExecutor(6) as pool:
        answers = list(
            pool.map(lambda _: ann.call("POST", f"/jobs/{job['id']}/restore").status_code, range(6))
        )
    assert sorted(answers) == [200, 409, 409, 409, 409, 409]
    assert ann.job(job["id"])["name"] == job["name"]


def test_a_job_with_the_longest_name_is_restored_under_a_name_that_can_be_used(ann: Api) -> None:
    name = (fresh("long") + "x" * 255)[:253] + "-9"
    job = ann.finished(name=name)
    ann.ok("DELETE", f"/jobs/{job['id']}", status=204)
    ann.submit(name=name)
    back = ann.ok("POST", f"/jobs/{job['id']}/restore")
    assert ann.job(back["name"])["id"] == job["id"]


def test_a_job_that_is_stopping_has_nothing_to_halt_or_give_back(
    ann: Api, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, may_stop = server.engine, threading.Event()
    stop = engine.stop

    async def stop_later(attempt: Attempt, grace_s: float, notice: Notice | None = None) -> None:
        await asyncio.to_thread(may_stop.wait)
        await stop(attempt, grace_s, notice)

    monkeypatch.setattr(engine, "stop", stop_later)
    job = ann.running()
    try:
        ann.ok("POST", f"/jobs/{job['id']}/stop")
        ann.refused("POST", f"/jobs/{job['id']}/halt", 409, says="already stopping")
        ann.refused("POST", f"/jobs/{job['id']}/preempt", 409, says="nothing to preempt")
    finally:
        may_stop.set()
    ann.until(job, "STOPPED")


def test_a_job_in_the_trash_cannot_be_changed(ann: Api) -> None:
    job = ann.finished()
    ann.ok("DELETE", f"/jobs/{job['id']}", status=204)
    change = {"description": "x"}
    ann.refused("PATCH", f"/jobs/{job['id']}", 409, says="restore it before you change it", json=change)
