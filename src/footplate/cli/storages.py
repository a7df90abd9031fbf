"""The verb storages: where data of jobs can come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.session import connect, json_option
from footplate.cli.table import Row, print_items

COLUMNS = ("NAME", "TASKS MAY", "QUEUES", "DESCRIPTION")
NONE = "No storages: whoever keeps the server declares them in settings.toml, under [[storages]]."


@click.command()
@json_option
def storages(as_json: bool) -> None:
    """List the storages that jobs can name in `data` and `code`."""
    print_items(connect().storages(), COLUMNS, _row, NONE, as_json)


def _row(storage: Mapping[str, Any]) -> Row:
    return (
        storage["name"],
        "read" if storage["read_only"] else "read and write",
        ", ".join(storage["queues"]) or "all",
        storage["description"],
    )
