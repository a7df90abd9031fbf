"""What a caller may do with jobs: one function per use case, rights included."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from footplate.domain import job as jobs
from footplate.domain.cluster import GIVEN_PORTS
from footplate.domain.errors import Conflict, FootplateError, InvalidInput, NotFound, Problem, problem
from footplate.domain.estimate import WouldBe
from footplate.domain.events import Edited
from footplate.domain.hidden import fill, hides_something
from footplate.domain.ids import is_job_id
from footplate.domain.job import Job
from footplate.domain.jobfile import place_in, read_job, show_job, write_job
from footplate.domain.jobname import next_free, stem_of
from footplate.domain.listing import JobLine
from footplate.domain.messages import Message, say
from footplate.domain.names import JOB_NAME, require_text
from footplate.domain.override import override
from footplate.domain.spec import JobSpec
from footplate.domain.states import JobState, Reason
from footplate.engines.refusals import first_refusal
from footplate.engines.strategies import registry as strategies
from footplate.scheduler.fit import can_ever_fit
from footplate.scheduler.snapshot import shape_of
from footplate.services import code, storages, storedcode
from footplate.services.access import (
    Caller,
    may_see,
    reach_of,
    require_files,
    require_read,
    require_submit,
    require_touch,
    visible_queues,
)
from footplate.services.alerts.naming import check_named as check_receivers
from footplate.services.platform import Platform
from footplate.services.queues import nodes_of
from footplate.services.secrets import check_named
from footplate.store import job_queries, model_queries, original_queries, transitions
from footplate.store.job_queries import Attempt, Filter
from footplate.store.logpattern import compile_expression, compile_groups, expression_in
from footplate.store.original_queries import Original
from footplate.store.writer import Transaction

CLONE_TRIES = 5
# Makes the new tags of a job from those that it has.
Retag = Callable[[tuple[str, ...]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Submission:
    """The job that a submit made, or had made before with the same idempotency key."""

    job: Job
    is_new: bool


async def submit(platform: Platform, caller: Caller, document: Any, key: str = "") -> Submission:
    """Check a job document and queue the job; answered only once the job is durable."""
    spec = read_job(document)
    with _places_of(document):
        return await _submit(platform, caller, spec, key, write_job(spec))


async def submit_spec(
    platform: Platform,
    caller: Caller,
    spec: JobSpec,
    key: str = "",
    original: Original | None = None,
    new_id: str = "",
) -> Submission:
    """Queue a job that another dialect has described; it is held to the bounds of a document.

    `original` is the text that it was made from; it is kept with the job. `new_id` is what `fresh_id` has
    made for it, where its description had to have it.
    """
    document = write_job(spec)
    return await _submit(platform, caller, read_job(document), key, document, original, new_id)


def fresh_id(platform: Platform) -> str:
    """Make the id of a job to be. Ids tell jobs apart and are no secret."""
    return platform.job_ids.make(platform.clock.now())


async def uncover(platform: Platform, caller: Caller, document: Any, original: str) -> Any:
    """Put the values back that a document hides, made from what the caller was shown of their own job."""
    if not original or not hides_something(document):
        return document
    job = await inspect(platform, caller, original)
    return fill(document, write_job(job.spec)) if job.owner == caller.name else document


@contextmanager
def _places_of(document: Any) -> Iterator[None]:
    """Let refusals name fields as the document has them."""
    try:
        yield
    except InvalidInput as refusal:
        raise type(refusal)(place_in(document, refusal.problems)) from refusal


async def _submit(
    platform: Platform,
    caller: Caller,
    spec: JobSpec,
    key: str,
    asked: Mapping[str, Any],
    original: Original | None = None,
    new_id: str = "",
) -> Submission:
    try:
        platform.disk.require_room(caller.name)
        spec = platform.choices.resolve(spec)
        _check(platform, caller, spec)
        await code.check(platform, caller, spec)
        await check_named(platform, caller.name, spec)
        await check_receivers(platform, caller.name, spec)
        if not key or await _remembered(platform, caller, key) is None:
            spec = await storedcode.settle(platform, caller, await code.settle(platform, caller, spec))
    except FootplateError:
        # A repeated submit is answered with its job, also where a new one would be refused by now.
        if not key or await _remembered(platform, caller, key) is None:
            raise
    now = platform.clock.now()
    job = jobs.submit(new_id or fresh_id(platform), caller.name, spec, now)
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest() if key else ""

    def unit(tx: Transaction) -> Submission:
        if key:
            known = job_queries.remembered(tx.connection, caller.name, key)
            if known is not None:
                return _repeated(tx, platform, known, key, digest)
        require_submit(caller, spec.queue, spec.queue in platform.cluster.queues)
        if not transitions.insert(tx, job):
            raise _name_taken(tx.connection, caller.name, spec.name)
        if original is not None:
            original_queries.put(tx.connection, job.id, original)
        if spec.model is not None:
            model_queries.expect(tx.connection, job.id)
        if key:
            job_queries.remember(tx.connection, caller.name, key, digest, job.id, now)
        return Submission(job, is_new=True)

    submission = await platform.scheduler.enter(job, unit)
    if not submission.is_new:
        return submission
    # It may have started in the same commit.
    return replace(submission, job=await platform.store.job(job.id) or job)


async def _remembered(platform: Platform, caller: Caller, key: str) -> tuple[str, str] | None:
    return await platform.store.read(lambda connection: job_queries.remembered(connection, caller.name, key))


def _repeated(
    tx: Transaction, platform: Platform, known: tuple[str, str], key: str, digest: str
) -> Submission:
    if known[0] != digest:
        raise Conflict("idempotency_key_used", key=key)
    return Submission(transitions.current(tx, known[1], platform.store.board), is_new=False)


def _name_taken(connection: sa.Connection, owner: str, name: str) -> Conflict:
    taken = job_queries.id_of_name(connection, owner, name)
    return Conflict("job_name_taken", name=name, job=taken)


def _check(platform: Platform, caller: Caller, spec: JobSpec) -> None:
    queue = platform.cluster.queues.get(spec.queue)
    require_submit(caller, spec.queue, queue is not None)
    assert queue is not None
    if not queue.is_open:
        raise Conflict("queue_closed", queue=spec.queue)
    if spec.deadline_at is not None and spec.deadline_at <= platform.clock.now():
        raise InvalidInput("deadline_passed", "deadline")
    environments = platform.images.environments(queue)
    refusal = first_refusal(platform.engines.of_queue(queue), platform.images.refer(spec), environments)
    if refusal is not None:
        raise InvalidInput([refusal])
    storages.check_named(platform, caller.name, spec)
    if problems := [*strategies.problems(spec), *_bad_patterns(spec)]:
        raise InvalidInput(problems)
    engines = platform.engines
    never = can_ever_fit(shape_of(spec), platform.cluster.nodes, engines.bind(queue), engines.states())
    if never is not None:
        raise InvalidInput(never.said, _field_of(never, spec))
    _check_ports(spec, max(1, len(nodes_of(platform, queue))))


def _bad_patterns(spec: JobSpec) -> Iterator[Problem]:
    """What is wrong with the patterns of the job's rules; those of jobs that are stored are not looked at."""
    for number, pattern in enumerate(spec.log_metrics):
        try:
            compile_groups(pattern)
        except ValueError as error:
            yield problem(f"log_metrics[{number}]", "bad_expression", error=str(error))
    for number, rule in enumerate(spec.on_failure):
        expression = expression_in(rule.log)
        if expression is not None:
            try:
                compile_expression(expression)
            except ValueError as error:
                yield problem(f"on_failure[{number}].log", "bad_expression", error=str(error))


