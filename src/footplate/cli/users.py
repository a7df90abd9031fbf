"""The verb users, for administrators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.passwords import chosen, refused_option, stdin_option
from footplate.cli.render import show_age, show_ago, show_flag, show_roles
from footplate.cli.session import confirm_deletion, connect, json_option, tell, yes_option
from footplate.cli.table import Row, print_items

COLUMNS = ("NAME", "FULL NAME", "EMAIL", "ROLE", "ENABLED", "LAST SEEN", "AGE", "QUEUES")


full_name_option = click.option("--full-name", help="Full name of the user.")
email_option = click.option("--email", help="E-mail address of the user.")


@click.group(cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def users(ctx: click.Context, as_json: bool) -> None:
    """List users with their queues, or manage them."""
    if ctx.invoked_subcommand is None:
        print_items(connect().users(), COLUMNS, _row, phrase("No users."), as_json)


def _row(user: Mapping[str, Any]) -> Row:
    return (
        user["name"],
        user["full_name"],
        user["email"],
        "admin" if user["is_admin"] else "",
        show_flag(user["is_enabled"]),
        show_ago(user["last_seen_at"]) or phrase("never"),
        show_age(user["created_at"]),
        phrase("all") if user["is_admin"] else show_roles(user["queues"]) or phrase("none"),
    )


@users.command("add")
@click.argument("name")
@refused_option("--password")
@stdin_option
@click.option("--admin", "is_admin", is_flag=True, help="Make the user a platform admin.")
@full_name_option
@email_option
@json_option
def add(name: str, password: str | None, password_stdin: bool, as_json: bool, **fields: Any) -> None:  # noqa: ARG001
    """Add a user; the password is asked for.

    With `footplate invite` the user chooses it, and you need not know it.
    """
    client, first = connect(), chosen(password_stdin, phrase("Password of {user}", user=name))
    made = client.create_user(
        name, first, **{field: value for field, value in fields.items() if value is not None}
    )
    tell(made, phrase("Added user {user}.", user=name), as_json)


@users.command("edit")
@click.argument("name")
@refused_option("--password", is_hidden=False)
@stdin_option
@click.option(
    "--admin/--no-admin", "is_admin", default=None, help="Make the user a platform admin, or revoke that."
)
@click.option("--enable/--disable", "is_enabled", default=None, help="Allow the user to log in, or not.")
@full_name_option
@email_option
@json_option
@click.pass_context
def edit(
    ctx: click.Context,
    /,
    name: str,
    password: str | None,
    password_stdin: bool,
    as_json: bool,
    **fields: Any,
) -> None:
    """Change a user: password, admin, enabled, full name, e-mail; everybody may change their own last two."""
    changes = {field: value for field, value in fields.items() if value is not None}
    is_new_password = password is not None or password_stdin
    if not changes and not is_new_password:
        options = "--password, --admin, --no-admin, --enable, --disable, --full-name, --email"
        ctx.fail(phrase("nothing to change: give at least one of {options}", options=options))
    client = connect()
    if is_new_password:
        changes["password"] = chosen(password_stdin, phrase("New password of {user}", user=name))
    tell(client.edit_user(name, **changes), phrase("Changed user {user}.", user=name), as_json)


@users.command("delete")
@click.argument("name")
@yes_option
@json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Delete a user."""
    if not yes:
        confirm_deletion(phrase("user {user}", user=name))
    connect().delete_user(name)
    tell({"name": name, "is_deleted": True}, phrase("Deleted user {user}.", user=name), as_json)
