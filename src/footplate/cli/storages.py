"""The verb storages: where data of jobs can come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.session import connect, json_option
from footplate.cli.table import Row, print_items

COLUMNS = ("NAME", "ACCESS", "QUEUES", "DESCRIPTION")
NONE = "No storages. The server's settings.toml declares them, under [[storages]]."


@click.command()
@json_option
def storages(as_json: bool) -> None:
    """List the storages that jobs can name in `data` and `code`."""
    print_items(connect().storages(), COLUMNS, _row, phrase(NONE), as_json)


def _row(storage: Mapping[str, Any]) -> Row:
    return (
        storage["name"],
        phrase("read-only") if storage["read_only"] else phrase("read-write"),
        ", ".join(storage["queues"]) or phrase("all"),
        storage["description"],
    )
