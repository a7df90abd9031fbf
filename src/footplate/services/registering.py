"""Registers versions of models: first the files, durably, then one commit that makes the version appear."""

from __future__ import annotations

import asyncio
import math
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import sqlalchemy as sa

from footplate.domain.errors import Conflict, InvalidInput, NotFound
from footplate.domain.ids import job_id
from footplate.domain.messages import say
from footplate.domain.model import About, Model, Version
from footplate.services import modelaccess
from footplate.services.access import Caller
from footplate.services.metrics import latest_of
from footplate.services.modelintake import Source, Taken, take_in
from footplate.services.platform import Platform
from footplate.store import model_queries
from footplate.store.writer import Transaction

MOST_METRICS = 1000
# What looks like an ID names no new model.
_ID = re.compile(r"m-[0-9a-z]{12}")


@dataclass(frozen=True, slots=True)
class Registration:
    """A version to be: of which model, from where, and what is said of it; None leaves the model's own."""

    name: str
    source: Source
    about: About = field(default_factory=About)
    aliases: tuple[str, ...] = ()
    is_shared: bool | None = None


Guard = Callable[[Transaction], bool]


def _always(_tx: Transaction) -> bool:
    return True


async def register(
    platform: Platform, caller: Caller, wanted: Registration, guard: Guard = _always
) -> tuple[Model, Version] | None:
    """Register the next version of a model of the caller's, or of one that they may change.

    `guard` is asked in the commit itself; where it says no, nothing is registered.
    """
    for alias in wanted.aliases:
        modelaccess.require_alias(alias)
    about = await platform.store.read(lambda connection: in_environment(connection, wanted.about))
    known = await _known(platform, caller, wanted.name)
    taken = await take_in(platform, caller, wanted.source)
    try:
        about = replace(about, metrics=await _metrics(platform, taken, about.metrics))
        asked = replace(wanted, about=about)

        def unit(tx: Transaction) -> tuple[Model, Version] | None:
            return _store(tx, platform, caller, asked, known, taken) if guard(tx) else None

        return await platform.store.write(unit)
    finally:
        await platform.models.run(taken.release)


async def _metrics(platform: Platform, taken: Taken, given: Mapping[str, float]) -> dict[str, float]:
    """What the job has measured last, and over it what the caller says."""
    both = {**await _measured(platform, taken), **given}
    if len(both) > MOST_METRICS:
        raise InvalidInput("too_many_metrics", "metrics", most=MOST_METRICS)
    return both


async def _measured(platform: Platform, taken: Taken) -> dict[str, float]:
    if taken.job is None:
        return {}
    curves = await asyncio.to_thread(latest_of, platform, taken.job)
    # A metric that is not a number just then, such as a loss that has diverged, is no figure to compare.
    last = {name: curve.last.value for name, curve in curves.items() if curve.last is not None}
    return {name: value for name, value in last.items() if math.isfinite(value)}


async def _known(platform: Platform, caller: Caller, name: str) -> str | None:
    """The id of the model that a name means: the caller's own, or by id one that they may change."""

    def query(connection: sa.Connection) -> str | None:
        found = model_queries.by_id(connection, name)
        if found is not None and modelaccess.may_read(caller, found):
            modelaccess.require_change(caller, found)
            return found.id
        if _ID.fullmatch(name):
            raise NotFound("model_unknown", model=name)
        own = model_queries.named(connection, name, caller.name)
        return own[0].id if own else None

    return await platform.store.read(query)


def in_environment(connection: sa.Connection, about: About) -> About:
    """Fill in the image, and the framework where none is named, of an environment of the catalogue."""
    if not about.environment:
        return about
    known = {one.name: one for one in model_queries.environments(connection)}
    found = known.get(about.environment)
    if found is None:
        listed = list(known) or ["-"]
        raise InvalidInput("inference_not_listed", "environment", given=about.environment, known=listed)
    label = f"{found.framework}:{found.version}" if found.version else found.framework
    return replace(about, image=found.image, framework=about.framework or label)


def _store(
    tx: Transaction,
    platform: Platform,
    caller: Caller,
    wanted: Registration,
    known: str | None,
    taken: Taken,
) -> tuple[Model, Version]:
    now = platform.clock.now()
    model = _model(tx.connection, caller, wanted, known, taken, now)
    number = model.last_number + 1
    version = Version(
        model.id,
        number,
        wanted.about,
        taken.origin,
        caller.name,
        now,
        tuple(taken.files),
        len(taken.files),
        sum(one.size_bytes for one in taken.files),
    )
    model = replace(
        model,
        aliases={**model.aliases, **dict.fromkeys(wanted.aliases, number)},
        last_number=number,
        is_shared=model.is_shared if wanted.is_shared is None else wanted.is_shared,
        updated_at=now,
    )
    model_queries.put(tx.connection, model)
    model_queries.add_version(tx.connection, version)
    if taken.job is not None:
        said = say("model_registered", model=model.name, version=number)
        tx.record(taken.job, "model_registered", now, said, caller.name, model_id=model.id)
    return model, version


def _model(
    connection: sa.Connection,
    caller: Caller,
    wanted: Registration,
    known: str | None,
    taken: Taken,
    now: float,
) -> Model:
    """The model that a version joins, as the commit sees it; a new one where there is none."""
    found = None if known is None else model_queries.by_id(connection, known)
    if found is None or found.deleted_at is not None:
        if known == wanted.name:
            raise Conflict("model_in_trash", model=known)
        own = model_queries.named(connection, wanted.name, caller.name)
        found = own[0] if own else None
    if found is not None:
        modelaccess.require_change(caller, found)
        return found
    queue = "" if taken.job is None else taken.job.spec.queue
    return replace(new_model(wanted.name, caller.name, now), queue=queue)


def new_model(name: str, owner: str, now: float) -> Model:
    # Ids tell models apart and are no secret.
    return Model(f"m-{job_id(now, secrets.randbits(20))}", name, owner, created_at=now, updated_at=now)
