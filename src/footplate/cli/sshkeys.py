"""The verb keys: public keys for SSH."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.render import show_ago
from footplate.cli.session import connect, json_option, tell
from footplate.cli.table import Row, print_items

COLUMNS = ("ID", "NAME", "FINGERPRINT", "CREATED", "LAST USED")
SHORT = 12
USUAL = ("id_ed25519.pub", "id_ecdsa.pub", "id_rsa.pub")


@click.group(cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def keys(ctx: click.Context, as_json: bool) -> None:
    """List my SSH keys, or manage them."""
    if ctx.invoked_subcommand is None:
        empty = phrase("No SSH keys. Add one: footplate ssh-keys add ~/.ssh/id_ed25519.pub")
        print_items(connect().ssh_keys(), COLUMNS, _row, empty, as_json)


def _row(key: Mapping[str, Any]) -> Row:
    used = show_ago(key["last_used_at"])
    return (key["id"][:SHORT], key["name"], key["fingerprint"], show_ago(key["created_at"]), used)


@keys.command("add")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--name", default="", help="Name to show (default: the key's comment).")
@json_option
def add(file: Path | None, name: str, as_json: bool) -> None:
    """Add a public key: FILE, or the usual one of this account."""
    chosen = file or _usual()
    if chosen is None or not chosen.is_file():
        raise click.ClickException(
            phrase("there is no file {path}; make a key with ssh-keygen", path=str(chosen or "~/.ssh/*.pub"))
        )
    made = connect().add_ssh_key(chosen.read_text(), name)
    tell(made, phrase("Added key {fingerprint}.", fingerprint=made["fingerprint"]), as_json)


def _usual() -> Path | None:
    files = (Path.home() / ".ssh" / name for name in USUAL)
    return next((file for file in files if file.is_file()), None)


@keys.command("delete")
@click.argument("key_id", metavar="ID")
@json_option
def delete(key_id: str, as_json: bool) -> None:
    """Remove a public key; the beginning of its ID is enough."""
    client = connect()
    found = [key["id"] for key in client.ssh_keys() if key["id"].startswith(key_id)]
    client.remove_ssh_key(found[0] if len(found) == 1 else key_id)
    tell({"id": key_id, "is_removed": True}, phrase("Removed key {key}.", key=key_id), as_json)
