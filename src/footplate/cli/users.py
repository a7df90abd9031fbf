"""The verb users, for administrators."""

from __future__ import annotations

from typing import Any

import click

from footplate.cli.render import print_table, show_age
from footplate.cli.session import connect, json_option, print_json


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def users(ctx: click.Context, as_json: bool) -> None:
    """List users, or manage them."""
    if ctx.invoked_subcommand is not None:
        return
    items = connect().users()
    if as_json:
        print_json({"items": items})
        return
    rows = [
        (user["name"], "admin" if user["is_admin"] else "", show_age(user.get("created_at")))
        for user in items
    ]
    print_table(("NAME", "RANK", "AGE"), rows, "No users.")


@users.command("add")
@click.argument("name")
@click.option(
    "--password",
    prompt=True,
    hide_input=True,
    confirmation_prompt=True,
    help="Password; asked for when absent.",
)
@click.option("--admin", "is_admin", is_flag=True, help="May do everything.")
@json_option
def add(name: str, password: str, is_admin: bool, as_json: bool) -> None:
    """Add a user."""
    _tell(connect().create_user(name, password, is_admin=is_admin), f"Added user {name}.", as_json)


@users.command("edit")
@click.argument("name")
@click.option("--password", help="New password.")
@click.option("--admin/--no-admin", "is_admin", default=None, help="May do everything, or no longer.")
@json_option
@click.pass_context
def edit(ctx: click.Context, /, name: str, as_json: bool, **fields: Any) -> None:
    """Change a user's password or rank."""
    changes = {field: value for field, value in fields.items() if value is not None}
    if not changes:
        ctx.fail("say what to change: --password, --admin or --no-admin")
    _tell(connect().edit_user(name, **changes), f"Changed user {name}.", as_json)


@users.command("delete")
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Delete a user."""
    if not yes:
        click.confirm(f"Delete user {name}?", abort=True, err=True)
    connect().delete_user(name)
    _tell({"name": name, "is_deleted": True}, f"Deleted user {name}.", as_json)


def _tell(data: Any, message: str, as_json: bool) -> None:
    if as_json:
        print_json(data)
    else:
        click.echo(message)
