"""Calls about the settings of the server."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from footplate.sdk.connection import Connection


class SettingCalls:
    """The part of the client that knows the server's settings, and changes some of them."""

    _connection: Connection

    def server_settings(self) -> dict[str, Any]:
        """Say how the server is set up (admin); of `items`, those with `is_live` can be changed."""
        found: dict[str, Any] = self._connection.fetch("/settings")
        return found

    def set_setting(self, name: str, value: Any) -> None:
        """Change a setting while the server runs (admin): written as in settings.toml, None for no bound."""
        self._connection.send("PUT", _path(name), {"value": value}, is_repeatable=True)

    def reset_setting(self, name: str) -> None:
        """Give a setting its default again (admin)."""
        self._connection.request("DELETE", _path(name))


def _path(name: str) -> str:
    return f"/settings/{quote(name, safe='')}"
