"""The verb images: what admins recommend to run in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.session import confirm_deletion, connect, json_option, tell, yes_option
from footplate.cli.table import Row, print_items

COLUMNS = ("NAME", "DEFAULT", "FRAMEWORK", "VERSION", "REFERENCE", "DESCRIPTION")


@click.group(cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def images(ctx: click.Context, as_json: bool) -> None:
    """List the images that a job can name, or manage them (admin)."""
    if ctx.invoked_subcommand is None:
        _print_all(as_json)


@images.command("list")
@json_option
def list_images(as_json: bool) -> None:
    """List the images that a job can name, the default first."""
    _print_all(as_json)


def _print_all(as_json: bool) -> None:
    print_items(connect().images(), COLUMNS, _row, phrase("The catalogue is empty."), as_json)


def _row(image: Mapping[str, Any]) -> Row:
    return (
        image["name"],
        phrase("yes") if image["is_default"] else "",
        image["framework"],
        image["version"],
        image["reference"],
        image["description"],
    )


@images.command("set")
@click.argument("name")
@click.argument("reference")
@click.option("--description", help="What it is for.")
@click.option("--framework", help="Framework in the image, such as pytorch.")
@click.option("--version", help="Version of the framework.")
@click.option("--default/--no-default", "is_default", default=None, help="Offer it first, or not.")
@json_option
def set_image(name: str, reference: str, as_json: bool, **fields: Any) -> None:
    """Add an image under a short name, or change the given fields of one."""
    given = {field: value for field, value in fields.items() if value is not None}
    tell(connect().set_image(name, reference, **given), phrase("Set image {image}.", image=name), as_json)


@images.command("delete")
@click.argument("name")
@yes_option
@json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Remove an image from the catalogue."""
    if not yes:
        confirm_deletion(phrase("image {image} from the catalogue", image=name))
    connect().delete_image(name)
    told = phrase("Deleted image {image} from the catalogue.", image=name)
    tell({"name": name, "is_deleted": True}, told, as_json)
