"""Verbs about the platform: summary, queues, nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from footplate.cli.render import print_fields, print_table, show_amount, show_count
from footplate.cli.session import connect, json_option, print_json
from footplate.domain.resources import show_bytes

ROLES = ("admin", "member", "viewer")


def _tell(data: Any, message: str, as_json: bool) -> None:
    if as_json:
        print_json(data)
    else:
        click.echo(message)


@click.command()
@json_option
def summary(as_json: bool) -> None:
    """Count jobs by state and resources in use."""
    data = connect().summary()
    if as_json:
        print_json(data)
        return
    total, used = data["resources"]["total"], data["resources"]["used"]
    print_fields(
        {
            "Jobs": ", ".join(f"{n} {state}" for state, n in data["jobs"].items() if n) or "none wait or run",
            "Today": ", ".join(f"{n} {state}" for state, n in data["finished_today"].items() if n)
            or "none finished",
            "CPUs": f"{used['cpus']:g} of {total['cpus']:g} in use",
            "Memory": f"{show_bytes(used['memory_bytes'])} of {show_bytes(total['memory_bytes'])} in use",
            "GPUs": f"{used['gpus']} of {total['gpus']} in use" if total["gpus"] else "none",
        }
    )


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def queues(ctx: click.Context, as_json: bool) -> None:
    """List queues, or manage them."""
    if ctx.invoked_subcommand is not None:
        return
    items = connect().queues()
    if as_json:
        print_json({"items": items})
        return
    columns = (
        "NAME",
        "OPEN",
        "MY ROLE",
        "RUNNING",
        "WAITING",
        "IN USE",
        "GUARANTEED",
        "MAXIMUM",
        "DESCRIPTION",
    )
    print_table(columns, [_queue_row(queue) for queue in items], "No queues are open to you.")


def _queue_row(queue: Mapping[str, Any]) -> Sequence[Any]:
    return (
        queue["name"],
        "yes" if queue["is_open"] else "no",
        queue["my_role"] or "",
        queue["n_running"],
        queue["n_waiting"],
        show_amount(queue["used"]),
        show_amount(queue["guaranteed"]),
        show_amount(queue["maximum"]),
        queue["description"],
    )


def _amount(text: str) -> dict[str, Any]:
    """Read an amount written as `cpus=8,memory=32GB,gpus=1`; what is not named is 0."""
    amount: dict[str, Any] = {"cpus": 0, "memory_bytes": 0, "gpus": 0}
    readers: Mapping[str, Callable[[str], Any]] = {"cpus": float, "memory": _size, "gpus": int}
    for part in filter(None, text.split(",")):
        name, _, value = part.strip().partition("=")
        try:
            amount["memory_bytes" if name == "memory" else name] = readers[name](value)
        except (KeyError, ValueError):
            raise click.UsageError(f"{part!r} is not understood; write cpus=8,memory=32GB,gpus=1") from None
    return amount


def _size(text: str) -> int:
    from footplate.domain.kinds import Size
    from footplate.domain.problems import Problems

    problems = Problems()
    size_bytes = Size(0, 2**60).read(text, "", problems)
    if problems:
        raise ValueError(problems[0].message)
    return int(size_bytes)


def _queue_options(function: Any) -> Any:
    for option in (
        click.option("--description", help="What the queue is for."),
        click.option("--guaranteed", metavar="AMOUNT", help="Its share: cpus=8,memory=32GB,gpus=1."),
        click.option(
            "--maximum", metavar="AMOUNT", help="Most that it may use, written the same way, or none."
        ),
        click.option(
            "--node",
            "nodes",
            multiple=True,
            help="Machine that it may use; may be repeated; all when absent.",
        ),
        click.option("--open/--closed", "is_open", default=None, help="Whether it takes new jobs."),
        json_option,
    ):
        function = option(function)
    return function


def _queue_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in options.items() if value not in (None, ())}
    if "nodes" in fields:
        fields["nodes"] = list(fields["nodes"])
    if "guaranteed" in fields:
        fields["guaranteed"] = _amount(fields["guaranteed"])
    if "maximum" in fields:
        fields["maximum"] = None if fields["maximum"] == "none" else _amount(fields["maximum"])
    return fields


@queues.command("create")
@click.argument("name")
@_queue_options
def create_queue(name: str, as_json: bool, **options: Any) -> None:
    """Make a queue."""
    _tell(connect().create_queue(name, **_queue_fields(options)), f"Made queue {name}.", as_json)


@queues.command("edit")
@click.argument("name")
@_queue_options
@click.pass_context
def edit_queue(ctx: click.Context, /, name: str, as_json: bool, **options: Any) -> None:
    """Change a queue."""
    fields = _queue_fields(options)
    if not fields:
        ctx.fail("say what to change: --description, --guaranteed, --maximum, --node, --open or --closed")
    _tell(connect().edit_queue(name, **fields), f"Changed queue {name}.", as_json)


@queues.command("delete")
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def delete_queue(name: str, yes: bool, as_json: bool) -> None:
    """Delete a queue that no job needs."""
    if not yes:
        click.confirm(f"Delete queue {name}?", abort=True, err=True)
    connect().delete_queue(name)
    _tell({"name": name, "is_deleted": True}, f"Deleted queue {name}.", as_json)


@queues.command("members")
@click.argument("name")
@json_option
def members(name: str, as_json: bool) -> None:
    """List who may use a queue."""
    items = connect().members(name)
    if as_json:
        print_json({"items": items})
    else:
        print_table(
            ("USER", "ROLE"),
            [(item["user"], item["role"]) for item in items],
            f"Queue {name} has no members.",
        )


@queues.command("grant")
@click.argument("name")
@click.argument("user")
@click.argument("role", type=click.Choice(ROLES), default="member")
@json_option
def grant(name: str, user: str, role: str, as_json: bool) -> None:
    """Let USER into a queue as admin, member or viewer."""
    connect().set_member(name, user, role)
    _tell({"queue": name, "user": user, "role": role}, f"{user} is now {role} of queue {name}.", as_json)


@queues.command("revoke")
@click.argument("name")
@click.argument("user")
@json_option
def revoke(name: str, user: str, as_json: bool) -> None:
    """Take USER out of a queue."""
    connect().remove_member(name, user)
    _tell({"queue": name, "user": user, "role": None}, f"{user} is no longer in queue {name}.", as_json)


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def nodes(ctx: click.Context, as_json: bool) -> None:
    """List machines with what is free on them, or manage them."""
    if ctx.invoked_subcommand is not None:
        return
    items = connect().nodes()
    if as_json:
        print_json({"items": items})
        return
    print_table(
        ("NAME", "ADDRESS", "TAKES JOBS", "HAS", "FREE", "GPUS"),
        [_node_row(node) for node in items],
        "No machines.",
    )


def _node_row(node: Mapping[str, Any]) -> Sequence[Any]:
    gpus = node["gpus"]
    has = {"cpus": node["cpus"], "memory_bytes": node["memory_bytes"], "gpus": len(gpus)}
    types = sorted({gpu["type"] or "GPU" for gpu in gpus})
    described = ", ".join(f"{sum((gpu['type'] or 'GPU') == kind for gpu in gpus)} x {kind}" for kind in types)
    return (
        node["name"],
        node["address"],
        "yes" if node["is_schedulable"] else "no",
        show_amount(has),
        show_amount(node["free"]),
        described,
    )


@nodes.command("drain")
@click.argument("name")
@json_option
def drain(name: str, as_json: bool) -> None:
    """Give a machine no new tasks; what runs there goes on."""
    node = connect().edit_node(name, is_schedulable=False)
    busy = [gpu for gpu in node.get("gpus", ()) if gpu.get("job_id")]
    note = f" {show_count(len(busy), 'GPU')} still in use." if busy else ""
    _tell(node, f"{name} takes no new tasks.{note} Undo: footplate nodes resume {name}", as_json)


@nodes.command("resume")
@click.argument("name")
@json_option
def resume(name: str, as_json: bool) -> None:
    """Give a machine new tasks again."""
    _tell(connect().edit_node(name, is_schedulable=True), f"{name} takes tasks again.", as_json)
