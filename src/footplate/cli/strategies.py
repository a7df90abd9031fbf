"""The verb strategies: the ways to start a distributed training."""

from __future__ import annotations

import click

from footplate.cli.language import phrase
from footplate.cli.session import connect, json_option
from footplate.cli.table import print_items

COLUMNS = ("NAME", "DESCRIPTION")


@click.command()
@json_option
def strategies(as_json: bool) -> None:
    """List the strategies that a job can name, plug-ins included."""
    found = connect().strategies()
    empty = phrase("No strategies.")
    print_items(found, COLUMNS, lambda one: (one["name"], one["description"]), empty, as_json)
