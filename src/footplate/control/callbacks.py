"""Callbacks from the engine: task changes, launch steps, requests for registry logins."""

from __future__ import annotations

import asyncio

from footplate.control.context import Context
from footplate.control.launch import tell_step
from footplate.control.observe import Observers
from footplate.domain.attempt import job_of
from footplate.domain.errors import NotFound
from footplate.domain.job import Job
from footplate.domain.secret import RegistryLogin
from footplate.engines.base import Engine, GivesHints, PullsImages, Step, TellsSteps


class Callbacks:
    """Listens to engines."""

    def __init__(self, context: Context, observers: Observers) -> None:
        self._context = context
        self._observers = observers
        self._telling: set[asyncio.Task[None]] = set()

    def connect(self, engine: Engine) -> None:
        if isinstance(engine, GivesHints):
            engine.on_change(self._observers.hint)
        if isinstance(engine, TellsSteps):
            engine.on_step(self._take_step)
        if isinstance(engine, PullsImages):
            engine.use_logins(self._find_login)

    def _take_step(self, step: Step) -> None:
        if (job := self._job_of(step.attempt_id)) is not None:
            telling = asyncio.create_task(tell_step(self._context, job, step))
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)

    async def _find_login(self, attempt_id: str, secret: str) -> RegistryLogin:
        if (job := self._job_of(attempt_id)) is None:
            raise NotFound("attempt_over", attempt=attempt_id)
        return await self._context.login_of(job, secret)

    def _job_of(self, attempt_id: str) -> Job | None:
        return self._context.store.board.get(job_of(attempt_id))
