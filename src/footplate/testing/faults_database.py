"""Takes the database away while jobs run and submits come in, and brings it back."""

from __future__ import annotations

import random
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from footplate.testing.checker import TaskId
from footplate.testing.postgres import Postgres

LONGEST_BREAK_S = 2.0
LONGEST_CUT_S = 2.0


class Cuts:
    """Stops PostgreSQL, in order or as a crash does, and starts it again; no task suffers by that."""

    hinders_launches = False

    def __init__(self, postgres: Postgres, chance: random.Random) -> None:
        self._postgres = postgres
        self._chance = chance
        self.kills: Counter[str] = Counter()

    def run(self, n_kills: int) -> None:
        for _ in range(n_kills):
            # The moments are what is tried out here: nothing is waited for.
            time.sleep(self._chance.random() * LONGEST_BREAK_S)
            at_once = self._chance.random() < 0.5
            self._postgres.stop(at_once)
            self.kills["crash of the database" if at_once else "stop of the database"] += 1
            time.sleep(self._chance.random() * LONGEST_CUT_S)
            self._postgres.start()

    def hits(self) -> frozenset[TaskId]:
        return frozenset()


class Locks:
    """Locks SQLite's file from another connection for a while, as a backup or a curious person does."""

    hinders_launches = False

    def __init__(self, home: Path, chance: random.Random) -> None:
        self._file = home / "footplate.db"
        self._chance = chance
        self.kills: Counter[str] = Counter()

    def run(self, n_kills: int) -> None:
        for _ in range(n_kills):
            time.sleep(self._chance.random() * LONGEST_BREAK_S)
            with closing(sqlite3.connect(self._file, timeout=30, isolation_level=None)) as database:
                database.execute("BEGIN EXCLUSIVE")
                time.sleep(self._chance.random() * LONGEST_CUT_S)
                database.execute("ROLLBACK")
            self.kills["lock of the database"] += 1

    def hits(self) -> frozenset[TaskId]:
        return frozenset()
