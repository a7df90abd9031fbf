"""Jobs as rows: what is read back equals what was written, in every state and after any life."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
import sqlalchemy as sa
from storebench import a_job, attempts, insert, job_id, opened, rows_of, table_sizes, with_store

from footplate.domain.errors import InvalidTransition, NotFound
from footplate.domain.events import (
    DeleteAsked,
    Edited,
    Event,
    LaunchFailed,
    Placed,
    Preempted,
    Refused,
    StopAsked,
    TaskExited,
    TaskLost,
    TasksGone,
    TaskStarted,
    WaitExplained,
)
from footplate.domain.job import Job
from footplate.domain.messages import say, text
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState
from footplate.store import job_queries, transitions
from footplate.store.store import Store
from footplate.store.writer import Transaction
from footplate.testing.builders import AT, job, placement

BUSY = Reason(ReasonCode.INSUFFICIENT_RESOURCES, text("8 of 8 GPUs are in use"), {"free": 0, "asked": 2})
BY_ANN = Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann"), {"by": "ann"})
EVERYTHING: dict[str, Any] = {
    "name": "every.field~1",
    "description": "naïve, 训练, \u202e turned round",
    "queue": "vision",
    "priority": -7,
    "image": "python:3.12",
    "code": {"storage": "nfs", "path": "src"},
    "data": [{"path": "/data", "storage": "nfs", "source": "digits"}],
    "results": {"storage": "nfs", "path": "out"},
    "env": {"OMP_NUM_THREADS": "1"},
    "parameters": {"epochs": 5, "rate": 1e-3, "deep": True, "label": "a"},
    "secrets": {"TOKEN": "hub"},
    "roles": [
        {"name": "ps", "command": "ps", "cpus": 0.5, "memory": "100MB", "completion": {"min_failed": None}},
        {
            "name": "worker",
            "count": 3,
            "command": "w",
            "gpus": 2,
            "gpu_type": "H200",
            "ports": [{"label": "web"}],
        },
    ],
    "services": ["tensorboard"],
    "alerts": [{"on": "finished", "to": ["ann"]}],
    "retry": 2,
    "time_limit": "1h30m",
    "deadline": "2030-01-31T18:00:00Z",
    "grace": "30s",
    "keep_on_failure": "1h",
    "tags": ["a%b", 'say "hi"', "c_d"],
    "extras": {"free": [1, None, {"x": "y"}]},
}


def _exit_all(of: Job, code: int) -> list[Event]:
    return [TaskExited(AT + 9, of.attempt, task.role, task.index, code, text("said so")) for task in of.tasks]


def test_a_job_in_any_state_is_read_back_as_it_was(database_url: str) -> None:
    async def scenario() -> None:
        written: dict[str, Job] = {}
        with opened(database_url) as store:
            for number, (name, events) in enumerate(_lives().items()):
                one = await a_job(store, number, **{**EVERYTHING, "name": f"job-{number}"})
                for event in events:
                    await store.apply(one.id, event)
                found = await store.job(one.id)
                assert found is not None
                assert found.state.value == name.split(",")[0].split(" ")[0]
                written[one.id] = found
            assert await rows_of(store) == written
            assert {one.state for one in written.values()} == set(JobState)
        with opened(database_url) as again:
            assert await rows_of(again) == written
            assert again.board == {key: one for key, one in written.items() if not one.state.is_final}

    asyncio.run(scenario())


def _lives() -> dict[str, list[Event]]:
    """The events that lead to each state."""
    of = job(**EVERYTHING)
    up: list[Event] = [Placed(AT + 1, of.attempt, placement(of.spec))]
    up += [TaskStarted(AT + 2, 0, task.role, task.index) for task in of.tasks]
    failing = [*up, TaskExited(AT + 5, 0, "worker", 1, 137, text("out of memory"))]
    stopping = [*up, StopAsked(AT + 5, BY_ANN, "ann")]
    return {
        "QUEUED": [],
        "QUEUED, told why": [WaitExplained(AT + 1, 0, BUSY)],
        "QUEUED again": [*failing, TasksGone(AT + 6, 0)],
        "STARTING": up[:1],
        "STARTING, half": up[:3],
        "RUNNING": up,
        "RUNNING, one lost": [*up, TaskLost(AT + 4, 0, "ps", 0, text("gone"))],
        "STOPPING to retry": failing,
        "STOPPING for good": stopping,
        "STOPPING to be deleted": [*up, DeleteAsked(AT + 5, "ann")],
        "SUCCEEDED": [*up, *_exit_all(of, 0)],
        "FAILED": [Refused(AT + 1, 0, Reason(ReasonCode.NEVER_FITS, text("never")))],
        "STOPPED": [*stopping, TasksGone(AT + 6, 0)],
    }


def _some_event(chance: random.Random, of: Job, at: float) -> Event:
    """Something that might happen to a job, sensible or late."""
    task = chance.choice(of.tasks)
    attempt = max(0, of.attempt - chance.choice((0, 0, 0, 1)))
    code = chance.choice((0, 0, 0, 1, 137))
    events: list[Event] = [
        Placed(at, of.attempt, placement(of.spec)),
        Placed(at, of.attempt, placement(of.spec)),
        TaskStarted(at, attempt, task.role, task.index),
        TaskStarted(at, attempt, task.role, task.index),
        TaskExited(at, attempt, task.role, task.index, code),
        TaskExited(at, attempt, task.role, task.index, code),
        TaskLost(at, attempt, task.role, task.index, text("gone")),
        LaunchFailed(at, attempt, text("the engine is away"), chance.random() < 0.2),
        StopAsked(at, BY_ANN, "ann"),
        Preempted(at, attempt, Reason(ReasonCode.PREEMPTED, text("made room"))),
        TasksGone(at, attempt),
        TasksGone(at, attempt),
        WaitExplained(at, 0, BUSY),
        Edited(at, "ann", description=f"as of {at}", priority=chance.randrange(-9, 9)),
        DeleteAsked(at, "ann"),
    ]
    weights = [9, 9, 9, 9, 9, 9, 2, 2, 2, 2, 9, 9, 3, 3, 1]
    return chance.choices(events, weights)[0]


async def _live_at_random(store: Store, chance: random.Random, one: Job, n_events: int) -> int:
    """Tell a job of events as they come; the result is how many it refused."""
    n_refused = 0
    for step in range(n_events):
        now = await store.job(one.id)
        assert now is not None
        try:
            await store.apply(one.id, _some_event(chance, now, AT + step))
        except InvalidTransition:
            n_refused += 1
    return n_refused


@pytest.mark.parametrize("seed", range(3))
def test_the_board_equals_the_rows_after_any_sequence_of_events(database_url: str, seed: int) -> None:
    async def scenario() -> None:
        chance = random.Random(seed)
        roles = [{"name": "a", "command": "a", "count": 2}, {"name": "b", "command": "b"}]
        with opened(database_url) as store:
            jobs = [job(job_id(n), name=f"job-{n}", roles=roles, retry=n % 3) for n in range(25)]
            await insert(store, *jobs)
            refused = await asyncio.gather(
                *(_live_at_random(store, random.Random(chance.random()), one, 30) for one in jobs)
            )
            assert 0 < sum(refused) < 25 * 30
            rows = await rows_of(store)
            assert len({one.state for one in rows.values()}) > 3
            assert store.board == {key: one for key, one in rows.items() if not one.state.is_final}
            kept = dict(store.board)
        with opened(database_url) as again:
            assert again.board == kept

    asyncio.run(scenario())


@with_store
async def test_several_moves_of_one_job_in_one_commit_leave_the_last(store: Store) -> None:
    new = job(name="at-once")

    def unit(tx: Transaction) -> None:
        transitions.insert(tx, new)
        transitions.apply(tx, store.board, new.id, StopAsked(AT + 1, BY_ANN, "ann"))

    await store.write(unit)
    (kept,) = (await rows_of(store)).values()
    assert kept.state is JobState.STOPPED
    assert kept == await store.job(new.id)
    assert store.board == {}


async def _retried(store: Store) -> Job:
    """A job whose first attempt failed and whose second succeeded."""
    one = await a_job(store, 1, count=2, retry=1)
    await store.apply(one.id, Placed(AT + 1, one.attempt, placement(one.spec)))
    for index in (0, 1):
        await store.apply(one.id, TaskStarted(AT + 2, 0, "main", index))
    await store.apply(one.id, TaskExited(AT + 3, 0, "main", 0, 7, text("broken pipe")))
    await store.apply(one.id, TasksGone(AT + 4, 0))
    await store.apply(one.id, Placed(AT + 5, 1, placement(one.spec, "there")))
    for index in (0, 1):
        await store.apply(one.id, TaskExited(AT + 7, 1, "main", index, 0))
    return one


@with_store
async def test_a_retried_job_keeps_the_history_of_both_attempts(store: Store) -> None:
    one = await _retried(store)
    first, second = await attempts(store, one.id)
    assert (first.number, first.state, first.reason.code) == (0, JobState.FAILED, ReasonCode.RETRYING)
    assert (first.started_at, first.running_at, first.finished_at) == (AT + 1, AT + 2, AT + 4)
    assert [(task.state, task.exit_code, task.detail) for task in first.tasks] == [
        (TaskState.EXITED, 7, text("broken pipe")),
        (TaskState.EXITED, None, say("task_stopped")),
    ]
    assert (second.number, second.state, second.finished_at) == (1, JobState.SUCCEEDED, AT + 7)
    assert {task.node for task in second.tasks} == {"there"}


@with_store
async def test_a_preempted_attempt_ends_as_stopped(store: Store) -> None:
    one = await a_job(store)
    await store.apply(one.id, Placed(AT + 1, one.attempt, placement(one.spec)))
    await store.apply(one.id, Preempted(AT + 2, 0, Reason(ReasonCode.PREEMPTED, text("made room"))))
    await store.apply(one.id, TasksGone(AT + 3, 0))
    (first,) = await attempts(store, one.id)
    assert (first.state, first.reason.code) == (JobState.STOPPED, ReasonCode.PREEMPTED)


@with_store
async def test_a_job_that_was_never_placed_has_no_attempts(store: Store) -> None:
    one = await a_job(store)
    await store.apply(one.id, StopAsked(AT + 1, BY_ANN, "ann"))
    assert await attempts(store, one.id) == []


@with_store
async def test_a_removed_job_leaves_only_its_lines_in_the_event_log(store: Store) -> None:
    one = await _retried(store)
    await store.write(lambda tx: job_queries.remember(tx.connection, "ann", "key", "digest", one.id, AT))
    n_events = (await table_sizes(store))["events"]
    await store.apply(one.id, DeleteAsked(AT + 8, "ann", for_good=True))
    finished = await store.job(one.id)
    assert finished is not None
    assert await store.read(job_queries.to_remove) == [one.id]
    await store.write(lambda tx: transitions.remove(tx, finished, AT + 9))
    sizes = await table_sizes(store)
    assert {name: sizes[name] for name in ("jobs", "tasks", "attempts", "idempotency")} == {
        "jobs": 0,
        "tasks": 0,
        "attempts": 0,
        "idempotency": 0,
    }
    assert sizes["events"] == n_events + 2
    assert await store.job(one.id) is None
    assert one.id not in store.board


@with_store
async def test_one_owner_cannot_have_two_jobs_of_one_name(store: Store) -> None:
    await a_job(store, 1, name="mine")
    assert await store.write(lambda tx: transitions.insert(tx, job(job_id(2), name="mine"))) is False
    assert await store.write(lambda tx: transitions.insert(tx, job(job_id(3), "bob", name="mine"))) is True
    assert set(await rows_of(store)) == {job_id(1), job_id(3)}


@with_store
async def test_a_name_is_free_again_once_its_job_was_removed(store: Store) -> None:
    first = await a_job(store, 1, name="mine")
    stopped = (await store.apply(first.id, StopAsked(AT, BY_ANN))).after
    await store.write(lambda tx: transitions.remove(tx, stopped, AT))
    await a_job(store, 2, name="mine")
    assert set(store.board) == {job_id(2)}


@with_store
async def test_an_idempotency_key_is_remembered_per_owner_until_it_is_forgotten(store: Store) -> None:
    await store.write(lambda tx: job_queries.remember(tx.connection, "ann", "key", "digest", job_id(1), AT))

    async def look(owner: str) -> tuple[str, str] | None:
        return await store.read(lambda connection: job_queries.remembered(connection, owner, "key"))

    assert await look("ann") == ("digest", job_id(1))
    assert await look("bob") is None
    with pytest.raises(sa.exc.IntegrityError):
        await store.write(
            lambda tx: job_queries.remember(tx.connection, "ann", "key", "other", job_id(2), AT)
        )
    assert await store.write(lambda tx: job_queries.forget_keys_before(tx.connection, AT)) == 0
    assert await store.write(lambda tx: job_queries.forget_keys_before(tx.connection, AT + 1)) == 1
    assert await look("ann") is None


@with_store
async def test_moves_of_a_job_that_is_gone_are_passed_over_in_a_group(store: Store) -> None:
    one = await a_job(store)
    moves: list[tuple[str, Event]] = [
        (job_id(404), WaitExplained(AT, 0, BUSY)),
        (one.id, WaitExplained(AT, 0, BUSY)),
    ]
    await store.apply_all(moves)
    assert store.board[one.id].reason == BUSY
    with pytest.raises(NotFound):
        await store.apply(job_id(404), WaitExplained(AT, 0, BUSY))
