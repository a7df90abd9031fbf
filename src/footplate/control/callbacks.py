"""Callbacks from the engine: task changes, launch steps, requests for registry logins."""

from __future__ import annotations

import asyncio

from footplate.control.context import Context
from footplate.control.launch import tell_step
from footplate.control.observe import Observers
from footplate.control.volumes import require_readable
from footplate.domain.attempt import job_of
from footplate.domain.errors import NotFound
from footplate.domain.job import Job
from footplate.domain.secret import RegistryLogin
from footplate.domain.storage import Storage
from footplate.engines.base import Engine, GivesHints, PullsImages, StagesData, Step, TellsSteps
from footplate.storages.base import Files


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
        if isinstance(engine, StagesData):
            engine.use_storages(self._find_storage)

    def _take_step(self, step: Step) -> None:
        if (job := self._job_of(step.attempt_id)) is not None:
            telling = asyncio.create_task(tell_step(self._context, job, step))
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)

    async def _find_login(self, attempt_id: str, secret: str) -> RegistryLogin:
        if (job := self._job_of(attempt_id)) is None:
            raise NotFound("attempt_over", attempt=attempt_id)
        return await self._context.login_of(job, secret)

    async def _find_storage(self, attempt_id: str, name: str) -> tuple[Storage, Files]:
        """Open a storage for an attempt, by the rights that its owner has now."""
        if (job := self._job_of(attempt_id)) is None:
            raise NotFound("attempt_over", attempt=attempt_id)
        require_readable(self._context.storages, job, name)
        return await self._context.open_storage(job, name)

    def _job_of(self, attempt_id: str) -> Job | None:
        return self._context.store.board.get(job_of(attempt_id))
