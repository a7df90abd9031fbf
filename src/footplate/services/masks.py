"""What must not be read in the output of a job: its secrets, values that are secrets by name, its token.

Values that were stored are kept with the job, sealed: its logs outlive a secret that is replaced or deleted.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from footplate.domain.errors import SecretUnreadable
from footplate.domain.hidden import hidden_values
from footplate.domain.job import Job
from footplate.domain.mask import Mask
from footplate.services.vault import Vault
from footplate.store import mask_queries
from footplate.store.store import Store

MOST_REMEMBERED = 1000
Values = frozenset[str]
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Masks:
    """Knows the masks of jobs; those that were asked for last by heart."""

    store: Store
    vault: Vault
    token_of: Callable[[str, int], str]
    _values: OrderedDict[str, Values] = field(default_factory=OrderedDict)
    _masks: OrderedDict[tuple[str, int, Values], Mask] = field(default_factory=OrderedDict)

    async def note(self, job: Job, given: Iterable[str]) -> None:
        """Remember what a job is about to be given; durable when this returns."""
        before = await self._known(job.id)
        values = before.union(given)
        if values != before:
            sealed = self.vault.seal(json.dumps(sorted(values)), _label(job.id))
            await self.store.write(lambda tx: mask_queries.put(tx.connection, job.id, sealed))
            _remember(self._values, job.id, values)

    async def of(self, job: Job) -> Mask:
        """The mask for the output of a job, with the token of its current attempt."""
        values = await self._given(job)
        key = (job.id, job.attempt, values)
        mask = self._masks.get(key)
        if mask is None:
            mask = Mask(self._with_own(job, values))
            _remember(self._masks, key, mask)
        return mask

    async def values_of(self, job: Job) -> Values:
        """What no message about a job may tell."""
        return self._with_own(job, await self._given(job))

    async def _given(self, job: Job) -> Values:
        return await self._known(job.id) if job.spec.secrets or job.spec.image_credentials else Values()

    def _with_own(self, job: Job, given: Values) -> Values:
        return given | hidden_values(job.spec) | {self.token_of(job.id, job.attempt)}

    async def _known(self, job_id: str) -> Values:
        known = self._values.get(job_id)
        if known is None:
            sealed = await self.store.read(lambda connection: mask_queries.find(connection, job_id))
            known = self._unseal(sealed, job_id) if sealed else Values()
            _remember(self._values, job_id, known)
        return known

    def _unseal(self, sealed: bytes, job_id: str) -> Values:
        try:
            return Values(json.loads(self.vault.unseal(sealed, _label(job_id))))
        except SecretUnreadable:
            # Sealed with another key: nobody can say any more what is to be masked.
            return Values()


def _label(job_id: str) -> str:
    return f"mask/{job_id}"


def _remember(memory: OrderedDict[K, V], key: K, value: V) -> None:
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > MOST_REMEMBERED:
        memory.popitem(last=False)
