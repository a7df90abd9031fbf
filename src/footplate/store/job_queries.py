"""Reading jobs: pages by key, attempts, counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from footplate.domain.job import Task
from footplate.domain.listing import JobLine
from footplate.domain.states import JobState, Reason
from footplate.store import rows, statements
from footplate.store.reach import Reach
from footplate.store.tables import attempts, idempotency, jobs, kept_files, tasks

MOST_BRANCHES = 50
# Beyond every time that a job has run, and small enough to keep parts of a second.
_STILL_RUNS = 1e12
# GPUs first, then CPUs, as one number.
_PER_GPU = 10**10
_since = sa.func.coalesce(jobs.c.running_at, jobs.c.started_at)
SORTS: dict[str, sa.ColumnElement[Any]] = {
    "submitted_at": jobs.c.id,
    # Jobs that have not ended come last: they will end later than all that have.
    "finished_at": sa.func.coalesce(jobs.c.finished_at, 1e18).label("finished_at"),
    "name": jobs.c.name,
    "priority": jobs.c.priority,
    "state": jobs.c.state,
    "owner": jobs.c.owner,
    "queue": jobs.c.queue,
    # Those that still run come after all that have ended, whatever the time of asking: pages fit together.
    "run_time": sa.case(
        (_since.is_(None), -1.0),
        (jobs.c.finished_at.is_(None), _STILL_RUNS - _since),
        else_=jobs.c.finished_at - _since,
    ).label("run_time"),
    "resources": (jobs.c.gpus * _PER_GPU + jobs.c.milli_cpus).label("resources"),
}


@dataclass(frozen=True, slots=True)
class Filter:
    """Which jobs to list; `visible_queues` None means all, and one's own jobs are always visible.

    What only those see who may look into a job is searched within their `reach`; None means everywhere.
    """

    caller: str
    visible_queues: Sequence[str] | None = None
    queues: Sequence[str] = ()
    owners: Sequence[str] = ()
    states: Sequence[JobState] = ()
    search: str = ""
    tag: str = ""
    in_trash: bool = False
    reach: Reach | None = None


_LINE_COLUMNS = [jobs.c[name] for name in JobLine.__dataclass_fields__]


def line_columns() -> list[sa.ColumnElement[Any]]:
    """What a line of a list is read from."""
    return list(_LINE_COLUMNS)


def line_from(row: rows.Row) -> JobLine:
    values = dict(row)
    values["state"] = JobState(row["state"])
    values["reason"] = rows.read_reason(row["reason"])
    # In the trash a job's name carries its id, to be free for others.
    values["name"] = row["name"].partition(":")[0]
    values["tags"] = tuple(json.loads(row["tags"]))
    return JobLine(**values)


def page(
    connection: sa.Connection, wanted: Filter, sort: str, after: tuple[Any, str] | None, limit: int
) -> tuple[list[JobLine], tuple[Any, str] | None]:
    """One page in the order of `sort` (a leading `-` turns it round), beginning after a key."""
    descending, column = sort.startswith("-"), SORTS[sort.removeprefix("-")]
    conditions = conditions_of(wanted)
    if after is not None:
        conditions.append(_beyond(column, after, descending))
    keys = [column] if column is jobs.c.id else [column, jobs.c.id]
    order = [key.desc() if descending else key.asc() for key in keys]
    if wanted.visible_queues is not None:
        first = sa.select(jobs.c.id).where(*conditions).order_by(*order).limit(limit + 1)
        conditions = [_visible_among(first, wanted.caller, wanted.visible_queues)]
    query = sa.select(*_LINE_COLUMNS).where(*conditions).order_by(*order).limit(limit + 1)
    found = [line_from(dict(row)) for row in connection.execute(query).mappings()]
    if len(found) <= limit:
        return found, None
    last = found[limit - 1]
    return found[:limit], (_key_of(last, sort.removeprefix("-")), last.id)


def _visible_among(
    first: sa.Select[tuple[str]], caller: str, queues: Sequence[str]
) -> sa.ColumnElement[bool]:
    """Keep the caller's own jobs and those of some queues.

    One index answers for each owner or queue, whereas no index answers for "this owner or these queues":
    with a million jobs and few of them visible that would read them all.
    """
    if len(queues) > MOST_BRANCHES:
        return jobs.c.id.in_(first.where(visible_to(caller, queues)))
    branches = [jobs.c.owner == caller, *(jobs.c.queue == queue for queue in queues)]
    limited = (sa.select(first.where(branch).subquery()) for branch in branches)
    return jobs.c.id.in_(sa.union_all(*limited))


def visible_to(caller: str, queues: Sequence[str]) -> sa.ColumnElement[bool]:
    return sa.or_(jobs.c.owner == caller, jobs.c.queue.in_(queues))


def _key_of(line: JobLine, sort: str) -> Any:
    if sort == "finished_at":
        return 1e18 if line.finished_at is None else line.finished_at
    if sort == "run_time":
        return _run_time_key(line)
    if sort == "resources":
        return line.gpus * _PER_GPU + line.milli_cpus
    return line.state.value if sort == "state" else getattr(line, sort)


def _run_time_key(line: JobLine) -> float:
    since = line.started_at if line.running_at is None else line.running_at
    if since is None:
        return -1.0
    return _STILL_RUNS - since if line.finished_at is None else line.finished_at - since


def _beyond(
    column: sa.ColumnElement[Any], after: tuple[Any, str], descending: bool
) -> sa.ColumnElement[bool]:
    value, job_id = after
    if column is jobs.c.id:
        return column < job_id if descending else column > job_id
    bare = column.element if isinstance(column, sa.Label) else column
    key, bound = sa.tuple_(bare, jobs.c.id), sa.tuple_(sa.literal(value), sa.literal(job_id))
    return key < bound if descending else key > bound


def conditions_of(wanted: Filter) -> list[sa.ColumnElement[bool]]:
    # Nearly all jobs are out of the trash: the index of deletions must not be chosen to find those, since
    # the order of the list would then have to be made by sorting them all.
    is_out = sa.func.coalesce(jobs.c.deleted_at, 0.0) == 0.0
    conditions: list[sa.ColumnElement[bool]] = [jobs.c.deleted_at.is_not(None) if wanted.in_trash else is_out]
    for column, values in (
        (jobs.c.queue, wanted.queues),
        (jobs.c.owner, wanted.owners),
        (jobs.c.state, [state.value for state in wanted.states]),
    ):
        if len(values) == 1:
            conditions.append(column == values[0])
        elif values:
            conditions.append(column.in_(values))
    within = sa.true() if wanted.reach is None else wanted.reach.condition()
    if wanted.search:
        text = wanted.search
        described = jobs.c.description.icontains(text, autoescape=True)
        conditions.append(
            sa.or_(
                jobs.c.name.icontains(text, autoescape=True),
                described if wanted.reach is None else sa.and_(described, within),
                jobs.c.id == text.lower(),
            )
        )
    if wanted.tag:
        conditions += [jobs.c.tags.contains(rows.dumps(wanted.tag), autoescape=True), within]
    return conditions


def shares_of(connection: sa.Connection, job_ids: Iterable[str]) -> dict[str, bool | None]:
    """What some jobs say about being shared; those that are gone are missing."""
    found = sa.select(jobs.c.id, jobs.c.shared).where(jobs.c.id.in_(list(job_ids)))
    return {row.id: row.shared for row in connection.execute(found)}


def id_of_name(connection: sa.Connection, owner: str, name: str) -> str | None:
    return connection.scalar(sa.select(jobs.c.id).where(jobs.c.owner == owner, jobs.c.name == name))


def names_like(connection: sa.Connection, owner: str, stem: str) -> set[str]:
    """The names of somebody's jobs that begin with a stem."""
    query = sa.select(jobs.c.name).where(jobs.c.owner == owner, jobs.c.name.startswith(stem, autoescape=True))
    return set(connection.scalars(query))


