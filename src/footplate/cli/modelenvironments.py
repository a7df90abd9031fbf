"""The verb models environments: what models can be served in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.session import confirm_deletion, connect, json_option, tell, yes_option
from footplate.cli.table import Row, print_items

COLUMNS = ("NAME", "FRAMEWORK", "VERSION", "REFERENCE", "DESCRIPTION")


@click.group("environments", cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def environments(ctx: click.Context, as_json: bool) -> None:
    """List the inference environments, or manage them (admin)."""
    if ctx.invoked_subcommand is None:
        empty = phrase("The catalogue is empty.")
        print_items(connect().inference_environments(), COLUMNS, _row, empty, as_json)


def _row(one: Mapping[str, Any]) -> Row:
    return one["name"], one["framework"], one["version"], one["image"], one["description"]


@environments.command("set")
@click.argument("name")
@click.option("--image", help="Image to serve models in.")
@click.option("--framework", help="Framework in the image, such as pytorch.")
@click.option("--version", help="Version of the framework.")
@click.option("--description", help="What it is for.")
@click.option("--position", type=int, help="Those with a lower one are listed first.")
@json_option
def set_environment(name: str, as_json: bool, **fields: Any) -> None:
    """Add an inference environment, or change the given fields of one."""
    given = {field: value for field, value in fields.items() if value is not None}
    made = connect().set_inference_environment(name, **given)
    tell(made, phrase("Set inference environment {name}.", name=name), as_json)


@environments.command("delete")
@click.argument("name")
@yes_option
@json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Remove an inference environment from the catalogue."""
    if not yes:
        confirm_deletion(phrase("inference environment {name} from the catalogue", name=name))
    connect().delete_inference_environment(name)
    told = phrase("Deleted inference environment {name} from the catalogue.", name=name)
    tell({"name": name, "is_deleted": True}, told, as_json)
