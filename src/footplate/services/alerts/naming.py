"""Checks the receivers that a job names: channels that it may use, and people who may see it."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from footplate.domain.errors import InvalidInput, Problem, problem
from footplate.domain.secret import queue_scope, user_scope
from footplate.domain.spec import JobSpec
from footplate.services.access import Caller, may_see
from footplate.services.platform import Platform
from footplate.store import account_queries


async def check_named(platform: Platform, owner: str, spec: JobSpec) -> None:
    """Refuse a job whose alerts go to somebody who does not exist, or who may not see the job."""
    words = {word for alert in spec.alerts for word in alert.to}
    if not words:
        return
    book = platform.alerts
    scopes = (user_scope(owner), queue_scope(spec.queue))
    people = {word for word in words if not any(book.channel_named(scope, word) for scope in scopes)}

    def query(connection: sa.Connection) -> dict[str, Caller]:
        users = {name: account_queries.user(connection, name) for name in people}
        return {
            name: Caller(name, user.is_admin, account_queries.roles_of(connection, name))
            for name, user in users.items()
            if user is not None and user.is_enabled
        }

    known = await platform.store.read(query) if people else {}
    problems = list(_faults(spec, owner, people, known))
    if problems:
        raise InvalidInput(problems)


def _faults(spec: JobSpec, owner: str, people: set[str], known: dict[str, Caller]) -> Iterator[Problem]:
    for number, alert in enumerate(spec.alerts):
        for place, word in enumerate(alert.to):
            path = f"alerts[{number}].to[{place}]"
            if word not in people:
                continue
            if word not in known:
                yield problem(path, "receiver_unknown", receiver=word[:64], queue=spec.queue)
            elif not may_see(known[word], owner, spec.queue):
                yield problem(path, "receiver_sees_nothing", receiver=word, queue=spec.queue)
