"""Kills what it finds, at random moments: the server, its spawner, shims, tasks, container engines."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from footplate.testing.checker import TaskId
from footplate.testing.container_engine import ContainerEngine
from footplate.testing.process import ServerProcess

T = TypeVar("T")
PROC = Path("/proc")
LONGEST_BREAK_S = 0.4
LONGEST_STOP_S = 0.5
# How often each is chosen; what is not there at the moment leaves its turn to another.
PROCESS_WEIGHTS = {"server": 20, "spawner": 16, "newborn": 14, "shim": 20, "task": 20, "pause": 10}
CONTAINER_WEIGHTS = {"server": 20, "engine": 20, "conmon": 20, "shim": 15, "task": 20, "pause": 5}


@dataclass(frozen=True, slots=True)
class Victim:
    """A process of a task: the one that stands for the whole task, or one of the others."""

    pid: int
    who: TaskId
    is_first: bool


class Strikes(Protocol):
    """What a run wants of whoever injects faults; Injector is one."""

    kills: Counter[str]

    @property
    def hinders_launches(self) -> bool:
        """Whether something was struck without which no task can be started for a while."""
        ...

    def run(self, n_kills: int) -> None: ...

    def hits(self) -> frozenset[TaskId]:
        """The tasks that must be expected to have suffered."""
        ...


class Injector:
    """Strikes a given number of times and remembers whom: `hits` are tasks, `kills` counts kinds."""

    def __init__(
        self, server: ServerProcess, chance: random.Random, engine: ContainerEngine | None = None
    ) -> None:
        self._server = server
        self._chance = chance
        self._engine = engine
        self._weights = CONTAINER_WEIGHTS if engine else PROCESS_WEIGHTS
        self._newborns: set[int] = set()
        self._hits: set[TaskId] = set()
        self.kills: Counter[str] = Counter()
        self._strikes: Mapping[str, Callable[[], bool]] = {
            "server": self._strike_server,
            "spawner": self._strike_spawner,
            "newborn": self._strike_newborn,
            "shim": lambda: self._strike_task(True),
            "task": lambda: self._strike_task(False),
            "engine": self._strike_engine,
            "conmon": self._strike_conmon,
            "pause": self._pause_server,
        }

    def run(self, n_kills: int) -> None:
        """Strike at random moments until enough was killed; pauses come on top."""
        while self.n_kills < n_kills:
            # The moments are what is tried out here: nothing is waited for.
            time.sleep(self._chance.choice((0, 0.05, 1)) * self._chance.random() * LONGEST_BREAK_S)
            for kind in self._order():
                if self._strikes[kind]():
                    break

    @property
    def n_kills(self) -> int:
        return self.kills.total() - self.kills["pause"]

    @property
    def hinders_launches(self) -> bool:
        return self.kills["engine"] + self.kills["conmon"] > 0

    def hits(self) -> frozenset[TaskId]:
        """The tasks whose processes were killed, those that were just being born included."""
        return frozenset(self._hits | self._born())

    def _born(self) -> set[TaskId]:
        return {who for pid, who in _claims(self._server.home) if pid in self._newborns}

    def _order(self) -> list[str]:
        left = dict(self._weights)
        order = []
        while left:
            order.append(self._chance.choices(list(left), list(left.values()))[0])
            del left[order[-1]]
        return order

    def _strike_server(self) -> bool:
        """Kill the server; sometimes others while it is down, and it again while it starts."""
        self._server.kill()
        self.kills["server"] += 1
        if self._chance.random() < 0.3:
            self._strike_task(self._chance.random() < 0.5, for_s=0)
        self._server.begin()
        if self._chance.random() < 0.2:
            time.sleep(self._chance.random())
            self._server.kill()
            self.kills["starting server"] += 1
            self._server.begin()
        self._server.await_answer()
        return True

    def _strike_spawner(self) -> bool:
        found = self._await_some(lambda: list(_spawners(self._server.pid)))
        return bool(found) and self._kill(found[0], "spawner")

    def _strike_newborn(self) -> bool:
        """Kill a process that was forked and is not a task yet."""
        found = self._await_some(
            lambda: [pid for spawner in _spawners(self._server.pid) for pid in _spawners(spawner)], every_s=0
        )
        if not found or not self._kill(found[0], "newborn"):
            return False
        self._newborns.add(found[0])
        # Now, since a job that is deleted takes the claims of its tasks along, and once more at the end.
        self._hits.update(self._born())
        return True

    def _strike_task(self, is_first: bool, for_s: float = LONGEST_STOP_S) -> bool:
        victims = self._await_some(
            lambda: [one for one in victims_of(self._server.home) if one.is_first == is_first], for_s
        )
        if not victims:
            return False
        victim = self._chance.choice(victims)
        # Noted before: a task may be seen to have ended before this line is left.
        self._hits.add(victim.who)
        return self._kill(victim.pid, "shim" if is_first else "task", victim)

    def _strike_engine(self) -> bool:
        if self._engine is None:
            return False
        self._engine.kill()
        self.kills["engine"] += 1
        time.sleep(self._chance.random() * LONGEST_STOP_S)
        self._engine.start()
        return True

    def _strike_conmon(self) -> bool:
        folder = str(self._engine.folder) if self._engine else ""

        def find() -> list[int]:
            helpers = ((pid, _words(pid)) for pid in _pids())
            return [pid for pid, words in helpers if _is_conmon(words, folder)]

        found = self._await_some(find) if folder else []
        return bool(found) and self._kill(self._chance.choice(found), "conmon")

    def _await_some(
        self, find: Callable[[], list[T]], for_s: float = LONGEST_STOP_S, every_s: float = 0.02
    ) -> list[T]:
        """Wait a moment for something to strike."""
        give_up_at = time.monotonic() + for_s
        while not (found := find()) and time.monotonic() < give_up_at:
            time.sleep(every_s)
        return found

    def _pause_server(self) -> bool:
        os.kill(self._server.pid, signal.SIGSTOP)
        try:
            time.sleep(self._chance.random() * LONGEST_STOP_S)
        finally:
            os.kill(self._server.pid, signal.SIGCONT)
        self.kills["pause"] += 1
        return True

    def _kill(self, pid: int, kind: str, victim: Victim | None = None) -> bool:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return False
        try:
            # Looked at again: the number may have passed to another process.
            if victim is not None and _see(pid, self._server.home) != victim:
                return False
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        finally:
            os.close(descriptor)
        self.kills[kind] += 1
        return True


def _is_conmon(words: list[str], folder: str) -> bool:
    return bool(words) and Path(words[0]).name == "conmon" and folder in " ".join(words)


def victims_of(home: Path) -> list[Victim]:
    """The processes of all tasks below a home folder."""
    return [victim for pid in _pids() if (victim := _see(pid, home))]


def _see(pid: int, home: Path) -> Victim | None:
    try:
        pairs = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
        environment = dict(pair.partition(b"=")[::2] for pair in pairs)
        words = " ".join(_words(pid)[:2])
        is_first = os.getsid(pid) == pid and ("init.sh" in words or words.startswith("footplate-init"))
        is_first = is_first or _is_first_of_container(pid)
    except (OSError, ValueError):
        return None
    if not environment.get(b"FOOTPLATE_OUTPUT_DIR", b"").startswith(str(home).encode() + b"/"):
        return None
    job_id, _, attempt = environment[b"FOOTPLATE_ATTEMPT_ID"].decode().rpartition(".")
    return Victim(pid, (job_id, int(attempt), environment[b"FOOTPLATE_TASK"].decode()), is_first)


def _is_first_of_container(pid: int) -> bool:
    status = (PROC / str(pid) / "status").read_text()
    numbers = next(line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:"))
    return len(numbers) > 1 and numbers[-1] == "1"


def _spawners(parent: int) -> Iterator[int]:
    """The children of a process that run the spawner's program."""
    with contextlib.suppress(OSError):
        for thread in (PROC / str(parent) / "task").iterdir():
            for pid in map(int, (thread / "children").read_text().split()):
                if "footplate.engines.local.process.spawner" in " ".join(_words(pid)):
                    yield pid


def _claims(home: Path) -> Iterator[tuple[int, TaskId]]:
    """Which process claimed which task, by the files that tasks leave."""
    for path in (*home.glob("jobs/*/*/attempt-*/*/pid"), *home.glob("jobs/*/*/attempt-*/*/run-*/pid")):
        attempt = next(part for part in path.parts if part.startswith("attempt-"))
        place = path.parts.index(attempt)
        try:
            words = path.read_text().split()
        except FileNotFoundError:
            # Its job was deleted meanwhile.
            continue
        if words:
            who = (path.parts[place - 1], int(attempt.removeprefix("attempt-")), path.parts[place + 1])
            yield int(words[0]), who


def _pids() -> list[int]:
    return [int(folder.name) for folder in PROC.iterdir() if folder.name.isdecimal()]


def _words(pid: int) -> list[str]:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []
