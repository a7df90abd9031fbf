"""The verb types: sizes of tasks by name, and what is free."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.render import show_limit
from footplate.cli.session import confirm_deletion, connect, json_option, print_json, size, tell, yes_option
from footplate.cli.table import Row, print_table
from footplate.domain.resources import show_bytes
from footplate.sdk.accounting import money

PRICE = ("PRICE PER HOUR",)
COLUMNS = ("NAME", "CPUS", "MEMORY", "GPUS", "SHM", "FIT NOW", "FIT AT MOST", "DESCRIPTION")


@click.group(cls=Nouns, invoke_without_command=True)
@click.option("-q", "--queue", help="Queue to count for (default: default).")
@json_option
@click.pass_context
def types(ctx: click.Context, queue: str | None, as_json: bool) -> None:
    """List instance types, how many of each fit now, and what is free; or manage them (admin)."""
    if ctx.invoked_subcommand is None:
        _print_all(queue, as_json)


@types.command("list")
@click.option("-q", "--queue", help="Queue to count for (default: default).")
@json_option
def list_types(queue: str | None, as_json: bool) -> None:
    """List instance types, how many of each fit now, and what is free."""
    _print_all(queue, as_json)


def _print_all(queue: str | None, as_json: bool) -> None:
    offered = connect().offered_types(queue)
    if as_json:
        print_json(offered)
        return
    empty = phrase("There are no instance types: jobs name CPUs, memory and GPUs.")
    has_prices = any(one["price"] is not None for one in offered["items"])
    columns = (*COLUMNS, *PRICE) if has_prices else COLUMNS
    print_table(columns, [_row(one, offered["currency"]) for one in offered["items"]], empty)
    if offered["capacity"] is not None:
        click.echo(_told(offered["queue"], offered["capacity"]))


def _row(one: Mapping[str, Any], currency: str) -> Row:
    price = () if one["price"] is None else (money(one["price"], currency),)
    return (
        one["name"],
        f"{one['cpus']:g}",
        show_bytes(one["memory_bytes"]),
        _gpus(one),
        "" if one["shm_bytes"] is None else show_bytes(one["shm_bytes"]),
        _count(one["fit_now"]),
        _count(one["fit_at_most"]),
        one["description"],
        *price,
    )


def _gpus(one: Mapping[str, Any]) -> str:
    if not one["gpus"]:
        return ""
    return f"{one['gpus']} x {one['gpu_type']}" if one["gpu_type"] else str(one["gpus"])


def _count(n: int | None) -> str:
    return "?" if n is None else str(n)


def _told(queue: str, capacity: Mapping[str, Any]) -> str:
    """Say what is free for a queue, and what it may still use."""
    cpus, memory = capacity["cpus"], capacity["memory_bytes"]
    parts = [
        phrase(
            "{free} of {total} {what} (largest node {largest})",
            free=f"{one['free']:g}",
            total=f"{one['total']:g}",
            what=one["type"] or "GPU",
            largest=f"{one['largest']:g}",
        )
        for one in capacity["gpus"]
    ]
    parts.append(phrase("{free} of {total} CPUs", free=f"{cpus['free']:g}", total=f"{cpus['total']:g}"))
    parts.append(
        phrase(
            "{free} of {total} of memory", free=show_bytes(memory["free"]), total=show_bytes(memory["total"])
        )
    )
    told = phrase("Free now for queue {queue}: {parts}", queue=queue, parts=", ".join(parts))
    if capacity["headroom"] is None:
        return told
    left = phrase("its maximum leaves {left}", left=show_limit(capacity["headroom"]))
    return f"{told}; {left}"


@types.command("set")
@click.argument("name")
@click.option("--cpus", type=float, required=True, help="CPUs of each task.")
@click.option("--memory", "memory_bytes", type=size, required=True, help="Memory of each task, such as 64GB.")
@click.option("--gpus", type=int, default=0, help="GPUs of each task.")
@click.option("--gpu-type", default="", help="GPU type (default: any).")
@click.option(
    "--shm", "shm_bytes", type=size, help="Shared memory of each task (default: what the job says)."
)
@click.option("--description", help="What it is for.")
@click.option("--position", type=int, help="Types with a lower position are listed first.")
@json_option
def set_type(name: str, cpus: float, memory_bytes: int, as_json: bool, **fields: Any) -> None:
    """Add an instance type, or change the one of that name."""
    given = {field: value for field, value in fields.items() if value is not None}
    made = connect().set_instance_type(name, cpus, memory_bytes, **given)
    tell(made, phrase("Set instance type {type}.", type=name), as_json)


@types.command("delete")
@click.argument("name")
@yes_option
@json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Delete an instance type; jobs that have it keep their size."""
    if not yes:
        confirm_deletion(phrase("instance type {type}", type=name))
    connect().delete_instance_type(name)
    told = phrase("Deleted instance type {type}.", type=name)
    tell({"name": name, "is_deleted": True}, told, as_json)
