"""The verb keys: what clients of other clouds sign their requests with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.render import show_ago
from footplate.cli.session import connect, json_option, print_json, tell
from footplate.cli.table import Row, print_items

COLUMNS = ("ID", "NAME", "CREATED", "LAST USED")


@click.group(cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def keys(ctx: click.Context, as_json: bool) -> None:
    """List my access keys, or manage them."""
    if ctx.invoked_subcommand is None:
        empty = phrase("No access keys. Create one: footplate keys create NAME")
        print_items(connect().access_keys(), COLUMNS, _row, empty, as_json)


def _row(key: Mapping[str, Any]) -> Row:
    return key["id"], key["name"], show_ago(key["created_at"]), show_ago(key["last_used_at"])


@keys.command("create")
@click.argument("name")
@json_option
def create(name: str, as_json: bool) -> None:
    """Create an access key: an ID, and a secret that is shown only once."""
    made = connect().create_access_key(name)
    if as_json:
        print_json(made)
        return
    click.echo(f"{made['id']} {made['secret']}")
    click.echo(phrase("The secret, behind the ID, is not shown again."), err=True)


@keys.command("delete")
@click.argument("key_id", metavar="ID")
@json_option
def delete(key_id: str, as_json: bool) -> None:
    """Delete an access key; what is signed with it is refused from now on."""
    connect().delete_access_key(key_id)
    tell({"id": key_id, "is_deleted": True}, phrase("Deleted access key {key}.", key=key_id), as_json)
