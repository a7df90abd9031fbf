"""Settings that platform admins change while the server runs; they are kept in the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from footplate.services import audit
from footplate.services.access import Caller, require_admin
from footplate.services.platform import Platform
from footplate.store import kept_settings

ROW = "server"


async def kept(platform: Platform) -> dict[str, Any]:
    """What was changed, as the settings file would have it."""
    return await platform.store.read(_kept)


def _kept(connection: sa.Connection) -> dict[str, Any]:
    document, _sealed = kept_settings.read(connection, ROW)
    return document


async def keep(
    platform: Platform, caller: Caller, name: str, before: Any, wanted: Mapping[str, Any]
) -> dict[str, Any]:
    """Keep what a setting is to be, nothing for its default; return all that is kept."""
    require_admin(caller, "change_settings")

    def unit(connection: sa.Connection) -> tuple[dict[str, Any]]:
        rest = {one: value for one, value in _kept(connection).items() if one != name}
        now = {**rest, **wanted}
        kept_settings.put(connection, ROW, now)
        # In a tuple: what answers nothing counts as no change.
        return (now,)

    changes = {name: [before, wanted.get(name)]}
    (now,) = await audit.change(platform, caller, "setting.changed", name, unit, changes=changes)
    return now
