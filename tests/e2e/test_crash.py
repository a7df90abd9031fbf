"""Kills at random moments, while jobs of all kinds go through, lose nothing and leave nothing.

The server, its spawner, shims, tasks, the container engine and its helpers are killed, the server is stopped
for moments, and a checker then reads the event log, the tables, the tasks' own notes and the machine.
`FOOTPLATE_TEST_KILLS` says how often (a tenth of it where tasks are containers), `FOOTPLATE_TEST_SEED` gives
other moments, `FOOTPLATE_TEST_CONTAINERS=docker` another engine than Podman.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.testing.container_engine import (
    ContainerEngine,
    ContainerEngineMissing,
    running_docker,
    running_podman,
)
from footplate.testing.faults_image import IMAGE, image_with_flock
from footplate.testing.faults_injector import Injector
from footplate.testing.faults_run import KILLS, SEED, Run, go_through
from footplate.testing.faults_users import Users
from footplate.testing.process import ServerProcess

SETTINGS = "retry_pause = '1s'\nretry_pause_most = '1s'\n[node]\ncpus = 16\nmemory = '64GB'\n"
RUNNING = {"podman": running_podman, "docker": running_docker}[
    os.environ.get("FOOTPLATE_TEST_CONTAINERS", "podman")
]
LONGEST_S = 300 + 10 * KILLS


def holds_memory(users: Users) -> bool:
    return "memory" in users.ask("GET", "/nodes").json()["items"][0]["enforced"]


@pytest.mark.timeout(LONGEST_S)
def test_a_hundred_kills_at_random_moments_lose_nothing(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "home", SETTINGS) as server, server.client() as client:
        users = Users(client)
        injector = Injector(server, random.Random(SEED))
        go_through(Run(server, users, injector, SEED, has_limits=holds_memory(users)), KILLS)


@pytest.fixture
def engine() -> Iterator[ContainerEngine]:
    try:
        with RUNNING() as running:
            running.load(IMAGE, image_with_flock())
            yield running
    except ContainerEngineMissing as error:
        pytest.skip(str(error))


@pytest.mark.timeout(LONGEST_S)
def test_kills_at_random_moments_lose_nothing_where_tasks_are_containers(
    engine: ContainerEngine, tmp_path: Path
) -> None:
    socket = f"container_socket = '{engine.socket}'\n"
    with ServerProcess(tmp_path / "home", socket + SETTINGS) as server, server.client() as client:
        injector = Injector(server, random.Random(SEED), engine)
        run = Run(server, Users(client), injector, SEED, engine, image=IMAGE)
        go_through(run, max(1, KILLS // 10))