_FIELDS = {"gpus": "gpus", "milli_cpus": "cpus", "memory_bytes": "memory"}


def _field_of(never: Reason, spec: JobSpec) -> str:
    """Name the field that asks for more than there is; all roles where they are too much only together."""
    details = never.details
    role = details.get("role") or (spec.roles[0].name if len(spec.roles) == 1 else None)
    if role is None:
        return "roles"
    number = [one.name for one in spec.roles].index(role)
    place = f"roles[{number}]"
    if "tasks_that_fit" in details:
        return f"{place}.count"
    if spec.roles[number].instance_type:
        return f"{place}.type"
    if details.get("gpu_type") and not details["largest"]["gpus"]:
        return f"{place}.gpu_type"
    most = details.get("largest") or details.get("maximum") or {}
    over = (name for name in _FIELDS if name in most and details["needed"][name] > most[name])
    return f"{place}.{_FIELDS[next(over, 'milli_cpus')]}"


def _check_ports(spec: JobSpec, n_nodes: int) -> None:
    """Refuse a job that asks for more ports than its nodes have."""
    asked = 0
    for number, role in enumerate(spec.roles):
        asked += role.count
        for position, ports in enumerate(role.ports):
            asked += 0 if ports.begin_at else role.count * ports.count
            n_fitting = (65_536 - ports.begin_at) // ports.count * n_nodes
            if ports.begin_at and role.count > n_fitting:
                place = f"roles[{number}].ports[{position}].begin_at"
                raise InvalidInput(
                    "too_few_ports_above", place, blocks=n_fitting, ports=ports.count, tasks=role.count
                )
    if asked > len(GIVEN_PORTS) * n_nodes:
        most = len(GIVEN_PORTS) * n_nodes
        raise InvalidInput("too_many_ports", "roles", given=asked, most=most)


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a submit would do now."""

    spec: JobSpec
    would_be: WouldBe


async def dry_run(platform: Platform, caller: Caller, document: Any, code_follows: bool = False) -> DryRun:
    """Check a job document and say whether it would start now, without creating anything.

    `code_follows`: the caller has the code, and will send it before the job.
    """
    spec = read_job(document)
    with _places_of(document):
        spec = platform.choices.resolve(spec)
        _check(platform, caller, spec)
        if not code_follows:
            await code.check(platform, caller, spec)
        await check_named(platform, caller.name, spec)
        await check_receivers(platform, caller.name, spec)
    now = platform.clock.now()
    return DryRun(spec, await platform.scheduler.dry_run(jobs.submit("0" * 12, caller.name, spec, now)))


TRAINING = "training-"


async def find(platform: Platform, caller: Caller, id_or_name: str) -> Job:
    """A job by its id, or by its name among the caller's own; of a private one, callers show an outline.

    The id may have the `training-` before it that FfDL has.
    """
    if is_job_id(bare := id_or_name.removeprefix(TRAINING)):
        id_or_name = bare
    wanted: str | None = id_or_name
    if not is_job_id(id_or_name) or (id_or_name not in platform.store.board and len(id_or_name) != 12):
        wanted = None
    job = await platform.store.job(wanted) if wanted else None
    if job is None and re.fullmatch(JOB_NAME.pattern, id_or_name):
        own = await platform.store.read(
            lambda connection: job_queries.id_of_name(connection, caller.name, id_or_name)
        )
        job = await platform.store.job(own) if own else None
    if job is None or not may_see(caller, job.owner, job.spec.queue):
        raise NotFound(_none_called(id_or_name))
    return job


async def inspect(platform: Platform, caller: Caller, id_or_name: str) -> Job:
    """A job whose configuration, logs, events, usage and files the caller may see."""
    job = await find(platform, caller, id_or_name)
    require_read(caller, platform.cluster.queues, job)
    return job


async def original(platform: Platform, caller: Caller, id_or_name: str) -> Original:
    """The text that a job was made from, where it was written for another system."""
    job = await inspect(platform, caller, id_or_name)
    found = await platform.store.read(lambda connection: original_queries.find(connection, job.id))
    if found is None:
        raise NotFound("no_original", job=job.id)
    return found


def _none_called(id_or_name: str) -> Message:
    is_id = is_job_id(id_or_name) and len(id_or_name) == 12
    return say("job_not_visible" if is_id else "job_not_named", job=id_or_name[:64])


async def page(
    platform: Platform, caller: Caller, wanted: Filter, sort: str, after: tuple[Any, str] | None, limit: int
) -> tuple[list[JobLine], tuple[Any, str] | None]:
    """One page of the jobs that the caller may see."""
    seen = replace(
        wanted,
        caller=caller.name,
        visible_queues=visible_queues(caller),
        reach=reach_of(caller, platform.cluster.queues),
    )
    return await platform.store.read(
        lambda connection: job_queries.page(connection, seen, sort, after, limit)
    )


async def edit(
    platform: Platform,
    caller: Caller,
    id_or_name: str,
    name: str | None,
    description: str | None,
    priority: int | None,
    shared: bool | None = None,
) -> Job:
    """Change name, description, priority or who may look into it; the priority only until the job is over."""
    job = await find(platform, caller, id_or_name)
    require_touch(caller, job, "edit")
    if job.deleted_at is not None:
        raise Conflict("job_in_trash", job=job.id)
    if priority is not None and job.state.is_final:
        raise Conflict("job_over_priority", job=job.id, state=job.state.value)
    if name is not None:
        require_text(JOB_NAME, name, "name")
    event = Edited(platform.clock.now(), caller.name, name, description, priority, shared)

    def unit(tx: Transaction) -> Job:
        if name is not None and name != job.spec.name:
            taken = job_queries.id_of_name(tx.connection, job.owner, name)
            if taken not in (None, job.id):
                raise _name_taken(tx.connection, job.owner, name)
        return transitions.apply(tx, platform.store.board, job.id, event, caller.name).after

    return await platform.store.write(unit)


async def tag(platform: Platform, caller: Caller, id_or_name: str, changed: Retag) -> Job:
    """Change the tags of a job, whatever they are by then."""
    found = await find(platform, caller, id_or_name)
    require_touch(caller, found, "edit")

    def unit(tx: Transaction) -> Job:
        job = transitions.current(tx, found.id, platform.store.board)
        tags = read_job({**write_job(job.spec), "tags": list(changed(job.spec.tags))}).tags
        event = Edited(platform.clock.now(), caller.name, tags=tags)
        return transitions.apply(tx, platform.store.board, job.id, event, caller.name).after

    return await platform.store.write(unit)


async def clone(
    platform: Platform, caller: Caller, id_or_name: str, overrides: Mapping[str, Any], key: str = ""
) -> Submission:
    """Submit a job's configuration again under a new name, with some fields replaced."""
    job = await inspect(platform, caller, id_or_name)
    if job.spec.code is not None and "code" not in overrides:
        require_files(caller, job)
    tries_left = 1 if "name" in overrides else CLONE_TRIES
    while True:
        document = override(_config_for(caller, job), _overrides_for(caller, job, overrides))
        if "name" not in overrides:
            document["name"] = await platform.store.read(
                lambda connection: free_name(connection, caller.name, job.spec.name)
            )
        spec = read_job(document)
        asked = {**write_job(spec), "clone of": job.id, "name": overrides.get("name")}
        try:
            return await _submit(platform, caller, spec, key, asked)
        except Conflict:
            # Somebody took the name that was free a moment ago.
            tries_left -= 1
            if tries_left == 0:
                raise


