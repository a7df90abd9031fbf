"""Verbs about the machines: summary, nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.reader import told_in
from footplate.cli.render import print_fields, show_amount, show_count
from footplate.cli.session import connect, json_option, print_json, tell
from footplate.cli.table import Row, print_items
from footplate.domain.resources import show_bytes

COLUMNS = ("NAME", "ADDRESS", "TAKES JOBS", "HAS", "FREE", "GPUS", "HOLDS TASKS TO")
# Where there are several engines.
ENGINE_COLUMNS = ("ENGINE", *COLUMNS)


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
            "Jobs": _counts(data["jobs"]) or "none wait or run",
            "Today": _counts(data["finished_today"]) or "none finished",
            "CPUs": f"{used['cpus']:g} of {total['cpus']:g} in use",
            "Memory": f"{show_bytes(used['memory_bytes'])} of {show_bytes(total['memory_bytes'])} in use",
            "GPUs": f"{used['gpus']} of {total['gpus']} in use" if total["gpus"] else "none",
        }
    )


def _counts(by_state: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {state}" for state, n in by_state.items() if n)


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def nodes(ctx: click.Context, as_json: bool) -> None:
    """List nodes with their free resources, or manage them."""
    if ctx.invoked_subcommand is None:
        found = connect().nodes()
        has_several = len({node["engine"] for node in found}) > 1
        columns, row = (ENGINE_COLUMNS, _engine_row) if has_several else (COLUMNS, _row)
        print_items(found, columns, row, "No machines.", as_json)


def _row(node: Mapping[str, Any]) -> Row:
    has = {"cpus": node["cpus"], "memory_bytes": node["memory_bytes"], "gpus": len(node["gpus"])}
    types = Counter(gpu["type"] or "GPU" for gpu in node["gpus"])
    return (
        node["name"],
        node["address"],
        "yes" if node["is_schedulable"] else "no",
        show_amount(has),
        show_amount(node["free"]),
        ", ".join(f"{n} x {kind}" for kind, n in sorted(types.items())),
        _holds(node),
    )


def _engine_row(node: Mapping[str, Any]) -> Row:
    return (node["engine"], *_row(node))


def _holds(node: Mapping[str, Any]) -> str:
    return "; ".join(filter(None, (", ".join(node.get("enforced", ())), told_in(node.get("unenforced")))))


@nodes.command("drain")
@click.argument("name")
@json_option
def drain(name: str, as_json: bool) -> None:
    """Drain a node: it gets no new tasks; running tasks continue."""
    node = connect().edit_node(name, is_schedulable=False)
    n_busy = sum(gpu["job_id"] is not None for gpu in node["gpus"])
    note = f" {show_count(n_busy, 'GPU')} still in use." if n_busy else ""
    tell(node, f"{name} takes no new tasks.{note} Undo: footplate nodes resume {name}", as_json)


@nodes.command("resume")
@click.argument("name")
@json_option
def resume(name: str, as_json: bool) -> None:
    """Resume a drained node: it gets new tasks again."""
    tell(connect().edit_node(name, is_schedulable=True), f"{name} takes tasks again.", as_json)
