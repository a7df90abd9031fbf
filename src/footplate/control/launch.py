"""Starting an attempt: the engine's request, then the engine; steps leave timed lines in the job's events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from types import MappingProxyType

from footplate.control.context import Context
from footplate.control.volumes import check_there, storages_of, volumes_of
from footplate.domain.errors import (
    DiskFull,
    EngineAway,
    EngineError,
    EngineRejected,
    EngineUnavailable,
    FootplateError,
    InvalidInput,
    NotFound,
    SecretUnreadable,
)
from footplate.domain.eventkinds import EventKind
from footplate.domain.events import LaunchFailed
from footplate.domain.image import ChosenImage, refer
from footplate.domain.job import Job
from footplate.domain.messages import Message, say, text
from footplate.domain.redact import redact_message
from footplate.domain.states import TaskState
from footplate.domain.storage import OWN
from footplate.engines.base import Engine, LaunchPlan, Request, Step

log = logging.getLogger(__name__)

TRIES = 4
FIRST_PAUSE_S = 0.25
STILL_WANTED_EVERY_S = 0.2
NO_SECRETS: Mapping[str, str] = MappingProxyType({})


def launch_plan(context: Context, job: Job, secrets: Mapping[str, str] = NO_SECRETS) -> LaunchPlan:
    """Gather what the engine needs to know; the same for the same attempt, whenever it is asked."""
    assert job.placement is not None
    images = job.placement.images or chosen_images(context, job)
    return LaunchPlan(
        job_id=job.id,
        owner=job.owner,
        attempt=job.attempt,
        spec=refer(job.spec, {image.name: image.reference for image in images}),
        placement=job.placement,
        owner_number=context.people.number_of(job.owner),
        url=context.url,
        token=context.job_token(job.id, job.attempt),
        runs=job.runs,
        secrets=secrets,
        volumes=volumes_of(context.storages, job),
        environments={image.reference: image.environment for image in images if image.environment},
    )


def chosen_images(context: Context, job: Job) -> tuple[ChosenImage, ...]:
    """What the images of a job stand for now; once it is placed, what they stood for then counts."""
    return context.images.choose(job.spec, context.cluster.queues.get(job.spec.queue))


async def launch(context: Context, job: Job, left_out: Collection[tuple[str, int]] = ()) -> None:
    """Start every task of the attempt, or say why it cannot be; safe to repeat after a crash.

    Those that are `left_out`, by role and index, are started by a later launch.
    What became of the tasks is not looked at here: the watch does that for all attempts alike.
    """
    if left_out and not _has_more_to_start(job, left_out):
        return
    secrets: Mapping[str, str] = NO_SECRETS
    try:
        secrets = await context.secrets_of(job)
        await context.people.ensure(job.owner)
        await _start(context, job, secrets, left_out)
    except (EngineRejected, NotFound, InvalidInput, SecretUnreadable) as error:
        await _fail(context, job, error.said, secrets, is_final=True)
    except FootplateError as error:
        await _fail(context, job, error.said, secrets)
    except OSError as error:
        await _fail(context, job, text(str(error)), secrets)
    except Exception as error:
        log.exception("launching job %s failed", job.id)
        await _fail(context, job, say("launch_error", error=str(error)), secrets)


def _has_more_to_start(job: Job, left_out: Collection[tuple[str, int]]) -> bool:
    starting = [task for task in job.tasks if task.state is TaskState.STARTING]
    return any((task.role, task.index) not in left_out for task in starting)


async def _start(
    context: Context, job: Job, secrets: Mapping[str, str], left_out: Collection[tuple[str, int]]
) -> None:
    began_at = context.clock.now()
    engine = context.engines.of(job)
    whole = engine.compile(launch_plan(context, job, secrets))
    tasks = [task for task in whole["tasks"] if (task["role"], task["index"]) not in left_out]
    await _launch_once_there(context, job, engine, {**whole, "tasks": tasks})
    if context.clock.now() - began_at > 1:
        await _tell_step(context, job, "launch", began_at, say("tasks_started"))


async def _launch_once_there(context: Context, job: Job, engine: Engine, request: Request) -> None:
    """Launch, and where the engine is away, as soon as it answers: that is no failure of the job."""
    health = context.engines.health[context.engines.name_of(job)]
    is_told = False
    while True:
        is_turn = await health.await_turn(lambda: _is_wanted(context, job))
        if health.away is not None and not is_turn:
            raise EngineAway(health.away)
        try:
            await _launch(context, job, engine, request)
        except EngineAway as error:
            health.fail(error.said)
            if not _is_wanted(context, job):
                raise
            if not is_told:
                await _tell_delay(context, job, error.said)
                is_told = True
        else:
            health.succeed()
            return
        finally:
            if is_turn:
                health.end_turn()


async def _launch(context: Context, job: Job, engine: Engine, request: Request) -> None:
    pause_s = FIRST_PAUSE_S
    for attempt in range(1, TRIES + 1):
        # Before every try: the one before may have failed because a storage has fallen silent.
        await _check_storages(context, job)
        try:
            await engine.launch(request)
            break
        except (EngineRejected, EngineAway):
            raise
        except EngineError as error:
            if attempt == TRIES or not _is_wanted(context, job):
                raise
            log.warning("launch of job %s, try %d of %d: %s", job.id, attempt, TRIES, error)
            await asyncio.sleep(pause_s)
            pause_s *= 2


async def _tell_delay(context: Context, job: Job, why: Message) -> None:
    """Say once in the job's events why it does not start."""
    now, said = context.clock.now(), say("start_delayed", why=why)
    await context.store.write(lambda tx: tx.record(job, "start_delayed", now, said))