@dataclass(frozen=True, slots=True)
class Attempt:
    number: int
    state: JobState
    reason: Reason
    started_at: float | None
    running_at: float | None
    finished_at: float | None
    tasks: tuple[Task, ...]


def attempts_of(connection: sa.Connection, job_id: str) -> list[Attempt]:
    """Every attempt that was placed, first to last."""
    found: dict[int, list[Task]] = {}
    query = sa.select(tasks).where(tasks.c.job_id == job_id).order_by(tasks.c.attempt, tasks.c.position)
    for row in connection.execute(query).mappings():
        found.setdefault(row["attempt"], []).append(rows.task_from(dict(row)))
    listed = connection.execute(
        sa.select(attempts).where(attempts.c.job_id == job_id).order_by(attempts.c.number)
    ).mappings()
    return [
        Attempt(
            row["number"],
            JobState(row["state"]),
            rows.read_reason(row["reason"]),
            row["started_at"],
            row["running_at"],
            row["finished_at"],
            tuple(found.get(row["number"], ())),
        )
        for row in listed
    ]


def finished_since(connection: sa.Connection, at: float, wanted: Filter) -> dict[str, int]:
    """How many visible jobs have ended in each final state since a moment."""
    query = (
        sa.select(jobs.c.state, sa.func.count().label("n"))
        .where(_is_over, jobs.c.finished_at >= at, *conditions_of(wanted))
        .group_by(jobs.c.state)
    )
    if wanted.visible_queues is not None:
        query = query.where(visible_to(wanted.caller, wanted.visible_queues))
    return {row.state: row.n for row in connection.execute(query)}


