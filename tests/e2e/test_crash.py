"""Kills at random moments, while jobs of all kinds go through, lose nothing and leave nothing.

The server, its spawner, shims, tasks, the container engine and its helpers are killed, the server is stopped
for moments, and a checker then reads the event log, the tables, the tasks' own notes and the machine.
`FOOTPLATE_TEST_KILLS` says how often (a tenth of it where tasks are containers), `FOOTPLATE_TEST_SEED` gives
other moments.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.testing.checker import Evidence, check
from footplate.testing.container_engine import (
    HOST_TOOLS,
    ContainerEngine,
    ContainerEngineMissing,
    host_tools,
    running_podman,
)
from footplate.testing.faults_evidence import read_database, read_notes, with_leftovers
from footplate.testing.faults_injector import Injector
from footplate.testing.faults_kinds import Kind, kinds
from footplate.testing.faults_users import Users
from footplate.testing.process import ServerProcess, await_that

KILLS = int(os.environ.get("FOOTPLATE_TEST_KILLS", "100"))
SEED = int(os.environ.get("FOOTPLATE_TEST_SEED", "20"))
N_USERS = 6
SETTINGS = "[node]\ncpus = 16\nmemory = '64GB'\n"
LONGEST_S = 120 + 30 * KILLS


class Run:
    """Users who submit jobs one after the other, and an injector, on one server."""

    def __init__(self, server: ServerProcess, users: Users, engine: ContainerEngine | None = None) -> None:
        self.server = server
        self.users = users
        self.engine = engine
        self.injector = Injector(server, random.Random(SEED), engine)
        self.kinds: dict[str, Kind] = {}
        self._numbers = itertools.count()
        self._choice = random.Random(SEED + 1)
        self._lock = threading.Lock()
        self._over = threading.Event()

    def go(self, n_kills: int, image: str = "", **roles: str) -> None:
        """Let jobs go through until enough was killed, every kind was had, and all have ended."""
        with ThreadPoolExecutor(N_USERS) as pool:
            working = [pool.submit(self._work, image, roles) for _ in range(N_USERS)]
            try:
                self.injector.run(n_kills)
            finally:
                self._over.set()
            for worker in working:
                worker.result()

    def _work(self, image: str, roles: dict[str, str]) -> None:
        while True:
            with self._lock:
                number = next(self._numbers)
                offered = [one for one in kinds(self._choice.random() * 2, roles)]
            if self._over.is_set() and number >= len(offered):
                return
            kind = offered[number % len(offered)]
            job_id = kind.submit(self.users, number, image)
            self.kinds[job_id] = kind
            kind.play(self.users, job_id)
            if not kind.is_removed:
                self.users.await_end(job_id)

    def faults(self) -> list[str]:
        """Stop the server and say everything that is wrong."""
        hits = self.injector.hits()
        faults = self._faults_of_ends({who[0] for who in hits})
        node = self.users.ask("GET", "/nodes").json()["items"][0]
        self.server.stop()
        home = self.server.home
        evidence = replace(
            with_leftovers(_settled(home, self.engine), home, self.engine),
            notes=read_notes(home),
            answered=frozenset(self.users.answered),
            removed=frozenset(self.users.removed),
            hits=hits,
            free=_amounts(node["free"]),
            capacity=_amounts(node["capacity"]),
        )
        return [*faults, *check(evidence)]

    def _faults_of_ends(self, hit: set[str]) -> Iterator[str]:
        for job_id, kind in self.kinds.items():
            if kind.is_removed:
                continue
            shown = self.users.show(job_id)
            yield from kind.faults_of(shown, job_id in hit)
            if kind.log is not None and job_id not in hit and self.users.log(job_id) != kind.log:
                yield f"the log of {shown['name']} ({job_id}) is not whole"
