"""The verb tokens: what programs log in with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.render import show_ago, show_time
from footplate.cli.session import connect, duration, json_option, print_json, tell
from footplate.cli.table import Row, print_items

COLUMNS = ("ID", "NAME", "CREATED", "LAST USED", "EXPIRES")


@click.group(cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def tokens(ctx: click.Context, as_json: bool) -> None:
    """List my tokens, or manage them."""
    if ctx.invoked_subcommand is None:
        empty = phrase("No tokens. Create one: footplate tokens create NAME")
        print_items(connect().tokens(), COLUMNS, _row, empty, as_json)


def _row(token: Mapping[str, Any]) -> Row:
    return (
        token["id"],
        token["name"],
        show_ago(token["created_at"]),
        show_ago(token["last_used_at"]),
        show_time(token["expires_at"]) or phrase("never"),
    )


@tokens.command("create")
@click.argument("name")
@click.option("--expires", type=duration, help="How long it is valid, such as 30d (default: forever).")
@json_option
def create(name: str, expires: int | None, as_json: bool) -> None:
    """Create a token for a program; it is shown only once."""
    made = connect().create_token(name, expires)
    if as_json:
        print_json(made)
        return
    click.echo(made["token"])
    click.echo(phrase("It is not shown again. Use it as FOOTPLATE_TOKEN."), err=True)


@tokens.command("revoke")
@click.argument("token_id", metavar="ID")
@json_option
def revoke(token_id: str, as_json: bool) -> None:
    """Revoke a token immediately."""
    connect().revoke_token(token_id)
    tell({"id": token_id, "is_revoked": True}, phrase("Revoked token {token}.", token=token_id), as_json)
