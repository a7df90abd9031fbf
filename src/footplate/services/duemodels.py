"""Registers the models that job files ask for, once each, when their jobs have succeeded.

That a model is due stands in the database from the submit on, and goes in the commit that registers it: a
crash in between leaves it due, and the next start goes on with it.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial

from footplate.domain.errors import DiskFull, EngineError, FootplateError, StorageAway, StoreUnavailable
from footplate.domain.job import Job
from footplate.domain.messages import say
from footplate.domain.model import About
from footplate.domain.spec import ModelSpec
from footplate.domain.states import JobState
from footplate.services.access import Caller
from footplate.services.modelintake import FromJob
from footplate.services.platform import Platform
from footplate.services.registering import Registration, register
from footplate.store import model_queries
from footplate.store.store import News
from footplate.store.writer import Transaction

log = logging.getLogger(__name__)

AGAIN_S = 60.0
# What may be otherwise the next time.
_PASSING = (DiskFull, StorageAway, StoreUnavailable, EngineError)


class DueModels:
    """Looks for due models when a job ends, and from time to time for what could not be done."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._asked = asyncio.Event()
        # What an earlier server has left.
        self._asked.set()

    def take(self, news: News) -> None:
        """Wake up for a job that has ended and has a model."""
        if any(job is not None and job.state.is_final and job.spec.model for job in news.jobs.values()):
            self._asked.set()

    async def watch(self) -> None:
        """Wait until something may be due, and register it."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._asked.wait(), AGAIN_S)
        self._asked.clear()
        await settle_all(self._platform)


async def settle_all(platform: Platform) -> None:
    """Register the models of jobs that have succeeded, and forget those of jobs that did not."""
    for job_id, state in await platform.store.read(model_queries.due):
        if state is None or JobState(state).is_final:
            try:
                job = None if state is None else await platform.store.job(job_id)
                await _settle(platform, job_id, job)
            except Exception:  # what goes wrong with one job keeps no other's model from being registered
                log.exception("the model of job %s could not be registered", job_id)


async def _settle(platform: Platform, job_id: str, job: Job | None) -> None:
    if job is None or job.spec.model is None or job.state is not JobState.SUCCEEDED:
        await platform.store.write(lambda tx: model_queries.settle(tx.connection, job_id))
        return
    try:
        owner = Caller(job.owner)
        await register(platform, owner, _wanted(job, job.spec.model), lambda tx: _take(tx, job_id))
    except _PASSING as error:
        log.warning("the model of job %s waits: %s", job_id, error)
    except FootplateError as error:
        await platform.store.write(partial(_give_up, platform, job, error))


def _take(tx: Transaction, job_id: str) -> bool:
    return model_queries.settle(tx.connection, job_id)


def _give_up(platform: Platform, job: Job, error: FootplateError, tx: Transaction) -> None:
    if model_queries.settle(tx.connection, job.id):
        assert job.spec.model is not None
        said = say("model_not_registered", model=job.spec.model.name, why=error.said)
        tx.record(job, "model_not_registered", platform.clock.now(), said)


def _wanted(job: Job, model: ModelSpec) -> Registration:
    about = About(
        model.description,
        model.framework or job.spec.framework,
        model.format,
        model.environment,
        tags=model.tags,
    )
    return Registration(
        model.name, FromJob(job.id, model.place, model.path), about, model.aliases, model.shared
    )
