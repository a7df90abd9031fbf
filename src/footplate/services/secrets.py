"""What a caller may do with secrets: set, list and delete them, and name them in jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace

import sqlalchemy as sa

from footplate.domain.errors import Conflict, InvalidInput, NotFound, Problem, problem
from footplate.domain.secret import (
    RegistryLogin,
    Secret,
    SecretKind,
    check_login,
    check_value,
    queue_scope,
    user_scope,
)
from footplate.domain.spec import JobSpec
from footplate.services import audit
from footplate.services.access import RANKS, Caller, require_person
from footplate.services.keyring import label_of, usable
from footplate.services.platform import Platform
from footplate.services.queues import require_admin_of
from footplate.store import secret_queries
from footplate.store.secret_queries import SealedSecret

MOST_OF_A_SCOPE = 500


async def all_usable(platform: Platform, caller: Caller) -> list[Secret]:
    """The caller's own secrets, and those of queues in which the caller may submit."""
    require_person(caller, "list_secrets")
    queues = [name for name in platform.cluster.queues if caller.rank_in(name) >= RANKS["member"]]
    scopes = [user_scope(caller.name), *map(queue_scope, queues)]
    return await platform.store.read(lambda connection: secret_queries.told(connection, scopes))


async def put(
    platform: Platform, caller: Caller, name: str, queue: str, content: str | RegistryLogin
) -> Secret:
    """Store a value, or a login at a registry, under a name: the caller's own, or a queue's."""
    require_person(caller, "set_secrets")
    kind, text = _checked(content)
    now = platform.clock.now()
    wanted = Secret(name, kind, caller.name, queue, now, now)
    sealed = platform.vault.seal(text, label_of(wanted))

    def unit(connection: sa.Connection) -> Secret:
        # Here and not before: a queue that was just removed must not get a secret any more.
        require_admin_of(platform, caller, queue, "secrets_for_admins")
        before = secret_queries.find(connection, [wanted.scope], [name]).get(name)
        if before is None and secret_queries.n_in(connection, wanted.scope) >= MOST_OF_A_SCOPE:
            raise Conflict("too_many_secrets", most=MOST_OF_A_SCOPE)
        secret = wanted if before is None else replace(wanted, created_at=before.secret.created_at)
        secret_queries.put(connection, secret, sealed)
        return secret

    return await audit.change(platform, caller, "secret.set", name, unit, queue=queue, kind=kind)


def _checked(content: str | RegistryLogin) -> tuple[SecretKind, str]:
    if isinstance(content, RegistryLogin):
        check_login(content)
        return SecretKind.REGISTRY, json.dumps(asdict(content))
    check_value(content)
    return SecretKind.VALUE, content


async def remove(platform: Platform, caller: Caller, name: str, queue: str) -> None:
    """Delete a secret; jobs that name it can no longer start, those that run keep what they got."""
    require_person(caller, "delete_secrets")
    require_admin_of(platform, caller, queue, "secrets_for_admins")
    scope = queue_scope(queue) if queue else user_scope(caller.name)
    gone = await audit.change(
        platform,
        caller,
        "secret.removed",
        name,
        lambda connection: secret_queries.remove(connection, scope, name),
        queue=queue,
    )
    if not gone:
        if queue:
            raise NotFound("queue_has_no_secret", queue=queue, secret=name[:64])
        raise NotFound("you_have_no_secret", secret=name[:64])


async def check_named(platform: Platform, owner: str, spec: JobSpec) -> None:
    """Refuse a job that names a secret which its owner cannot use in its queue."""
    names = {*spec.secrets.values(), spec.image_credentials} - {""}
    if not names:
        return
    found = await platform.store.read(lambda connection: usable(connection, owner, spec.queue, names))
    problems = list(_faults_of(spec, found))
    if problems:
        raise InvalidInput(problems)


def _faults_of(spec: JobSpec, found: Mapping[str, SealedSecret]) -> Iterator[Problem]:
    named = [(f"secrets.{variable}", name, SecretKind.VALUE) for variable, name in spec.secrets.items()]
    if spec.image_credentials:
        named.append(("image_credentials", spec.image_credentials, SecretKind.REGISTRY))
    for path, name, kind in named:
        if name not in found:
            yield problem(path, "secret_not_usable", secret=name, queue=spec.queue)
        elif found[name].secret.kind is not kind:
            yield problem(
                path, "secret_of_kind", secret=name, given=found[name].secret.kind.value, wanted=kind.value
            )
