"""One run with faults: people submit jobs of all kinds, an injector strikes, a checker has the last word."""

from __future__ import annotations

import itertools
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from footplate.testing.checker import check
from footplate.testing.container_engine import ContainerEngine
from footplate.testing.faults_evidence import leftovers, read_database, read_notes
from footplate.testing.faults_injector import Strikes
from footplate.testing.faults_kinds import Kind, kinds
from footplate.testing.faults_users import Shown, Users
from footplate.testing.process import ServerProcess, await_that

KILLS = int(os.environ.get("FOOTPLATE_TEST_KILLS", "100"))
SEED = int(os.environ.get("FOOTPLATE_TEST_SEED", "20"))
N_USERS = 6
# What a server that was told to stop may still be giving back.
SETTLE_S = 20


class Run:
    """Users who submit jobs one after the other, and an injector, on one server."""

    def __init__(
        self,
        server: ServerProcess,
        users: Users,
        injector: Strikes,
        seed: int,
        engine: ContainerEngine | None = None,
        database_url: str = "",
        image: str = "",
        has_limits: bool = True,
    ) -> None:
        self.injector = injector
        self._n_of_kind: Counter[str] = Counter()
        self._server = server
        self._users = users
        self._engine = engine
        self._database_url = database_url
        self._image = image
        self._has_limits = has_limits
        self._kinds: dict[str, Kind] = {}
        self._numbers = itertools.count()
        self._pauses = random.Random(seed + 1)
        self._lock = threading.Lock()
        self._over = threading.Event()

    def go(self, n_kills: int) -> None:
        """Let jobs go through until enough was killed, every kind was had, and all have ended."""
        with ThreadPoolExecutor(N_USERS) as pool:
            workers = [pool.submit(self._work) for _ in range(N_USERS)]
            try:
                self.injector.run(n_kills)
            except BaseException:
                self._users.give_up()
                raise
            finally:
                self._over.set()
            for worker in workers:
                worker.result()

    def figures(self) -> str:
        """Say what was struck and what went through."""
        struck = ", ".join(f"{kind} {n}" for kind, n in sorted(self.injector.kills.items()))
        through = ", ".join(f"{kind} {n}" for kind, n in sorted(self._n_of_kind.items()))
        return f"{self.injector.kills.total()} strikes: {struck}; {self._n_of_kind.total()} jobs: {through}"

    def _work(self) -> None:
        while (following := self._following()) is not None:
            number, kind = following
            job_id = kind.submit(self._users, number, self._image)
            self._kinds[job_id] = kind
            kind.play(self._users, job_id)
            if not kind.is_removed:
                self._users.await_end(job_id)

    def _following(self) -> tuple[int, Kind] | None:
        with self._lock:
            number = next(self._numbers)
            offered = [
                kind for kind in kinds(self._pauses.random() * 2) if self._has_limits or not kind.needs_limits
            ]
            if self._over.is_set() and number >= len(offered):
                return None
            kind = offered[number % len(offered)]
            self._n_of_kind[kind.name] += 1
            return number, kind

    def faults(self) -> list[str]:
        """Stop the server and say everything that is wrong."""
        hits = self.injector.hits()
        faults = list(self._faults_of_ends({who[0] for who in hits}))
        if self._engine is not None:
            # A container whose helper was killed counts as running for its engine: the sweep takes it away,
            # now and then and at every start.
            self._server.kill()
            self._server.start()
        node = self._users.ask("GET", "/nodes").json()["items"][0]
        self._server.stop()
        home = self._server.home
        evidence = replace(
            read_database(home, self._database_url),
            notes=read_notes(home),
            answered=frozenset(self._users.answered),
            removed=frozenset(self._users.removed),
            hits=hits,
            free=node["free"],
            capacity={"cpus": node["cpus"], "memory_bytes": node["memory_bytes"]},
            leftovers=_settle(home, self._engine),
        )
        return [*faults, *check(evidence)]

    def _faults_of_ends(self, hit: set[str]) -> Iterator[str]:
        for job_id, kind in self._kinds.items():
            if kind.is_removed:
                continue
            shown, attempts = self._users.show(job_id), self._users.attempts(job_id)
            n_unlaunched = sum(_could_not_be_launched(one) for one in attempts)
            if n_unlaunched and not self.injector.hinders_launches:
                yield f"{shown['name']} could not be launched: {attempts}"
            yield from kind.faults_of(shown, job_id in hit, n_unlaunched)
            # A task may print which attempt it is, and each that could not be launched is one more.
            if kind.log is None or job_id in hit or n_unlaunched:
                continue
            log = self._users.log(job_id)
            if log != kind.log:
                yield f"the log of {shown['name']} ({job_id}) is not whole: {len(log)} bytes, {log[:200]!r}"


def go_through(run: Run, n_kills: int) -> None:
    """Let a run go to its end and assert that nothing is wrong."""
    began_at = time.monotonic()
    try:
        run.go(n_kills)
    finally:
        spent_s = time.monotonic() - began_at
        sys.stdout.write(f"seed {SEED}, {spent_s:.0f} s; {run.figures()}\n")
    faults = run.faults()
    sys.stdout.writelines(f"fault: {fault}\n" for fault in faults)
    assert not faults, f"{len(faults)} faults with FOOTPLATE_TEST_SEED={SEED}:\n" + "\n".join(faults)


def _could_not_be_launched(attempt: Shown) -> bool:
    return bool(attempt["reason"]["details"].get("cause") == "launch_failed")


def _settle(home: Path, engine: ContainerEngine | None) -> list[str]:
    """What is left once everything has had its time to go."""
    with suppress(AssertionError):
        await_that(lambda: not leftovers(home, engine), SETTLE_S, every_s=0.5)
    return leftovers(home, engine)
