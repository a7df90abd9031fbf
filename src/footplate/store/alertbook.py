"""The channels and rules of alerts as they are now, in memory."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from footplate.domain.alerts import Channel, Rule
from footplate.domain.secret import queue_scope, user_scope
from footplate.store import alert_queries


class AlertBook:
    """Filled at start, and again after each change."""

    def __init__(self) -> None:
        self.channels: dict[str, Channel] = {}
        self.rules: dict[str, Rule] = {}
        self._rules_by_scope: dict[str, list[Rule]] = {}

    def load(self, connection: sa.Connection) -> None:
        self.channels = {channel.id: channel for channel in alert_queries.all_channels(connection)}
        self.rules = {rule.id: rule for rule in alert_queries.all_rules(connection)}
        by_scope: dict[str, list[Rule]] = {}
        for rule in self.rules.values():
            by_scope.setdefault(rule.scope, []).append(rule)
        self._rules_by_scope = by_scope

    def channels_in(self, scope: str) -> list[Channel]:
        return [channel for channel in self.channels.values() if channel.scope == scope]

    def channel_named(self, scope: str, name: str) -> Channel | None:
        return next((one for one in self.channels_in(scope) if one.name == name), None)

    def rules_for(self, owner: str, queue: str) -> Iterator[Rule]:
        """The rules that look at the jobs of somebody in a queue."""
        if self._rules_by_scope:
            yield from self._rules_by_scope.get(user_scope(owner), ())
            yield from self._rules_by_scope.get(queue_scope(queue), ())