async def _check_storages(context: Context, job: Job) -> None:
    """Make sure that what the job wants of its storages is there, for as long as the job wants it."""
    if not storages_of(job):
        return
    number = context.people.number_of(job.owner)
    checking = asyncio.ensure_future(
        check_there(context.home, context.storages, context.storage_watch, job, number)
    )
    try:
        while not checking.done() and _is_wanted(context, job):
            await asyncio.wait([checking], timeout=STILL_WANTED_EVERY_S)
    finally:
        checking.cancel()
    if not checking.done():
        raise EngineUnavailable("stopped_while_silent")
    checking.result()
    await _check_room(context, job)


async def _check_room(context: Context, job: Job) -> None:
    """Refuse to write where a quota is over: nobody can hold tasks to it while they write."""
    for volume in volumes_of(context.storages, job):
        if volume.storage != OWN and not volume.read_only:
            try:
                await context.require_room(job, context.storages[volume.storage], 0)
            except DiskFull as error:
                # A disk may have room again before long; a quota is for somebody to mind.
                kind = EngineRejected if error.said.code == "storage_quota_over" else EngineUnavailable
                raise kind(error.said) from None


def _is_wanted(context: Context, job: Job) -> bool:
    now = context.store.board.get(job.id)
    return now is not None and now.attempt == job.attempt and now.is_with_engine


async def tell_step(context: Context, job: Job, step: Step) -> None:
    """Write a step that the engine is at, or has done, into the job's events."""
    now = context.clock.now()
    kind: EventKind = "step" if step.is_done else "progress"
    seconds = round(step.seconds, 3)
    what = redact_message(step.said, await context.hidden_of(job))
    said = say("step_done", what=what, seconds=seconds) if step.is_done else what
    await context.store.write(lambda tx: tx.record(job, kind, now, said, step=step.name, seconds=seconds))


async def _tell_step(context: Context, job: Job, step: str, began_at: float, what: Message) -> None:
    now = context.clock.now()
    said = say("step_done", what=what, seconds=round(now - began_at, 3))
    await context.store.write(lambda tx: tx.record(job, "step", now, said, step=step))


async def _fail(
    context: Context, job: Job, said: Message, secrets: Mapping[str, str], is_final: bool = False
) -> None:
    told = redact_message(said, {*secrets.values(), *await context.hidden_of(job)})
    event = LaunchFailed(context.clock.now(), job.attempt, told, is_final)
    await context.store.apply_all([(job.id, event)])
