"""Fake engines that misbehave, each in a way of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from footplate.domain.attempt import Attempt
from footplate.domain.clock import Clock
from footplate.domain.cluster import Node
from footplate.domain.errors import EngineAway, EngineRejected, EngineUnavailable, OutcomeUnknown
from footplate.domain.states import TaskState
from footplate.engines.base import Notice, Observation, Request
from footplate.testing.fake_engine import FakeEngine


class SlowToStart(FakeEngine):
    """Tasks stay STARTING until `let_start` is called."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self._may_start: set[str] = set()

    async def observe(self, attempts: Sequence[Attempt]) -> Sequence[Observation]:
        return [self._delayed(task) for task in await super().observe(attempts)]

    def let_start(self, attempt_id: str) -> None:
        self._may_start.add(attempt_id)
        self._hint(attempt_id)

    def _delayed(self, task: Observation) -> Observation:
        if task.state is TaskState.RUNNING and task.attempt_id not in self._may_start:
            return replace(task, state=TaskState.STARTING, started_at=None)
        return task


class NeverStarts(FakeEngine):
    """Takes every launch and starts nothing."""

    async def launch(self, request: Request) -> None:
        """Lose the request."""


class DiesOnLaunch(FakeEngine):
    """Cannot be reached for launches; `n_failures` bounds how often."""

    def __init__(self, clock: Clock | None = None, n_failures: int = 1_000_000) -> None:
        super().__init__(clock)
        self.n_failures = n_failures

    async def launch(self, request: Request) -> None:
        if self.n_failures > 0:
            self.n_failures -= 1
            raise EngineUnavailable("engine_unreachable")
        await super().launch(request)


class GoesAway(FakeEngine):
    """Answers nobody while it is away; counts who asks all the same."""

    is_away = False
    n_asked = 0

    def _require_there(self) -> None:
        if self.is_away:
            self.n_asked += 1
            raise EngineAway("engine_unreachable")

    async def launch(self, request: Request) -> None:
        self._require_there()
        await super().launch(request)

    async def observe(self, attempts: Sequence[Attempt]) -> Sequence[Observation]:
        self._require_there()
        return await super().observe(attempts)

    async def nodes(self) -> Sequence[Node]:
        self._require_there()
        return await super().nodes()

    async def stop(self, attempt: Attempt, grace_s: float, notice: Notice | None = None) -> None:
        self._require_there()
        await super().stop(attempt, grace_s, notice)


class ResistsStop(FakeEngine):
    """Cannot end tasks for a while; `n_failures` bounds how often."""

    n_failures = 2

    async def stop(self, attempt: Attempt, grace_s: float, notice: Notice | None = None) -> None:
        if self.n_failures > 0:
            self.n_failures -= 1
            raise EngineUnavailable("tasks_not_ended", tasks="main-0")
        await super().stop(attempt, grace_s, notice)


class RefusesLaunch(FakeEngine):
    """Says that the job must be changed."""

    async def launch(self, request: Request) -> None:
        raise EngineRejected("not_offered_here", attempt=request["attempt_id"])


class LosesAnswers(FakeEngine):
    """Starts the tasks, then fails to say so."""

    async def launch(self, request: Request) -> None:
        await super().launch(request)
        raise OutcomeUnknown("answer_lost")


class LosesTasks(FakeEngine):
    """Every task vanishes as soon as it has started."""

    async def launch(self, request: Request) -> None:
        await super().launch(request)
        for task in request["tasks"]:
            self.lose(request["attempt_id"], task["role"], task["index"])


class AnswersLate(FakeEngine):
    """Launches and stops take effect at once but answer only after `answer` is called."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self._may_answer = asyncio.Event()

    def answer(self) -> None:
        self._may_answer.set()

    async def launch(self, request: Request) -> None:
        await super().launch(request)
        await self._may_answer.wait()

    async def stop(self, attempt: Attempt, grace_s: float, notice: Notice | None = None) -> None:
        await super().stop(attempt, grace_s, notice)
        await self._may_answer.wait()
