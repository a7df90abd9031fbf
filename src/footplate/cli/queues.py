"""The verb queues: shares of the machines, and who may use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.reader import told_in, warn
from footplate.cli.render import show_amount, show_flag, show_limit
from footplate.cli.session import (
    confirm_deletion,
    connect,
    duration,
    json_option,
    size_bytes,
    tell,
    yes_option,
)
from footplate.cli.table import Row, print_items
from footplate.domain.retention import PARTS

ROLES = ("admin", "member", "viewer")
COLUMNS = (
    "NAME",
    "OPEN",
    "SHARED JOBS",
    "MY ROLE",
    "RUNNING",
    "WAITING",
    "IN USE",
    "SHARE",
    "MAXIMUM",
    "DESCRIPTION",
)
BOUND_COLUMNS = (*COLUMNS, "ENGINE")


@click.group(cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def queues(ctx: click.Context, as_json: bool) -> None:
    """List queues, or manage them."""
    if ctx.invoked_subcommand is None:
        found = connect().queues()
        is_bound = any(queue["engine"] for queue in found)
        columns, row = (BOUND_COLUMNS, _bound_row) if is_bound else (COLUMNS, _row)
        print_items(found, columns, row, phrase("You have access to no queue."), as_json)


def _row(queue: Mapping[str, Any]) -> Row:
    return (
        queue["name"],
        show_flag(queue["is_open"]),
        show_flag(queue["is_shared"]),
        queue["my_role"] or "",
        queue["n_running"],
        queue["n_waiting"],
        show_amount(queue["used"]),
        show_amount(queue["share"]),
        show_limit(queue["maximum"]),
        queue["description"],
    )


def _bound_row(queue: Mapping[str, Any]) -> Row:
    return (*_row(queue), _engine(queue))


def _engine(queue: Mapping[str, Any]) -> str:
    """Name the engine of a queue, and why it cannot be used now, if so."""
    problem = told_in(queue["engine_problem"])
    return f"{queue['engine']} ({problem})" if problem else str(queue["engine"])


def _amount(text: str) -> dict[str, Any]:
    """Read an amount written as `cpus=8,memory=32GB,gpus=1`; it holds only what is named."""
    readers: Mapping[str, tuple[str, Callable[[str], Any]]] = {
        "cpus": ("cpus", float),
        "memory": ("memory_bytes", size_bytes),
        "gpus": ("gpus", int),
    }
    amount = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        try:
            field, read = readers[name]
            amount[field] = read(value)
        except (KeyError, ValueError):
            wrong = phrase("{given:quoted} is not an amount; write cpus=8,memory=32GB,gpus=1", given=part)
            raise click.BadParameter(wrong) from None
    return amount


def _limit(text: str) -> dict[str, Any]:
    """Read an amount, or `none`, which limits nothing."""
    return {} if text == "none" else _amount(text)


def _environment(text: str) -> tuple[str, str] | None:
    """Read an image and its folder, or `none`, which clears all."""
    if text == "none":
        return None
    image, equals, path = text.partition("=")
    if not image or not equals or not path.startswith("/"):
        wrong = phrase("{given:quoted} must be written IMAGE=PATH, with an absolute path", given=text)
        raise click.BadParameter(wrong)
    return image, path


def _kept(text: str) -> tuple[str, int | None] | None:
    """Read how long a part of jobs is kept."""
    if text == "default":
        return None
    part, equals, kept = text.partition("=")
    if part not in PARTS or not equals:
        raise click.BadParameter(phrase("{given:quoted} must be written {form}", given=text, form="logs=30d"))
    return part, None if kept == "none" else duration(kept)


def _queue_options(function: Any) -> Any:
    options = (
        click.option("--description", help="What the queue is for."),
        click.option(
            "--share",
            type=_amount,
            metavar="AMOUNT",
            help="Share whose jobs go first: cpus=8,memory=32GB,gpus=1.",
        ),
        click.option(
            "--maximum",
            type=_limit,
            metavar="AMOUNT",
            help="Maximum share, written the same way; what is not named is unlimited. none: no maximum.",
        ),
        click.option(
            "--node",
            "nodes",
            multiple=True,
            help="Node that it may use; may be repeated (default: all).",
        ),
        click.option(
            "--engine",
            metavar="NAME",
            help="Engine that runs its jobs (default: any that has nodes). none: bind it to no engine.",
        ),
        click.option("--open/--closed", "is_open", default=None, help="Whether it accepts new jobs."),
        click.option(
            "--shared/--private",
            "is_shared",
            default=None,
            help="Whether everybody in it may look into its jobs, unless a job says otherwise.",
        ),
        click.option(
            "--environment",
            "environments",
            type=_environment,
            multiple=True,
            metavar="IMAGE=PATH",
            help="Folder or virtual environment on the server to use instead of an image; may be repeated. "
            "none: remove all.",
        ),
        click.option(
            "--keep",
            "retention",
            type=_kept,
            multiple=True,
            metavar="PART=TIME",
            help="How long it keeps logs, outputs, work or code of jobs: logs=30d, or for ever: logs=none. "
            "May be repeated. default: as the platform does.",
        ),
        json_option,
    )
    for option in reversed(options):
        function = option(function)
    return function


def _fields(options: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in options.items() if value not in (None, ())}
    if "nodes" in fields:
        fields["nodes"] = list(fields["nodes"])
    if "maximum" in fields:
        fields["maximum"] = fields["maximum"] or None
    if "retention" in fields:
        fields["retention"] = dict(one for one in fields["retention"] if one is not None)
    if "engine" in fields:
        fields["engine"] = "" if fields["engine"] == "none" else fields["engine"]
    if "environments" in fields:
        fields["environments"] = dict(filter(None, fields["environments"]))
    return fields


@queues.command("create")
@click.argument("name")
@_queue_options
def create(name: str, as_json: bool, **options: Any) -> None:
    """Add a queue."""
    made = connect().create_queue(name, **_fields(options))
    warn(made)
    tell(made, phrase("Created queue {queue}.", queue=name), as_json)


@queues.command("edit")
@click.argument("name")
@_queue_options
@click.pass_context
def edit(ctx: click.Context, /, name: str, as_json: bool, **options: Any) -> None:
    """Change a queue."""
    fields = _fields(options)
    if not fields:
        options_of = (
            "--description, --share, --maximum, --node, --engine, --environment, --shared, --private, "
            "--open, --closed"
        )
        ctx.fail(phrase("nothing to change: give at least one of {options}", options=options_of))
    changed = connect().edit_queue(name, **fields)
    warn(changed)
    tell(changed, phrase("Changed queue {queue}.", queue=name), as_json)


@queues.command("delete")
@click.argument("name")
@yes_option
@json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Delete a queue that has no jobs."""
    if not yes:
        confirm_deletion(phrase("queue {queue}", queue=name))
    connect().delete_queue(name)
    tell({"name": name, "is_deleted": True}, phrase("Deleted queue {queue}.", queue=name), as_json)


@queues.command("members")
@click.argument("name")
@json_option
def members(name: str, as_json: bool) -> None:
    """List the members of a queue."""
    empty = phrase("Queue {queue} has no members.", queue=name)
    print_items(
        connect().members(name), ("USER", "ROLE"), lambda one: (one["user"], one["role"]), empty, as_json
    )


@queues.command("grant")
@click.argument("name")
@click.argument("user")
@click.argument("role", type=click.Choice(ROLES), default="member")
@json_option
def grant(name: str, user: str, role: str, as_json: bool) -> None:
    """Give USER a role in a queue: admin, member or viewer."""
    connect().set_member(name, user, role)
    given = {"queue": name, "user": user, "role": role}
    tell(given, phrase("{user} now has the role {role} in queue {queue}.", **given), as_json)


@queues.command("revoke")
@click.argument("name")
@click.argument("user")
@json_option
def revoke(name: str, user: str, as_json: bool) -> None:
    """Remove USER from a queue."""
    connect().remove_member(name, user)
    told = phrase("{user} no longer has a role in queue {queue}.", user=user, queue=name)
    tell({"queue": name, "user": user, "role": None}, told, as_json)
