"""The settings of the server as admins may read them: all that the file can have, and nothing secret."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from footplate.server.settings import FILE, Settings

# It may have a password in it; which kind of database it is, is told by itself.
_HIDDEN = frozenset({"database_url"})
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


def shown(
    settings: Settings, can_change: Callable[[str], bool] = lambda _name: False
) -> Iterator[dict[str, Any]]:
    """Each setting with its value as the file would have it, whether that is the default, and who says so."""
    default = Settings(settings.home)
    for field in FILE.fields:
        if field.name in _HIDDEN:
            continue
        value, usual = getattr(settings, field.target), getattr(default, field.target)
        yield {
            "name": field.name,
            "value": _without_credentials(field.kind.write(value)),
            "is_default": value == usual,
            "source": settings.sources.get(field.target, "default"),
            "is_live": can_change(field.name),
            "help": field.help,
        }


def _without_credentials(value: Any) -> Any:
    if isinstance(value, str):
        return _CREDENTIALS.sub("", value)
    if isinstance(value, Mapping):
        return {name: _without_credentials(one) for name, one in value.items()}
    return [_without_credentials(one) for one in value] if isinstance(value, list | tuple) else value
