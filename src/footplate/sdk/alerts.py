"""Calls about alerts: channels, rules, what was told, and what admins set for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from footplate.sdk.connection import Connection

Data = dict[str, Any]


class AlertCalls:
    """The part of the client that knows alerts."""

    _connection: Connection

    def channels(self) -> list[Data]:
        """List my channels, and those of queues that I administer."""
        items: list[Data] = self._connection.fetch("/alerts/channels")["items"]
        return items

    def add_channel(self, name: str, kind: str, address: str, **fields: Any) -> Data:
        """Add a channel: `kind` is mail, webhook, dingtalk, wecom, feishu or slack."""
        body = {"name": name, "kind": kind, "address": address, **fields}
        made: Data = self._connection.send("POST", "/alerts/channels", body)
        return made

    def edit_channel(self, channel_id: str, **fields: Any) -> Data:
        """Change a channel; what is not given stays as it is."""
        changed: Data = self._connection.send("PATCH", _channel(channel_id), fields)
        return changed

    def delete_channel(self, channel_id: str) -> None:
        self._connection.request("DELETE", _channel(channel_id))

    def test_channel(self, channel_id: str) -> None:
        """Send a notice through a channel now; raise `Conflict` with what the receiver answered."""
        self._connection.request("POST", f"{_channel(channel_id)}/test")

    def alert_rules(self) -> list[Data]:
        """List my rules, and those of queues that I administer."""
        items: list[Data] = self._connection.fetch("/alerts/rules")["items"]
        return items

    def add_alert_rule(self, on: Sequence[str], **fields: Any) -> Data:
        """Have something told of all my jobs, or with `queue` of all jobs of a queue."""
        made: Data = self._connection.send("POST", "/alerts/rules", {"on": list(on), **fields})
        return made

    def replace_alert_rule(self, rule_id: str, on: Sequence[str], **fields: Any) -> Data:
        """Say anew what a rule tells."""
        changed: Data = self._connection.send("PUT", _rule(rule_id), {"on": list(on), **fields})
        return changed

    def delete_alert_rule(self, rule_id: str) -> None:
        self._connection.request("DELETE", _rule(rule_id))

    def alerts(self, job: str = "", channel: str = "", limit: int = 100, before: str = "") -> list[Data]:
        """List what was told to me and to queues that I administer, newest first, and what became of it."""
        asked = {"job": job, "channel": channel, "before": before}
        given = {name: value for name, value in asked.items() if value}
        items: list[Data] = self._connection.fetch("/alerts/deliveries", limit=limit, **given)["items"]
        return items

    def send_alert_again(self, delivery_id: str) -> Data:
        """Send something once more that was not taken."""
        path = f"/alerts/deliveries/{quote(delivery_id, safe='')}/retry"
        answer: Data = self._connection.send("POST", path, {})
        return answer

    def alert_settings(self) -> Data:
        """The mail server, and the networks to which webhooks may lead (admin)."""
        return dict(self._connection.fetch("/alerts/settings"))

    def set_alert_settings(self, mail: Data | None, private_networks: Sequence[str]) -> Data:
        """Set the mail server, and the networks to which webhooks may lead (admin)."""
        body = {"mail": mail, "private_networks": list(private_networks)}
        kept: Data = self._connection.send("PUT", "/alerts/settings", body)
        return kept


def _channel(channel_id: str) -> str:
    return f"/alerts/channels/{quote(channel_id, safe='')}"


def _rule(rule_id: str) -> str:
    return f"/alerts/rules/{quote(rule_id, safe='')}"
