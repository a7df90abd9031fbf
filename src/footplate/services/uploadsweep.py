"""Removes what uploads have left: those that nobody went on with, and parts that a crash left behind."""

from __future__ import annotations

import logging

from footplate.domain.errors import FootplateError
from footplate.domain.storage import Storage
from footplate.services.platform import Platform
from footplate.store import storage_queries

log = logging.getLogger(__name__)

KEPT_S = 7 * 86400.0
SWEEP_EVERY_S = 86400.0
# After a start.
SOON_S = 300.0


async def sweep(platform: Platform) -> int:
    """Forget uploads that were begun a week ago, and remove parts that old; return how many parts went."""
    before = platform.clock.now() - KEPT_S
    await platform.store.write(lambda tx: storage_queries.remove_uploads_before(tx.connection, before))
    n_removed = 0
    for storage in list(platform.storages.values()):
        for person in platform.people.names() if storage.per_user else ("",):
            n_removed += await _sweep_one(platform, storage, person, before)
    return n_removed


async def _sweep_one(platform: Platform, storage: Storage, person: str, before: float) -> int:
    try:
        opened = await platform.filing.open(storage, person)
        return await opened.run_long(lambda files: files.sweep(before))
    except (OSError, FootplateError) as error:
        log.info("storage %s cannot be swept now: %s", storage.name, error)
        return 0
