"""Verbs about the machines: summary, nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.reader import told_in
from footplate.cli.render import print_fields, show_amount, show_flag
from footplate.cli.session import connect, json_option, print_json, tell
from footplate.cli.table import Row, print_items, print_table
from footplate.cli.usage import show_number, show_power, show_share, show_size, show_speed, span
from footplate.domain.resources import show_bytes

COLUMNS = ("NAME", "ADDRESS", "SCHEDULABLE", "TOTAL", "FREE", "GPUS", "ENFORCED LIMITS")
TASK_COLUMNS = ("JOB", "TASK", "OWNER", "QUEUE", "STATE", "RESOURCES")
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


class Nodes(Nouns):
    """Takes a word that is no command for the name of a node to show."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        is_name = self.get_command(ctx, args[0]) is None and not args[0].startswith("-")
        return super().resolve_command(ctx, ["show", *args] if is_name else args)


@click.group(cls=Nodes, invoke_without_command=True)
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


@nodes.command("show")
@click.argument("name")
@click.option("--since", default="1h", help="From when on usage counts: 10m, or 2030-01-31T18:00.")
@json_option
def show(name: str, since: str, as_json: bool) -> None:
    """Show a node: what is used of it, and the tasks there. The word show can be left out."""
    client = connect()
    node, used = client.node(name), client.node_usage(name, since=since)
    if as_json:
        print_json({**node, "usage": used["points"]})
        return
    has = {"cpus": node["cpus"], "memory_bytes": node["memory_bytes"], "gpus": len(node["gpus"])}
    print_fields(
        {
            phrase("Node"): f"{node['name']} ({node['address']})",
            phrase("Takes tasks"): _takes(node),
            phrase("Total"): show_amount(has),
            phrase("Free"): show_amount(node["free"]),
            **_spans(used["points"], node),
            phrase("GPUs"): "\n".join(_card(gpu, node["cards"]) for gpu in node["gpus"]),
            phrase("Limits"): _holds(node),
        }
    )
    rows = [_task_row(task) for task in node["tasks"]]
    print_table(TASK_COLUMNS, rows, phrase("No tasks there that you may see."))
    if node["n_hidden_tasks"]:
        click.echo(phrase("{n:more task|more tasks} of jobs that you may not see.", n=node["n_hidden_tasks"]))


def _takes(node: Mapping[str, Any]) -> str:
    if node["is_schedulable"]:
        return show_flag(True)
    return phrase("no, drained by {who}", who=node["drained_by"]) if node["drained_by"] else show_flag(False)


def _spans(points: Sequence[Mapping[str, Any]], node: Mapping[str, Any]) -> dict[str, str]:
    return {
        phrase("CPUs in use"): span(points, "cpus", show_number, node["cpus"]),
        phrase("Memory in use"): span(points, "memory_bytes", show_size, node["memory_bytes"]),
        phrase("GPUs in use"): span(points, "gpu_utilisation", show_share),
        phrase("Power"): span(points, "power_w", show_power),
        phrase("Disk read"): span(points, "read_bytes_s", show_speed),
        phrase("Disk written"): span(points, "written_bytes_s", show_speed),
        phrase("Received"): span(points, "received_bytes_s", show_speed),
        phrase("Sent"): span(points, "sent_bytes_s", show_speed),
    }


def _card(gpu: Mapping[str, Any], measured: Sequence[Mapping[str, Any]]) -> str:
    found = [one for one in measured if one["index"] == gpu["index"]]
    used = f"{show_share(found[0]['utilisation'])}, {show_size(found[0]['memory_bytes'])}" if found else ""
    power = show_power(found[0]["power_w"]) if found and found[0]["power_w"] is not None else ""
    holder = gpu["job_id"] or (phrase("in use by others") if gpu["in_use_by_others"] else phrase("free"))
    return ", ".join(filter(None, (f"{gpu['index']} {gpu['type'] or 'GPU'}", used, power, holder)))


def _task_row(task: Mapping[str, Any]) -> Row:
    job = f"{task['job_name']} ({task['job_id']})"
    return (job, task["task"], task["owner"], task["queue"], task["state"], show_amount(task["resources"]))


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
