"""Kills processes that tasks left running in their control groups, and removes the groups."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import uuid
from collections.abc import Collection, Sequence
from contextlib import suppress

from footplate.engines.local.confine import cgroups
from footplate.engines.local.confine.cgroups import Tree
from footplate.engines.local.observe.records import Identity
from footplate.engines.local.process.processes import KILL_EVERY_S, is_alive, kill_all, send, start_ticks

SOON_S = 0.2
SWEEP_EVERY_S = 30
LAST_TRY_S = 2
GIVE_UP_S = 5
# For so long what watches over a task may still record its end.
SPARED_S = 1
# A task that is being started is not known to run yet.
STRAY_AFTER_S = 120

log = logging.getLogger(__name__)


class Leftovers:
    """The groups of tasks that have ended or should; called from threads, except for `add`."""

    def __init__(self, trees: Sequence[Tree], starts_within_s: float) -> None:
        self._trees = tuple(trees)
        self._ended: list[str] = []
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._swept_at = float("-inf")
        self._stray_after_s = STRAY_AFTER_S + starts_within_s
        self._unknown_since: dict[str, float] = {}
        self._marker = f"server.{uuid.uuid4().hex[:8]}.{os.getpid()}-{start_ticks(os.getpid())}"

    def hold_place(self) -> None:
        """Keep a server that ends, and has the same home, from removing the folders we need."""
        for place in self._trees[0].places if self._trees else ():
            with suppress(OSError):
                os.makedirs(f"{place}/{self._marker}", exist_ok=True)  # noqa: PTH103

    def add(self, identity: Identity) -> None:
        """Have the groups of an ended task removed soon: many at a time cost less than one by one."""
        if not self._trees:
            return
        with self._lock:
            self._ended.append(_name(identity))
            if self._timer is None:
                self._timer = threading.Timer(SOON_S, self._remove_ended)
                self._timer.daemon = True
                self._timer.start()

    def kill(self, identity: Identity) -> None:
        """Send SIGKILL to all that is in a task's groups; what watches over it stays, to record the end."""
        self._kill(_name(identity), spared=identity.pid)

    def end(self, identity: Identity, for_s: float) -> bool:
        """Kill until a task's groups are empty, and remove them; False when some process resists."""
        return self._end(_name(identity), for_s) if self._trees else True

    def sweep(self, running: Collection[Identity]) -> None:
        """Remove the groups whose task has ended and that nobody else removed.

        A group that nobody knows to run, while somebody is in it, is of a task that has forged its own end.
        """
        if not self._trees or time.monotonic() - self._swept_at < SWEEP_EVERY_S:
            return
        self._swept_at = time.monotonic()
        known = {_name(identity) for identity in running}
        alive = self._end_orphans(GIVE_UP_S)
        self._end_strays([name for name in alive if cgroups.is_task(name) and name not in known])

    def _end_orphans(self, for_s: float) -> list[str]:
        """Remove the groups of processes that have ended; return the others."""
        alive = []
        for name in cgroups.names(self._trees):
            owner = cgroups.owner_of(name)
            if owner and is_alive(*owner):
                alive.append(name)
            elif owner:
                self._end(name, for_s)
        return alive

    def _end_strays(self, unknown: Sequence[str]) -> None:
        now = time.monotonic()
        self._unknown_since = {name: self._unknown_since.get(name, now) for name in unknown}
        for name, since in self._unknown_since.items():
            if now - since >= self._stray_after_s and (owner := cgroups.owner_of(name)):
                log.warning("process %d runs on although its task has ended: it is killed", owner[0])
                self._kill(name)
                send(owner[0], signal.SIGKILL)
                self._end(name, GIVE_UP_S)

    def close(self) -> None:
        """Remove what is to be removed now, and our own folders if no task and no other server is left."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
        self._remove_ended()
        # What ended before an earlier server, that was killed, could notice: there may never be a next one.
        self._end_orphans(LAST_TRY_S)
        cgroups.remove(self._trees, self._marker)
        for place in {place for tree in self._trees for place in tree.places}:
            with suppress(OSError):
                os.rmdir(place)  # noqa: PTH106

    def _remove_ended(self) -> None:
        with self._lock:
            ended, self._ended, self._timer = self._ended, [], None
        for name in ended:
            if not cgroups.remove(self._trees, name):
                # A command that was run inside the task, or the kernel has not quite let go.
                self._end(name, LAST_TRY_S)

    def _end(self, name: str, for_s: float) -> bool:
        began_at, owner = time.monotonic(), cgroups.owner_of(name)
        while not cgroups.remove(self._trees, name):
            spent_s = time.monotonic() - began_at
            if spent_s > for_s:
                return False
            self._kill(name, spared=owner[0] if owner and spent_s < SPARED_S else 0)
            time.sleep(KILL_EVERY_S)
        return True

    def _kill(self, name: str, spared: int = 0) -> None:
        if not self._trees:
            return
        members = cgroups.members(self._trees, name) - {spared}
        if not members:
            return
        cgroups.forbid_forks(self._trees, name)
        if not spared:
            cgroups.kill_at_once(self._trees, name)
        kill_all(members)


def _name(identity: Identity) -> str:
    return f"{identity.pid}-{identity.start_ticks}"
