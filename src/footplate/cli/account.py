"""Verbs about the caller: login, logout, whoami, password."""

from __future__ import annotations

import os
import platform
import sys
from typing import TYPE_CHECKING

import click

from footplate.cli.render import print_fields, show_roles
from footplate.cli.session import asked_url, connect, duration, json_option, print_json, tell

if TYPE_CHECKING:
    from pathlib import Path

    from footplate.sdk.client import Client
    from footplate.sdk.settings import Settings

LOGIN_S = 30 * 86400


@click.command()
@click.argument("url", required=False)
@click.option("-u", "--user", help="User name; asked for when absent.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option("--token", help="Store this token instead of making one from a password.")
@click.option("--expires", type=duration, default="30d", show_default=True, help="How long the login lasts.")
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

    # Without a token at first, so that a wrong address is told before a password is typed.
    with Client(url or asked_url(ctx), token or "") as client:
        if token:
            found = settings.Settings(client.url, token, client.whoami()["name"])
        else:
            client.version()
            user = user or os.environ.get("FOOTPLATE_USER") or click.prompt(f"User at {client.url}", err=True)
            found = _sign_in(client, user, _password(password_stdin), expires)
    path = settings.config_file()
    settings.write(path, found)
    data = {"url": found.url, "user": found.user, "path": str(path)}
    tell(data, f"Logged in at {found.url} as {found.user}; remembered in {path}.", as_json)


def _sign_in(client: Client, user: str, password: str, expires_in_s: int | None) -> Settings:
    from footplate.sdk.settings import Settings

    answer = client.login(user, password, f"cli@{platform.node()}", expires_in_s)
    return Settings(client.url, answer["token"], answer["user"], token_id=str(answer["id"]))


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
    tell({"url": found.url, "is_revoked": is_revoked}, f"Logged out of {found.url}.", as_json)


@click.command()
@json_option
def whoami(as_json: bool) -> None:
    """Show the user, the server, and the queues open to the user."""
    client = connect()
    me = client.whoami()
    if as_json:
        print_json(me)
        return
    print_fields(
        {
            "User": me["name"] + (" (admin)" if me["is_admin"] else ""),
            "Server": client.url,
            "Queues": "all" if me["is_admin"] else show_roles(me["queues"]) or "none",
        }
    )


@click.command()
@click.option(
    "--old", envvar="FOOTPLATE_PASSWORD", help="Password so far (FOOTPLATE_PASSWORD); asked for when absent."
)
@click.option(
    "--new", envvar="FOOTPLATE_NEW_PASSWORD", help="New one (FOOTPLATE_NEW_PASSWORD); asked for when absent."
)
@json_option
def password(old: str | None, new: str | None, as_json: bool) -> None:
    """Change my password; all my tokens become worthless, and this login is renewed."""
    client = connect()
    user = client.whoami()["name"]
    old = old or click.prompt(f"Password of {user} so far", hide_input=True, err=True)
    new = new or click.prompt("New password", hide_input=True, confirmation_prompt="Once more", err=True)
    client.change_password(old, new)
    renewed = _renew_login(client, user, new)
    then = f"this login goes on ({renewed})" if renewed else "log in again with `footplate login`"
    data = {"user": user, "path": str(renewed) if renewed else None}
    tell(data, f"Changed the password of {user}. All tokens made before are revoked; {then}.", as_json)


def _renew_login(client: Client, user: str, password: str) -> Path | None:
    """Replace the token that this command found in a file, which is revoked now; return the file."""
    from footplate.sdk import settings

    # What `footplate up` left for this machine never expires, as before.
    for path, expires_in_s in ((settings.config_file(), LOGIN_S), (settings.home_file(None), None)):
        if settings.read(path) == client.settings:
            settings.write(path, _sign_in(client, user, password, expires_in_s))
            return path
    return None
