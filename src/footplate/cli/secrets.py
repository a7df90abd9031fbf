"""The verb secrets: values that jobs use by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.render import show_ago
from footplate.cli.session import confirm_deletion, connect, json_option, tell, yes_option
from footplate.cli.table import Row, print_items

COLUMNS = ("NAME", "KIND", "QUEUE", "OWNER", "CHANGED", "LAST USED")

queue_option = click.option("-q", "--queue", help="A secret of this queue; all its members may use it.")


@click.group(cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def secrets(ctx: click.Context, as_json: bool) -> None:
    """List secrets, or manage them; a value is never shown."""
    if ctx.invoked_subcommand is None:
        _print_all(as_json)


@secrets.command("list")
@json_option
def list_secrets(as_json: bool) -> None:
    """List the secrets that my jobs may use."""
    _print_all(as_json)


def _print_all(as_json: bool) -> None:
    empty = phrase("No secrets. Create one: footplate secrets set NAME")
    print_items(connect().secrets(), COLUMNS, _row, empty, as_json)


def _row(secret: Mapping[str, Any]) -> Row:
    return (
        secret["name"],
        secret["kind"],
        secret["queue"] or "",
        secret["owner"],
        show_ago(secret["updated_at"]),
        show_ago(secret["last_used_at"]) or phrase("never"),
    )


@secrets.command("set")
@click.argument("name")
@click.option(
    "--from-file",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Read the value from a file, unchanged.",
)
@click.option("--registry", metavar="HOST", help="Store it as the login of this image registry.")
@click.option("-u", "--username", help="User name at the registry; the value is the password.")
@queue_option
@json_option
@click.pass_context
def set_secret(
    ctx: click.Context,
    name: str,
    file: Path | None,
    registry: str | None,
    username: str | None,
    queue: str | None,
    as_json: bool,
) -> None:
    """Set a secret; its value is asked for, or read from standard input.

    There is no option for the value: others could see it in the list of processes, or in the shell's history.
    """
    if (registry is None) != (username is None):
        ctx.fail(phrase("--registry needs --username, and the other way round"))
    value = _value(name, file, is_password=registry is not None)
    if registry is not None and username is not None:
        made = connect().set_registry_secret(name, registry, username, value, queue=queue)
    else:
        made = connect().set_secret(name, value, queue=queue)
    tell(made, phrase("Set secret {secret}[ of queue {queue}].", secret=name, queue=queue), as_json)


def _value(name: str, file: Path | None, is_password: bool) -> str:
    if file is None and sys.stdin.isatty():
        what = phrase("Password") if is_password else phrase("Value of {secret}", secret=name)
        return str(click.prompt(what, hide_input=True, err=True))
    content = sys.stdin.buffer.read() if file is None else file.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise click.ClickException(
            phrase("the value is not UTF-8 text: encode it first, for example with `base64`")
        ) from None
    # What `echo` adds to a line is no part of a password; a file may need its last line's end.
    is_line = file is None or is_password
    return text.removesuffix("\n").removesuffix("\r") if is_line else text


@secrets.command("delete")
@click.argument("name")
@queue_option
@yes_option
@json_option
def delete(name: str, queue: str | None, yes: bool, as_json: bool) -> None:
    """Delete a secret; jobs that name it can no longer start."""
    if not yes:
        confirm_deletion(phrase("secret {secret}[ of queue {queue}]", secret=name, queue=queue))
    connect().delete_secret(name, queue=queue)
    told = phrase("Deleted secret {secret}[ of queue {queue}].", secret=name, queue=queue)
    tell({"name": name, "queue": queue, "is_deleted": True}, told, as_json)