def recently_succeeded(connection: sa.Connection, most: int = 1000) -> list[JobLine]:
    """The jobs that have last ended well, oldest first."""
    query = (
        sa.select(*_LINE_COLUMNS)
        .where(jobs.c.state == JobState.SUCCEEDED.value)
        .order_by(jobs.c.id.desc())
        .limit(most)
    )
    return [line_from(dict(row)) for row in connection.execute(query).mappings()][::-1]


def to_remove(connection: sa.Connection) -> list[str]:
    """Final jobs whose deletion was asked for and not finished."""
    return list(connection.scalars(sa.select(jobs.c.id).where(_is_over, jobs.c.is_deleting)))


def is_there(connection: sa.Connection, job_id: str) -> bool:
    return connection.execute(sa.select(jobs.c.id).where(jobs.c.id == job_id)).first() is not None


def has_code(connection: sa.Connection, digest: str) -> bool:
    """Tell whether any job has this code and still keeps it."""
    gone = sa.select(kept_files.c.job_id).where(
        kept_files.c.job_id == jobs.c.id, kept_files.c.gone.contains("code")
    )
    wanted = sa.select(jobs.c.id).where(jobs.c.spec.contains(digest), ~gone.exists()).limit(1)
    return connection.execute(wanted).first() is not None


def in_trash_since(connection: sa.Connection, before: float) -> list[str]:
    """Jobs that have been in the trash since before a moment and are over."""
    return list(connection.scalars(sa.select(jobs.c.id).where(_is_over, jobs.c.deleted_at < before)))


_is_over = jobs.c.state.in_([state.value for state in JobState if state.is_final])


def remembered(connection: sa.Connection, owner: str, key: str) -> tuple[str, str] | None:
    """The body digest and the job of an idempotency key."""
    row = _KEY.first(connection, {"owner": owner, "key": key})
    return None if row is None else (row[0], row[1])


def remember(
    connection: sa.Connection, owner: str, key: str, body_digest: str, job_id: str, at: float
) -> None:
    row = {"owner": owner, "key": key, "body_digest": body_digest, "job_id": job_id, "created_at": at}
    _INSERT_KEY.run(connection, [row])


def forget_keys_before(connection: sa.Connection, at: float) -> int:
    return connection.execute(sa.delete(idempotency).where(idempotency.c.created_at < at)).rowcount


_KEY = statements.Statement("SELECT body_digest, job_id FROM idempotency WHERE owner = :owner AND key = :key")
_INSERT_KEY = statements.insert(idempotency)
