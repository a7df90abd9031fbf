"""Opens the store: the database that belongs to this home folder, brought up to date."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import AsyncExitStack

import sqlalchemy as sa

from footplate.domain.clock import Clock
from footplate.server.opening import Opening, await_lease
from footplate.server.settings import Settings
from footplate.store import faults, homes
from footplate.store.database import open_engine, sqlite_url
from footplate.store.disk import Disk
from footplate.store.migrate import migrate
from footplate.store.privacy import keep_private
from footplate.store.store import Store


async def open_store(
    settings: Settings, clock: Clock, opening: Opening, stack: AsyncExitStack
) -> tuple[Store, str]:
    """Open the store of this home folder, and say what the folder is called."""
    try:
        database, identity = await _open_database(settings, clock, opening, stack)
        store = Store(database, f"{socket.gethostname()}:{os.getpid()}", clock.now())
    except faults.GONE as error:
        if faults.may_be_full(error):
            # The next try finds some room.
            Disk(settings.home).give_way(faults.is_full(error))
        raise
    stack.callback(store.close)
    return store, identity


async def _open_database(
    settings: Settings, clock: Clock, opening: Opening, stack: AsyncExitStack
) -> tuple[sa.Engine, str]:
    """Open the database that this home folder belongs to, in threads: it may take long to answer."""
    keep_private(settings.home, tells=not opening.waits_for)
    database = open_engine(settings.database_url or sqlite_url(settings.home))
    stack.callback(database.dispose)
    if settings.stands_by and settings.takes_over:
        await await_lease(database, opening)
    elif settings.stands_by:
        # A server of this home held its database, and has ended: we have the lock of the home.
        await asyncio.to_thread(homes.check, database, settings.home)
    await asyncio.to_thread(migrate, database)
    identity = await asyncio.to_thread(homes.claim, database, settings.home, clock.now(), settings.takes_over)
    return database, identity