def _config_for(caller: Caller, job: Job) -> dict[str, Any]:
    """The configuration of a job for a clone; who shared theirs has shared neither its secrets nor clones."""
    if caller.name == job.owner:
        return write_job(job.spec)
    config = show_job(job.spec)
    config.pop("shared", None)
    return config


def _overrides_for(caller: Caller, job: Job, overrides: Mapping[str, Any]) -> Mapping[str, Any]:
    filled: Mapping[str, Any] = fill(overrides, write_job(job.spec))
    return filled if caller.name == job.owner else overrides


def free_name(connection: sa.Connection, owner: str, name: str) -> str:
    """The first of name-2, name-3, … that the owner does not use yet."""
    return next_free(name, job_queries.names_like(connection, owner, stem_of(name)))


async def attempts(platform: Platform, caller: Caller, id_or_name: str) -> list[Attempt]:
    job = await inspect(platform, caller, id_or_name)
    return await platform.store.read(lambda connection: job_queries.attempts_of(connection, job.id))


@dataclass(frozen=True, slots=True)
class Counts:
    active: dict[str, int]
    finished_today: dict[str, int]


async def counts(platform: Platform, caller: Caller, day_began_at: float) -> Counts:
    """How many visible jobs are in each living state, and how many have ended since the day began."""
    active = {state.value: 0 for state in JobState if not state.is_final}
    for job in list(platform.store.board.values()):
        if may_see(caller, job.owner, job.spec.queue):
            active[job.state.value] += 1
    seen = Filter(caller.name, visible_queues(caller))
    ended = await platform.store.read(
        lambda connection: job_queries.finished_since(connection, day_began_at, seen)
    )
    return Counts(active, {state.value: ended.get(state.value, 0) for state in JobState if state.is_final})
