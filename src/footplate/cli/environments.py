"""The verb environments: the Python packages that were installed for jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.render import show_ago
from footplate.cli.session import connect, json_option, tell
from footplate.cli.table import Row, print_items
from footplate.domain.resources import show_bytes

COLUMNS = ("ID", "PACKAGES", "PYTHON", "SIZE", "LAST USED", "JOBS", "OWNER")
NONE = "No environments. A job that names packages under `environment` has one built."


@click.group(cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def environments(ctx: click.Context, as_json: bool) -> None:
    """List the environments that were built for my jobs, read a build's log, or remove one."""
    if ctx.invoked_subcommand is None:
        _print_all(as_json)


@environments.command("list")
@json_option
def list_environments(as_json: bool) -> None:
    """List the environments that were built for my jobs; admins see those of everybody."""
    _print_all(as_json)


def _print_all(as_json: bool) -> None:
    print_items(connect().environments(), COLUMNS, _row, phrase(NONE), as_json)


def _row(built: Mapping[str, Any]) -> Row:
    return (
        built["id"],
        built["what"],
        built["python"] or built["image"] or phrase("conda's" if built["kind"] == "conda" else "the node's"),
        phrase("building") if built["is_building"] else show_bytes(built["size_bytes"]),
        show_ago(built["used_at"]),
        str(len(built["jobs"])),
        built["owner"],
    )


@environments.command("log")
@click.argument("environment_id", metavar="ID")
def log(environment_id: str) -> None:
    """Print what the build of an environment printed."""
    click.echo(connect().environment_log(environment_id))


@environments.command("remove")
@click.argument("environment_ids", metavar="ID...", nargs=-1, required=True)
@json_option
def remove(environment_ids: tuple[str, ...], as_json: bool) -> None:
    """Remove environments that no job uses; the next job that needs one has it built again."""
    client = connect()
    for one in environment_ids:
        client.remove_environment(one)
        tell(
            {"id": one, "is_removed": True},
            phrase("Removed environment {environment}.", environment=one),
            as_json,
        )
