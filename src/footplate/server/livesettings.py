"""The settings that hold now: those of the start, and what admins have changed since, where that is safe."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from footplate.control.quota import QuotaKeeper
from footplate.domain.errors import Conflict, NotFound
from footplate.domain.fields import Field
from footplate.domain.problems import MISSING, Problems
from footplate.server.settings import FILE, Settings
from footplate.services import livesettings
from footplate.services.access import Caller, require_admin
from footplate.services.platform import Platform
from footplate.store.shared import Shared

log = logging.getLogger(__name__)

CONSOLE: Final = "console"
# What takes effect at once, endangers no running job, and opens nothing: all else is said on the machine.
LIVE: Final = ("trash_kept", "idle_limit", "retry_pause", "retry_pause_most", "job_quota", "person_quota")
_FIELDS: Final[Mapping[str, Field]] = {field.name: field for field in FILE.fields}


@dataclass(slots=True)
class LiveSettings:
    """Holds what is now so, and hands it to the parts that act on it."""

    started: Settings
    shared: Shared
    quota: QuotaKeeper
    current: Settings

    @classmethod
    async def of(cls, platform: Platform, started: Settings, quota: QuotaKeeper) -> LiveSettings:
        """Begin with what was kept before."""
        live = cls(started, platform.shared, quota, started)
        await live.load(platform)
        return live

    def can_change(self, name: str) -> bool:
        """Tell whether a setting is of those, and neither file nor environment says what it is."""
        return name in LIVE and _FIELDS[name].target not in self.started.sources

    async def load(self, platform: Platform) -> None:
        """Take what was kept; what the file says by now wins, and what is no longer valid is left out."""
        self._take(await livesettings.kept(platform))

    async def change(self, platform: Platform, caller: Caller, name: str, wanted: Mapping[str, Any]) -> None:
        """Set a setting to the one value given, or with none back to its default, at once and for good."""
        require_admin(caller, "change_settings")
        if name not in _FIELDS:
            raise NotFound("no_setting", setting=name[:64])
        if name not in LIVE:
            raise Conflict("setting_not_live", setting=name)
        field = _FIELDS[name]
        if field.target in self.started.sources:
            raise Conflict("setting_said_elsewhere", setting=name)
        for value in wanted.values():
            problems = Problems()
            field.kind.read(value, "value", problems)
            problems.raise_if_any()
        before = field.kind.write(getattr(self.current, field.target))
        self._take(await livesettings.keep(platform, caller, name, before, wanted))

    def _take(self, kept: Mapping[str, Any]) -> None:
        values, sources = {}, dict(self.started.sources)
        for name in kept:
            if not self.can_change(name):
                continue
            field, problems = _FIELDS[name], Problems()
            value = field.kind.read(kept[name], name, problems)
            if value is MISSING or problems:
                log.warning(
                    "the stored value of the setting %s is not valid any more; its default holds", name
                )
                continue
            values[field.target], sources[field.target] = value, CONSOLE
        self.current = replace(self.started, **values, sources=sources)
        self._apply(self.current)

    def _apply(self, now: Settings) -> None:
        tuned, self.quota.quotas = self.shared.tuned, now.quotas
        tuned.trash_kept_s, tuned.idle_limit_s, tuned.pauses = now.trash_kept_s, now.idle_limit_s, now.pauses
        self.shared.disk.person_quota_bytes = now.quotas.person_bytes
