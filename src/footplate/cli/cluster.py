"""Verbs about the machines: summary, nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.reader import told_in
from footplate.cli.render import print_fields, show_amount, show_flag
from footplate.cli.session import connect, json_option, print_json, tell
from footplate.cli.table import Row, print_items
from footplate.domain.resources import show_bytes

COLUMNS = ("NAME", "ADDRESS", "SCHEDULABLE", "TOTAL", "FREE", "GPUS", "ENFORCED LIMITS")
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
            phrase("Jobs"): _counts(data["jobs"]) or phrase("none queued or running"),
            phrase("Today"): _counts(data["finished_today"]) or phrase("none finished"),
            phrase("CPUs"): _in_use(f"{used['cpus']:g}", f"{total['cpus']:g}"),
            phrase("Memory"): _in_use(show_bytes(used["memory_bytes"]), show_bytes(total["memory_bytes"])),
            phrase("GPUs"): _in_use(used["gpus"], total["gpus"]) if total["gpus"] else phrase("none"),
        }
    )


def _in_use(used: Any, total: Any) -> str:
    return phrase("{used} of {total} in use", used=used, total=total)


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
        print_items(found, columns, row, phrase("No machines."), as_json)


def _row(node: Mapping[str, Any]) -> Row:
    has = {"cpus": node["cpus"], "memory_bytes": node["memory_bytes"], "gpus": len(node["gpus"])}
    types = Counter(gpu["type"] or "GPU" for gpu in node["gpus"])
    return (
        node["name"],
        node["address"],
        show_flag(node["is_schedulable"]),
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
    told = phrase(
        "Node {node} gets no new tasks.[ {n_busy:GPU is|GPUs are} still in use.] "
        "Undo: footplate nodes resume {node}",
        node=name,
        n_busy=n_busy or None,
    )
    tell(node, told, as_json)


@nodes.command("resume")
@click.argument("name")
@json_option
def resume(name: str, as_json: bool) -> None:
    """Resume a drained node: it gets new tasks again."""
    told = phrase("Node {node} gets new tasks again.", node=name)
    tell(connect().edit_node(name, is_schedulable=True), told, as_json)
