"""Lists of jobs by position, as clients of other systems ask for them: filters, an order, an offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from footplate.domain.job import Job
from footplate.domain.listing import JobLine
from footplate.store import rows
from footplate.store.job_queries import Filter, conditions_of, line_columns, line_from, visible_to
from footplate.store.tables import jobs, tasks

# A statement takes so many values and no more.
MOST_AT_ONCE = 10_000

ORDERS: dict[str, sa.ColumnElement[Any]] = {
    "name": jobs.c.name,
    "submitted_at": jobs.c.id,
    "owner": jobs.c.owner,
    "queue": jobs.c.queue,
    "retries": jobs.c.attempt,
    "n_tasks": jobs.c.n_tasks,
    "gpus": jobs.c.gpus,
    "state": jobs.c.state,
    "finished_at": sa.func.coalesce(jobs.c.finished_at, 1e18),
    "priority": jobs.c.priority,
}


@dataclass(frozen=True, slots=True)
class Slice:
    """Which part of a list: an order of `ORDERS`, how many to pass over, how many to give.

    A job has one of `tags` where there are any, and none of `without`; the keyword is in its name, owner or
    queue. `is_readable` leaves out what the caller may not look into.
    """

    order: str = "submitted_at"
    is_descending: bool = True
    offset: int = 0
    limit: int = 5000
    tags: Sequence[str] = ()
    without: Sequence[str] = ()
    keyword: str = ""
    priorities: Sequence[int] = ()
    is_readable: bool = False


def read(connection: sa.Connection, wanted: Filter, part: Slice) -> list[JobLine]:
    query = _cut(sa.select(*line_columns()), wanted, part)
    return [line_from(dict(row)) for row in connection.execute(query).mappings()]


def n_roles(connection: sa.Connection, ids: Sequence[str]) -> dict[str, int]:
    """How many roles jobs that have been started have, by id."""
    found: dict[str, int] = {}
    each = sa.select(tasks.c.job_id, sa.func.count(tasks.c.role.distinct())).group_by(tasks.c.job_id)
    for begin in range(0, len(ids), MOST_AT_ONCE):
        some = tasks.c.job_id.in_(ids[begin : begin + MOST_AT_ONCE])
        found.update((job_id, n) for job_id, n in connection.execute(each.where(some)))
    return found


def read_whole(connection: sa.Connection, wanted: Filter, part: Slice) -> list[Job]:
    """The jobs themselves, without their tasks."""
    query = _cut(sa.select(jobs), wanted, part)
    return [rows.job_from(dict(row), ()) for row in connection.execute(query).mappings()]


def _cut(query: sa.Select[Any], wanted: Filter, part: Slice) -> sa.Select[Any]:
    column = ORDERS[part.order]
    keys = [column] if column is jobs.c.id else [column, jobs.c.id]
    order = [key.desc() if part.is_descending else key.asc() for key in keys]
    ordered = query.where(*_conditions(wanted, part)).order_by(*order)
    return ordered.offset(part.offset).limit(part.limit)


def count(connection: sa.Connection, wanted: Filter, part: Slice) -> int:
    """How many there are in all."""
    query = sa.select(sa.func.count()).select_from(jobs).where(*_conditions(wanted, part))
    return connection.scalar(query) or 0


def _conditions(wanted: Filter, part: Slice) -> list[sa.ColumnElement[bool]]:
    conditions = conditions_of(wanted)
    if wanted.visible_queues is not None:
        conditions.append(visible_to(wanted.caller, wanted.visible_queues))
    within = sa.true() if wanted.reach is None else wanted.reach.condition()
    if part.is_readable:
        conditions.append(within)
    if part.tags:
        conditions += [sa.or_(*map(_has_tag, part.tags)), within]
    if part.without:
        conditions.append(sa.not_(sa.and_(sa.or_(*map(_has_tag, part.without)), within)))
    if part.keyword:
        columns = (jobs.c.name, jobs.c.owner, jobs.c.queue)
        conditions.append(sa.or_(*(one.icontains(part.keyword, autoescape=True) for one in columns)))
    if part.priorities:
        conditions.append(jobs.c.priority.in_(part.priorities))
    return conditions


def _has_tag(tag: str) -> sa.ColumnElement[bool]:
    return jobs.c.tags.contains(rows.dumps(tag), autoescape=True)
