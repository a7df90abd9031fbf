"""Verbs about the caller: login, logout, whoami, tokens."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

import click

from footplate.cli.render import print_fields, print_table, show_age, show_time
from footplate.cli.session import connect, duration, json_option, print_json


@click.command()
@click.argument("url", required=False)
@click.option("-u", "--user", help="User name; asked for when absent.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option("--token", help="Store this token instead of making one from a password.")
@click.option(
    "--expires", type=duration, default=30 * 86400, show_default="30d", help="How long the login lasts."
)
@json_option
@click.pass_context
def login(
    ctx: click.Context,
    url: str | None,
    user: str | None,
    password_stdin: bool,
    token: str | None,
    expires: int,
    as_json: bool,
) -> None:
    """Log in at a server and remember it; later commands need no more settings."""
    from footplate.sdk import settings
    from footplate.sdk.client import Client

    server = url or ctx.find_root().obj
    if token:
        with Client(server, token) as client:
            found = settings.Settings(client.url, token, client.whoami()["name"])
    else:
        # A first look without credentials, so that a wrong address is told before a password is typed.
        with Client(server, token="") as client:
            client.version()
            user = user or os.environ.get("FOOTPLATE_USER") or click.prompt(f"User at {client.url}", err=True)
            answer = client.login(user, _password(password_stdin), f"cli@{platform.node()}", expires)
            found = settings.Settings(client.url, answer["token"], answer["user"], token_id=str(answer["id"]))
    path = settings.config_file()
    settings.write(path, found)
    if as_json:
        print_json({"url": found.url, "user": found.user, "path": str(path)})
    else:
        click.echo(f"Logged in at {found.url} as {found.user}; remembered in {path}.")


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    password = os.environ.get("FOOTPLATE_PASSWORD") or click.prompt("Password", hide_input=True, err=True)
    return str(password)


@click.command()
@json_option
def logout(as_json: bool) -> None:
    """Revoke the stored token and forget the server."""
    from footplate.domain.errors import FootplateError
    from footplate.sdk import settings
    from footplate.sdk.client import Client

    path = settings.config_file()
    found = settings.read(path)
    if found is None:
        raise click.ClickException(f"nobody is logged in: {path} does not exist")
    is_revoked = bool(found.token_id)
    try:
        if found.token_id:
            with Client(found.url, found.token) as client:
                client.revoke_token(found.token_id)
    except FootplateError as error:
        is_revoked = False
        click.echo(f"the token could not be revoked: {error.message}", err=True)
    path.unlink(missing_ok=True)
    if as_json:
        print_json({"url": found.url, "is_revoked": is_revoked})
    else:
        click.echo(f"Logged out of {found.url}.")


@click.command()
@json_option
def whoami(as_json: bool) -> None:
    """Show the user, the server, and the queues open to the user."""
    client = connect()
    me = client.whoami()
    if as_json:
        print_json(me)
        return
    queues = ", ".join(f"{queue['name']} ({queue['role']})" for queue in me["queues"])
    rank = " (admin)" if me["is_admin"] else ""
    print_fields(
        {
            "User": me["name"] + rank,
            "Server": client.url,
            "Queues": "all" if me["is_admin"] else queues or "none",
        }
    )


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def tokens(ctx: click.Context, as_json: bool) -> None:
    """List my tokens, or manage them."""
    if ctx.invoked_subcommand is not None:
        return
    items = connect().tokens()
    if as_json:
        print_json({"items": items})
        return
    columns = ("ID", "NAME", "MADE", "LAST USED", "EXPIRES")
    print_table(
        columns, [_token_row(item) for item in items], "No tokens. Make one: footplate tokens create NAME"
    )


def _token_row(token: dict[str, Any]) -> tuple[str, ...]:
    def ago(field: str) -> str:
        return f"{show_age(token.get(field))} ago" if token.get(field) else ""

    return (
        str(token["id"]),
        token["name"],
        ago("created_at"),
        ago("last_used_at"),
        show_time(token.get("expires_at")) or "never",
    )


@tokens.command("create")
@click.argument("name")
@click.option("--expires", type=duration, help="How long it is valid, such as 30d; for ever when absent.")
@json_option
def create_token(name: str, expires: int | None, as_json: bool) -> None:
    """Make a token for a program; it is shown this once."""
    made = connect().create_token(name, expires)
    if as_json:
        print_json(made)
        return
    click.echo(made["token"])
    click.echo("It is not shown again. Use it as FOOTPLATE_TOKEN.", err=True)


@tokens.command("revoke")
@click.argument("token_id", metavar="ID")
@json_option
def revoke_token(token_id: str, as_json: bool) -> None:
    """Make a token worthless at once."""
    connect().revoke_token(token_id)
    if as_json:
        print_json({"id": token_id, "is_revoked": True})
    else:
        click.echo(f"Revoked token {token_id}.")
