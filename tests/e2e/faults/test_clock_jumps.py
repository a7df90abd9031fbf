"""A clock that is set forward or back, by hours, costs no job more than its wall-clock limits say."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.machine.settings import LocalSettings
from footplate.testing.checker import check
from footplate.testing.faults_clock import JumpingClock
from footplate.testing.faults_evidence import leftovers, read_database, read_notes
from footplate.testing.faults_kinds import kinds
from footplate.testing.faults_run import SEED
from footplate.testing.faults_users import Users
from footplate.testing.server import Served, served

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
SLEEPS = {"command": "sleep 1000", "cpus": 0.5, "memory": "64MB", "grace": "1s"}
# Kinds whose ends hang on no limit of time.
ENDS_BY_ITSELF = (
    "succeeds",
    "fails",
    "retried",
    "leaves-a-daemon",
    "two-roles",
    "task-retried",
    "environment",
)


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock()


@pytest.fixture
def server(tmp_path: Path, clock: JumpingClock) -> Iterator[Served]:
    home = tmp_path / "home"
    settings = LocalSettings(milli_cpus=16_000, memory_bytes=16 * 1024**3, home=home)
    home.mkdir()
    with served(home, LocalEngine(settings), clock) as running:
        yield running


@pytest.fixture
def users(server: Served) -> Iterator[Users]:
    with server.client(server.sign_in()) as client:
        yield Users(client)


def negatives(value: Any) -> list[Any]:
    """Numbers below zero anywhere in an answer."""
    if isinstance(value, dict):
        return [found for one in value.values() for found in negatives(one)]
    if isinstance(value, list):
        return [found for one in value for found in negatives(one)]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [value] if is_number and value < 0 else []


def submit(users: Users, name: str, **more: Any) -> str:
    return users.submit({"name": name, **SLEEPS, **more}, name)


def test_a_jump_forward_ends_only_those_whose_limit_it_passes(users: Users, clock: JumpingClock) -> None:
    short = submit(users, "short", time_limit="30m")
    long = submit(users, "long", time_limit="2h")
    free = submit(users, "free")
    for job_id in (short, long, free):
        users.await_running(job_id)
    clock.jump(HOUR_S)
    assert users.await_end(short)["reason"]["code"] == "time_limit"
    later = submit(users, "later", command="true")
    assert users.await_end(later)["state"] == "SUCCEEDED"
    assert [users.show(job_id)["state"] for job_id in (long, free)] == ["RUNNING", "RUNNING"]
    for job_id in (long, free):
        users.tell(job_id, "stop")
        assert users.await_end(job_id)["state"] == "STOPPED"


def test_a_jump_back_ends_nothing_early_and_shows_no_negative_times(
    users: Users, clock: JumpingClock
) -> None:
    limited = submit(users, "limited", time_limit="1h")
    users.await_running(limited)
    clock.jump(-HOUR_S)
    later = submit(users, "later", command="true")
    assert users.await_end(later)["state"] == "SUCCEEDED"
    shown = users.show(limited)
    assert shown["state"] == "RUNNING"
    listed = users.ask("GET", "/jobs").json()
    assert negatives([shown, users.show(later), users.attempts(later), listed]) == []
    # By the clock on the wall its hour is over only an hour after the clock has come back to where it was.
    shorter = submit(users, "shorter", time_limit="20m")
    users.await_running(shorter)
    clock.jump(HOUR_S + HOUR_S / 2)
    assert users.await_end(shorter)["reason"]["code"] == "time_limit"
    assert users.show(limited)["state"] == "RUNNING"
    clock.jump(HOUR_S)
    assert users.await_end(limited)["reason"]["code"] == "time_limit"


@pytest.mark.timeout(300)
def test_jumps_to_and_fro_while_jobs_run_break_nothing(
    server: Served, users: Users, clock: JumpingClock, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random(SEED)
    played = {}
    for number in range(2):
        for kind in kinds(chance.random() / 2):
            if kind.name in ENDS_BY_ITSELF:
                played[kind.submit(users, number)] = kind
                clock.jump(chance.uniform(-DAY_S, DAY_S))
    faults = [
        fault
        for job_id, kind in played.items()
        for fault in (*kind.faults_of(users.await_end(job_id), False), *negatives(users.show(job_id)))
    ]
    assert faults == []
    home = server.home
    evidence = replace(read_database(home), notes=read_notes(home), answered=frozenset(users.answered))
    assert check(evidence) == []
    assert [record.message for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert [left for left in leftovers(home) if "control group" not in left] == []
