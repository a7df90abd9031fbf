"""Verbs about invitations: invite, for admins, and join, for those who are invited."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from footplate.cli import passwords
from footplate.cli.account import login_name
from footplate.cli.language import phrase
from footplate.cli.passwords import stdin_option
from footplate.cli.render import print_hints, show_roles, show_time
from footplate.cli.session import connect, duration, json_option, pair, print_json, tell
from footplate.cli.table import Row, print_items

NOBODY = "nobody"
COLUMNS = ("NAME", "ROLE", "INVITED BY", "EXPIRES", "QUEUES")


@click.command()
@click.argument("name", required=False)
@click.option("--expires", type=duration, default="3d", show_default=True, help="How long the link is valid.")
@click.option("--admin", "is_admin", is_flag=True, help="Make the user a platform admin.")
@click.option(
    "-q",
    "--queue",
    "queues",
    type=pair,
    multiple=True,
    metavar="QUEUE=ROLE",
    help="Role in a queue: admin, member or viewer; may be repeated (default: member of default).",
)
@click.option("--list", "is_listing", is_flag=True, help="List pending invitations.")
@click.option("--revoke", "is_revoking", is_flag=True, help="Revoke the invitation of NAME.")
@json_option
@click.pass_context
def invite(
    ctx: click.Context,
    name: str | None,
    expires: int,
    is_admin: bool,
    queues: tuple[tuple[str, str], ...],
    is_listing: bool,
    is_revoking: bool,
    as_json: bool,
) -> None:
    """Print one line for a colleague's laptop: it installs the client from the server and logs in (admin).

    Whoever types it first chooses the password of the account NAME. It is good once.
    """
    if is_listing:
        empty = phrase("No pending invitations. Create one: footplate invite NAME")
        print_items(connect().invites(), COLUMNS, _row, empty, as_json)
        return
    if not name:
        ctx.fail(phrase("name the user to invite: footplate invite NAME"))
    if is_revoking:
        connect().revoke_invite(name)
        told = phrase("Revoked the invitation of {user}.", user=name)
        tell({"user": name, "is_revoked": True}, told, as_json)
        return
    fields = {"queues": dict(queues)} if queues else {}
    made = connect().invite(name, is_admin=is_admin, expires_in_s=expires, **fields)
    if as_json:
        print_json(made)
        return
    click.echo(made["line"])
    told = phrase(
        "Send this line to {user}: it works once, until {until:time}. "
        "With the client installed already: footplate join '{link}'",
        user=name,
        until=made["expires_at"],
        link=made["link"],
    )
    click.echo("\n".join(filter(None, (told, _warning(made["link"])))), err=True)


def _row(one: Mapping[str, Any]) -> Row:
    rank = "admin" if one["is_admin"] else ""
    return one["user"], rank, one["invited_by"], show_time(one["expires_at"]), show_roles(one["queues"])


def _warning(link: str) -> str:
    from footplate.sdk.connection import is_loopback

    url = urlsplit(link)
    if is_loopback(link):
        return phrase(
            "Only this machine can reach {address}: for others, set `public_url` in the server's "
            "settings.toml first.",
            address=f"{url.scheme}://{url.netloc}",
        )
    if url.scheme == "http":
        return phrase(
            "This server uses plain HTTP: others on the network can read the line and the password."
        )
    return ""


@click.command()
@click.argument("link")
@stdin_option
@click.option("--expires", type=duration, default="30d", show_default=True, help="How long the login lasts.")
@json_option
@click.pass_context
def join(ctx: click.Context, link: str, password_stdin: bool, expires: int, as_json: bool) -> None:
    """Accept an invitation: choose a password, and log in."""
    from footplate.sdk import settings
    from footplate.sdk.client import Client

    url, _, code = link.partition("#")
    if not code:
        ctx.fail(phrase("the link has no code after a #; quote it as it was sent: footplate join '…#…'"))
    # Not with the token of another login: whoever joins is nobody there yet.
    with Client(url.removesuffix("/").removesuffix("/join"), token=NOBODY) as client:
        invited = client.lookup_invite(code)
        welcome = {"by": invited["invited_by"], "url": client.url, "user": invited["user"]}
        click.echo(phrase("{by} invites you to {url} as {user}.", **welcome), err=True)
        password = passwords.chosen(password_stdin, phrase("Choose a password"))
        made = client.accept_invite(code, password, login_name(), expires)
        found = settings.Settings(client.url, made["token"], made["user"], token_id=str(made["id"]))
    path = settings.config_file()
    settings.write(path, found)
    data = {"url": found.url, "user": found.user, "path": str(path)}
    told = phrase("Welcome, {user}: you are logged in at {url}; the login is stored in {path}.", **data)
    tell(data, told, as_json)
    if not as_json:
        print_hints(_next_steps())


def _next_steps() -> dict[str, str]:
    own = Path(sys.argv[0]).absolute()
    found = shutil.which("footplate")
    steps = {phrase("try it"): "footplate submit --name hello --follow -- echo hello"}
    if own.name == "footplate" and (found is None or Path(found).resolve() != own.resolve()):
        return {phrase("add to PATH"): f'export PATH="{own.parent}:$PATH"', **steps}
    return steps
