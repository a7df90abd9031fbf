"""Queues, and what an admin has said about nodes."""

from __future__ import annotations

import json

import sqlalchemy as sa

from footplate.domain.cluster import Queue
from footplate.domain.resources import Resources
from footplate.domain.secret import queue_scope
from footplate.store.alert_queries import remove_all_of_queue
from footplate.store.audit_queries import last_actor
from footplate.store.rows import Row, dumps, write_resources
from footplate.store.secret_queries import remove_scope
from footplate.store.tables import jobs, members, nodes, queues

# What the audit trail calls it.
DRAINED = "node.drained"


def _queue(row: Row) -> Queue:
    return Queue(
        name=row["name"],
        description=row["description"],
        share=Resources(*json.loads(row["share"])),
        maximum=None if row["maximum"] is None else Resources(*json.loads(row["maximum"])),
        nodes=tuple(json.loads(row["nodes"])),
        is_open=bool(row["is_open"]),
        environments=tuple(sorted(json.loads(row["environments"]).items())),
        engine=row["engine"],
        is_shared=bool(row["is_shared"]),
        retention=tuple(sorted(json.loads(row["retention"]).items())),
    )


def all_queues(connection: sa.Connection) -> list[Queue]:
    return [
        _queue(dict(row)) for row in connection.execute(sa.select(queues).order_by(queues.c.name)).mappings()
    ]


def _columns(queue: Queue) -> dict[str, object]:
    return {
        "description": queue.description,
        "share": dumps(write_resources(queue.share)),
        "maximum": None if queue.maximum is None else dumps(write_resources(queue.maximum)),
        "nodes": dumps(queue.nodes),
        "is_open": queue.is_open,
        "environments": dumps(dict(queue.environments)),
        "engine": queue.engine,
        "is_shared": queue.is_shared,
        "retention": dumps(dict(queue.retention)),
    }


def add_queue(connection: sa.Connection, queue: Queue, at: float) -> None:
    connection.execute(sa.insert(queues).values(name=queue.name, created_at=at, **_columns(queue)))


def change_queue(connection: sa.Connection, queue: Queue) -> None:
    connection.execute(sa.update(queues).where(queues.c.name == queue.name).values(**_columns(queue)))


def remove_queue(connection: sa.Connection, name: str) -> None:
    connection.execute(sa.delete(members).where(members.c.queue == name))
    remove_scope(connection, queue_scope(name))
    remove_all_of_queue(connection, name)
    connection.execute(sa.delete(queues).where(queues.c.name == name))


def has_jobs(connection: sa.Connection, name: str) -> bool:
    return connection.scalar(sa.select(jobs.c.id).where(jobs.c.queue == name).limit(1)) is not None


def closed_nodes(connection: sa.Connection) -> dict[str, str]:
    """Nodes that an admin has drained, and who did it last, as the audit trail says."""
    names = connection.scalars(sa.select(nodes.c.name).where(~nodes.c.is_schedulable)).all()
    return {name: last_actor(connection, DRAINED, name) for name in names}


def open_node(connection: sa.Connection, name: str, is_schedulable: bool) -> None:
    connection.execute(sa.delete(nodes).where(nodes.c.name == name))
    connection.execute(sa.insert(nodes), {"name": name, "is_schedulable": is_schedulable})
