"""Finds the secrets of a job: its owner's, then those of its queue while the owner is a member there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from footplate.domain.clock import Clock
from footplate.domain.errors import InvalidInput, NotFound, SecretUnreadable
from footplate.domain.job import Job
from footplate.domain.secret import RegistryLogin, Secret, SecretKind, queue_scope, user_scope
from footplate.services.access import RANKS
from footplate.services.masks import Masks
from footplate.services.vault import Vault
from footplate.store import account_queries, secret_queries
from footplate.store.secret_queries import SealedSecret
from footplate.store.store import Store

TOUCH_EVERY_S = 60.0


def usable(
    connection: sa.Connection, owner: str, queue: str, names: Iterable[str]
) -> dict[str, SealedSecret]:
    """The secrets among these names that jobs of somebody in a queue may use."""
    scopes = [user_scope(owner)]
    user = account_queries.user(connection, owner)
    role = account_queries.roles_of(connection, owner).get(queue, "")
    if user is not None and (user.is_admin or RANKS.get(role, 0) >= RANKS["member"]):
        scopes.append(queue_scope(queue))
    return secret_queries.find(connection, scopes, names)


def label_of(secret: Secret) -> str:
    """What a value is sealed under: it opens in no other place of the table."""
    return f"{secret.scope}/{secret.name}/{secret.kind}"


@dataclass(frozen=True, slots=True)
class Keyring:
    """Opens secrets for a launch; the values it returns must reach the tasks and nothing else."""

    store: Store
    vault: Vault
    clock: Clock
    masks: Masks

    async def resolve(self, owner: str, queue: str, names: Iterable[str]) -> Mapping[str, str]:
        """The values of secrets by name; raise when one is gone, is no value or cannot be opened."""
        return await self._open(owner, queue, set(names), SecretKind.VALUE)

    async def registry_login(self, owner: str, queue: str, name: str) -> RegistryLogin:
        """The login that a secret of the kind registry holds."""
        opened = await self._open(owner, queue, {name}, SecretKind.REGISTRY)
        return RegistryLogin(**json.loads(opened[name]))

    async def variables_of(self, job: Job) -> Mapping[str, str]:
        """The variables of a job that are filled from secrets."""
        wanted = job.spec.secrets
        if not wanted:
            return {}
        values = await self.resolve(job.owner, job.spec.queue, wanted.values())
        await self.masks.note(job, values.values())
        return {variable: values[name] for variable, name in wanted.items()}

    async def login_of(self, job: Job, name: str) -> RegistryLogin:
        """The login at a registry that a job names."""
        login = await self.registry_login(job.owner, job.spec.queue, name)
        await self.masks.note(job, [login.password])
        return login

    async def _open(self, owner: str, queue: str, names: set[str], kind: SecretKind) -> dict[str, str]:
        if not names:
            return {}
        found = await self.store.read(lambda connection: usable(connection, owner, queue, names))
        for name in sorted(names):
            _require_kind(name, found.get(name), kind, owner, queue)
        opened = {name: self._unseal(one) for name, one in found.items()}
        await self._touch([one.secret for one in found.values()])
        return opened

    def _unseal(self, one: SealedSecret) -> str:
        try:
            return self.vault.unseal(one.sealed, label_of(one.secret))
        except SecretUnreadable as error:
            command = f"footplate secrets set {one.secret.name}"
            command += f" --queue {one.secret.queue}" if one.secret.queue else ""
            raise SecretUnreadable(
                "secret_sealed", secret=one.secret.name, why=error.said, command=command
            ) from None

    async def _touch(self, used: Iterable[Secret]) -> None:
        now = self.clock.now()
        stale = [secret for secret in used if now - (secret.last_used_at or 0) > TOUCH_EVERY_S]
        if stale:
            await self.store.write(lambda tx: secret_queries.touch(tx.connection, stale, now))


def _require_kind(name: str, found: SealedSecret | None, kind: SecretKind, owner: str, queue: str) -> None:
    if found is None:
        raise NotFound("secret_not_usable_by", secret=name, owner=owner, queue=queue)
    if found.secret.kind is not kind:
        raise InvalidInput("secret_of_kind", secret=name, given=found.secret.kind.value, wanted=kind.value)
