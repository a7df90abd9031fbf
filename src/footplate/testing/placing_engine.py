"""A fake engine with a scheduler of its own, first come, first served: jobs are handed over to it whole."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import cast

from footplate.domain.attempt import Attempt
from footplate.domain.cluster import Node, Whereabouts
from footplate.domain.errors import EngineAway
from footplate.domain.messages import text
from footplate.domain.states import Reason, ReasonCode, TaskState
from footplate.engines.base import EVERYTHING, Capabilities, Notice, Observation, Request, Wait
from footplate.testing.fake_engine import FakePlace, FakeRequest, FakeTask, FakeTasks, TaskKey

# The ports that it gives out are of no range of ours.
_ports = count(50_000)


class PlacingEngine(FakeTasks):
    """Starts attempts in the order of their launch, each whole, when one of its machines has room for it.

    Where a task runs is told with the task; nobody else knows its machines.
    """

    capabilities = Capabilities(streams=True, stages=True, chooses=EVERYTHING)
    # When it says that the first in its queue will start.
    expected_at: float | None = None
    # Whether it does not say how attempts wait.
    is_mute = False

    async def launch(self, request: Request) -> None:
        self._loop = asyncio.get_running_loop()
        asked = cast("FakeRequest", request)
        attempt_id = asked["attempt_id"]
        new = [task for task in asked["tasks"] if self._is_new(attempt_id, task)]
        self.world.requests.setdefault(attempt_id, asked)
        await self._stage(asked)
        again = [task for task in new if self._key(attempt_id, task) in self.world.places]
        for task in again:
            # It keeps the place of its earlier run.
            self._start(self._key(attempt_id, task), task["run"], task["command"])
        if len(again) < len(new):
            self.world.line.setdefault(attempt_id, asked)
            self._place()

    async def observe(self, attempts: Sequence[Attempt]) -> Sequence[Observation]:
        return [self._located(one) for one in await super().observe(attempts)]

    async def stop(self, attempt: Attempt, grace_s: float, notice: Notice | None = None) -> None:
        self.world.line.pop(attempt.id, None)
        await super().stop(attempt, grace_s, notice)

    async def waits(self, attempts: Sequence[Attempt]) -> Sequence[Wait]:
        if self.is_mute:
            raise EngineAway("engine_unreachable")
        position = {attempt_id: n for n, attempt_id in enumerate(self.world.line)}
        return [
            Wait(
                attempt.id,
                _why(position[attempt.id]),
                position[attempt.id],
                None if position[attempt.id] else self.expected_at,
            )
            for attempt in attempts
            if attempt.id in position
        ]

    @staticmethod
    def _key(attempt_id: str, task: FakeTask) -> TaskKey:
        return attempt_id, task["role"], task["index"]

    def _is_new(self, attempt_id: str, task: FakeTask) -> bool:
        key, run = self._key(attempt_id, task), task["run"]
        known = self.world.tasks.get(key)
        return (known is None or known.run < run) and (key, run) not in self.world.fenced

    def _place(self) -> None:
        """Start what is first in the queue for as long as it finds room."""
        for attempt_id, request in list(self.world.line.items()):
            node = next((node for node in self.available if self._fits(request, node)), None)
            if node is None:
                break
            del self.world.line[attempt_id]
            for task in request["tasks"]:
                key = self._key(attempt_id, task)
                self.world.places[key] = self._give(task, node)
                self._start(key, task["run"], task["command"])
        for attempt_id in self.world.line:
            # How many are before it may have changed.
            self._hint(attempt_id)

    def _fits(self, request: FakeRequest, node: Node) -> bool:
        held = [place.needs for place in self._held(node)]
        asked = [*held, *(task["needs"] for task in request["tasks"])]
        most = (node.milli_cpus, node.memory_bytes, len(node.gpus))
        return all(sum(need[at] for need in asked) <= most[at] for at in range(3))

    def _held(self, node: Node) -> list[FakePlace]:
        return [
            place
            for key, place in self.world.places.items()
            if place.where.node == node.name and self.world.tasks[key].state is TaskState.RUNNING
        ]

    def _give(self, task: FakeTask, node: Node) -> FakePlace:
        taken = {card for place in self._held(node) for card in place.where.gpus or ()}
        milli_cpus, memory_bytes, n_cards = task["needs"]
        cards = [gpu.index for gpu in node.gpus if gpu.index not in taken][:n_cards]
        where = Whereabouts(node.name, node.address, tuple(cards), (("main", (next(_ports),)),))
        return FakePlace(where, (milli_cpus, memory_bytes, n_cards))

    def _located(self, one: Observation) -> Observation:
        place = self.world.places.get((one.attempt_id, one.role, one.index))
        return one if place is None else replace(one, where=place.where)

    def _record(self, task: Observation) -> None:
        super()._record(task)
        if task.state.is_over:
            self._place()


def _why(ahead: int) -> Reason:
    if ahead:
        return Reason(ReasonCode.BEHIND_OTHERS, text(f"{ahead} ahead in the queue of the other scheduler"))
    return Reason(ReasonCode.INSUFFICIENT_RESOURCES, text("the other scheduler has no room yet"))
