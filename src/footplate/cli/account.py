"""Verbs about the caller: login, logout, whoami, password."""

from __future__ import annotations

import getpass
import os
import platform
from typing import TYPE_CHECKING

import click

from footplate.cli import passwords
from footplate.cli.language import phrase
from footplate.cli.passwords import refused_option, stdin_option
from footplate.cli.reader import told
from footplate.cli.render import print_fields, show_roles
from footplate.cli.session import asked_url, connect, duration, json_option, print_json, tell
from footplate.domain.messages import say

if TYPE_CHECKING:
    from pathlib import Path

    from footplate.sdk.client import Client
    from footplate.sdk.settings import Settings

LOGIN_S = 30 * 86400
LONGEST_NAME = 255


@click.command()
@click.argument("url", required=False)
@click.option("-u", "--user", help="User name (default: ask).")
@stdin_option
@refused_option("--password")
@click.option(
    "--token-stdin",
    is_flag=True,
    help="Read a token from standard input and store it; no password is needed.",
)
@refused_option("--token", stdin="--token-stdin")
@click.option("--expires", type=duration, default="30d", show_default=True, help="How long the login lasts.")
@json_option
@click.pass_context
def login(
    ctx: click.Context,
    url: str | None,
    user: str | None,
    password_stdin: bool,
    password: str | None,  # noqa: ARG001  # there to be refused
    token_stdin: bool,
    token: str | None,
    expires: int,
    as_json: bool,
) -> None:
    """Log in to a server and remember it for later commands.

    A login replaces the one that this machine had before.
    """
    from footplate.sdk import settings
    from footplate.sdk.client import Client

    if token_stdin or token is not None:
        token = passwords.read_line(phrase("the token")) if token_stdin else _ask_token()
    # Without a token at first, so that a wrong address is told before a password is typed.
    with Client(url or asked_url(ctx), token or "") as client:
        if token:
            found = settings.Settings(client.url, token, client.whoami()["name"])
        else:
            client.version()
            user = (
                user
                or os.environ.get("FOOTPLATE_USER")
                or click.prompt(phrase("User at {url}", url=client.url), err=True)
            )
            found = _sign_in(client, user, passwords.current(password_stdin), expires)
    path = settings.config_file()
    settings.write(path, found)
    data = {"url": found.url, "user": found.user, "path": str(path)}
    tell(data, phrase("Logged in at {url} as {user}; the login is stored in {path}.", **data), as_json)


def _sign_in(client: Client, user: str, password: str, expires_in_s: int | None) -> Settings:
    from footplate.sdk.settings import Settings

    answer = client.login(user, password, login_name(), expires_in_s, replaces=True)
    return Settings(client.url, answer["token"], answer["user"], token_id=str(answer["id"]))


def login_name() -> str:
    """What a login's token is called: one for each account of a machine, and each file that keeps logins."""
    from footplate.sdk import settings

    try:
        account = getpass.getuser()
    except (KeyError, OSError):
        account = str(os.getuid())
    file = settings.config_file()
    without = {name: value for name, value in os.environ.items() if name != "FOOTPLATE_CONFIG"}
    other = "" if file == settings.config_file(without) else f" ({file})"
    return f"cli {account}@{platform.node()}{other}"[:LONGEST_NAME]


def _ask_token() -> str:
    return str(click.prompt(phrase("Token"), hide_input=True, err=True))


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
        raise click.ClickException(phrase("not logged in: {path} does not exist", path=path))
    is_revoked = bool(found.token_id)
    try:
        if found.token_id:
            with Client(found.url, found.token) as client:
                client.revoke_token(found.token_id)
    except FootplateError as error:
        is_revoked = False
        click.echo(told(say("token_not_revoked", why=error.said)), err=True)
    path.unlink(missing_ok=True)
    tell({"url": found.url, "is_revoked": is_revoked}, phrase("Logged out of {url}.", url=found.url), as_json)


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
            phrase("User"): me["name"] + (phrase(" (admin)") if me["is_admin"] else ""),
            phrase("Server"): client.url,
            phrase("Queues"): phrase("all") if me["is_admin"] else show_roles(me["queues"]) or phrase("none"),
        }
    )


@click.command()
@click.option(
    "--password-stdin",
    is_flag=True,
    help="Read the current and the new password from standard input, one per line.",
)
@refused_option("--old")
@refused_option("--new")
@json_option
def password(password_stdin: bool, old: str | None, new: str | None, as_json: bool) -> None:
    """Change my password; this revokes all my tokens and renews this login.

    Both passwords are asked for, unless FOOTPLATE_PASSWORD and FOOTPLATE_NEW_PASSWORD hold them.
    """
    client = connect()
    user = client.whoami()["name"]
    old = passwords.current(password_stdin, phrase("Current password of {user}", user=user))
    new = passwords.chosen(password_stdin, variable="FOOTPLATE_NEW_PASSWORD")
    client.change_password(old, new)
    renewed = _renew_login(client, user, new)
    data = {"user": user, "path": str(renewed) if renewed else None}
    tell(data, _changed(user, renewed), as_json)


def _changed(user: str, renewed: Path | None) -> str:
    said = phrase("Changed the password of {user}. All earlier tokens are revoked.", user=user)
    if renewed:
        return f"{said} {phrase('This login was renewed ({path}).', path=renewed)}"
    return f"{said} {phrase('Log in again with `footplate login`.')}"


def _renew_login(client: Client, user: str, password: str) -> Path | None:
    """Replace the token that this command found in a file, which is revoked now; return the file."""
    from footplate.sdk import settings

    # What `footplate up` left for this machine never expires, as before.
    for path, expires_in_s in ((settings.config_file(), LOGIN_S), (settings.home_file(None), None)):
        if settings.read(path) == client.settings:
            settings.write(path, _sign_in(client, user, password, expires_in_s))
            return path
    return None
