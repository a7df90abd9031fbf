"""The verb storages: places for files of people and jobs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.session import Function, confirm_deletion, connect, json_option, tell, yes_option
from footplate.cli.table import Row, print_items
from footplate.domain.storage import StorageKind

COLUMNS = ("NAME", "KIND", "ACCESS", "QUEUES", "FROM", "DESCRIPTION")
NONE = "No storages. Admins add them: footplate storages add"
KINDS = tuple(kind.value for kind in StorageKind)


@click.group(cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def storages(ctx: click.Context, as_json: bool) -> None:
    """List storages, or manage them (admin)."""
    if ctx.invoked_subcommand is None:
        _print_all(as_json)


@storages.command("list")
@json_option
def list_storages(as_json: bool) -> None:
    """List the storages for my files, and for `data` and `code` of my jobs."""
    _print_all(as_json)


def _print_all(as_json: bool) -> None:
    print_items(connect().storages(), COLUMNS, _row, phrase(NONE), as_json)


def _row(storage: Mapping[str, Any]) -> Row:
    access = phrase("read-only") if storage["read_only"] else phrase("read-write")
    return (
        storage["name"],
        storage["kind"],
        phrase("private") if storage["per_user"] else access,
        ", ".join(storage["queues"]) or phrase("all"),
        phrase("settings") if storage["origin"] == "settings" else phrase("database"),
        storage["description"],
    )


def _fields(function: Function) -> Function:
    """What `add` and `edit` can say of a storage."""
    options: tuple[Callable[[Function], Function], ...] = (
        click.option("--description", help="What is on it."),
        click.option(
            "--read-only/--writable",
            "read_only",
            default=None,
            help="Whether nobody may write; so it is with a new one that does not say.",
        ),
        click.option("-q", "--queue", "queues", multiple=True, help="Queue whose members may use it."),
        click.option("--user", "users", multiple=True, help="User who may use it."),
        click.option("--writer", "writers", multiple=True, help="Who may write: user:NAME or queue:NAME."),
        click.option("--quota", help="Most that it may hold, such as 2TB."),
        click.option("--path", help="For a folder: where it lies on the server's machine."),
        click.option("--endpoint", metavar="URL", help="For S3 and HTTP: address of the server."),
        click.option("--bucket", help="For S3: name of the bucket."),
        click.option("--region", help="For S3: region of the bucket."),
        click.option("--prefix", help="For S3: what all names begin with."),
        click.option(
            "--virtual-style/--path-style",
            "virtual_style",
            default=None,
            help="For S3: whether the bucket is part of the host name.",
        ),
        click.option("--access-key", metavar="ID", help="For S3: access key; its secret is asked for."),
        click.option("--username", help="For HTTP: login; its password is asked for."),
        click.option("--public", is_flag=True, help="No credentials are needed; forget those stored."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def _body(given: Mapping[str, Any]) -> dict[str, Any]:
    """Write the options as the API takes them; what was not given stays out."""
    lists = {name: list(given[name]) for name in ("queues", "users", "writers") if given[name]}
    apart = {"queues", "users", "writers", "quota", "access_key", "username", "public"}
    plain = {name: value for name, value in given.items() if name not in apart and value is not None}
    quota = {"quota_bytes": _size(given["quota"])} if given["quota"] is not None else {}
    return {**plain, **lists, **quota, **_credentials(given)}


def _size(text: str) -> int:
    from footplate.domain.kinds import Size
    from footplate.domain.problems import Problems

    problems = Problems()
    n_bytes = Size(0, 2**60).read(int(text) if text.isdigit() else text, "", problems)
    if problems:
        from footplate.cli.reader import told

        raise click.BadParameter(told(problems[0].said))
    return int(n_bytes)


def _credentials(given: Mapping[str, Any]) -> dict[str, Any]:
    if given["public"]:
        return {"credentials": {}}
    if given["access_key"]:
        secret = _secret(phrase("Secret access key"))
        return {"credentials": {"access_key_id": given["access_key"], "secret_access_key": secret}}
    if given["username"]:
        return {"credentials": {"username": given["username"], "password": _secret(phrase("Password"))}}
    return {}


def _secret(what: str) -> str:
    """Ask for a secret, or read it from a pipe: an option would show it in the list of processes."""
    if sys.stdin.isatty():
        return str(click.prompt(what, hide_input=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")


@storages.command("add")
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="folder",
    show_default=True,
    help="Kind of storage.",
)
@_fields
@json_option
def add(name: str, kind: str, as_json: bool, **given: Any) -> None:
    """Add a storage: a folder of the server's machine, an S3 bucket, or a web server (admin)."""
    made = connect().add_storage(name, kind=kind, **_body(given))
    tell(made, phrase("Added storage {storage}.", storage=name), as_json)


@storages.command("edit")
@click.argument("name")
@_fields
@json_option
def edit(name: str, as_json: bool, **given: Any) -> None:
    """Change a storage; what is not given stays as it is (admin)."""
    changed = connect().edit_storage(name, **_body(given))
    tell(changed, phrase("Changed storage {storage}.", storage=name), as_json)


@storages.command("check")
@click.argument("name")
@json_option
def check(name: str, as_json: bool) -> None:
    """Ask a storage for its files, to see whether it answers (admin)."""
    connect().check_storage(name)
    tell({"name": name, "answers": True}, phrase("Storage {storage} answers.", storage=name), as_json)


@storages.command("delete")
@click.argument("name")
@yes_option
@json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Forget a storage; its files stay where they are (admin)."""
    if not yes:
        confirm_deletion(phrase("storage {storage} (its files stay)", storage=name))
    connect().delete_storage(name)
    told = phrase("Deleted storage {storage}; its files stay.", storage=name)
    tell({"name": name, "is_deleted": True}, told, as_json)
