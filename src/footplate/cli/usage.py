"""The verb usage: what the tasks of a job use and have used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.reader import told_in
from footplate.cli.session import connect, job_argument, json_option, print_json
from footplate.cli.table import Row, print_table
from footplate.domain.resources import show_bytes

COLUMNS = ("TASK", "CPUS", "MEMORY", "GPU", "GPU MEMORY", "READ", "WRITTEN", "PROCESSES")
# Where any task has some.
MORE_COLUMNS = ("POWER", "RECEIVED", "SENT")
# Where there is not room enough.
EXPENDABLE = ("PROCESSES", "SENT", "RECEIVED", "POWER")
# As exact as the server gives it: peaks of short times are lost when neighbours are taken together.
MOST_POINTS = 2000


@click.command()
@job_argument
@click.option("-t", "--task", help="Only this task, such as worker-0.")
@click.option("-a", "--attempt", type=click.IntRange(0), help="This attempt instead of the current one.")
@click.option(
    "--since", help="Only newer entries: a duration such as 10m, or a time such as 2030-01-31T18:00."
)
@json_option
def usage(job: str, task: str | None, attempt: int | None, since: str | None, as_json: bool) -> None:
    """Show the current (or last) and the peak usage of each task: CPU, memory, GPU, I/O.

    With --json, everything that was measured, oldest first.
    """
    found = connect().job(job)
    names = [task] if task else [one["name"] for one in found.tasks]
    used = [found.usage(name, attempt, since, MOST_POINTS) for name in names]
    if as_json:
        print_json({"items": used})
        return
    columns, rows = _laid_out(used)
    expendable = [name for name in EXPENDABLE if name in columns]
    print_table(columns, rows, phrase("No tasks."), expendable=expendable)
    for one in used:
        for advice in one.get("advice", []):
            click.echo(f"{one['task']}: {told_in(advice)}")
    if not any(one["points"] for one in used):
        click.echo(phrase("No measurements: tasks are measured every few seconds while they run."), err=True)


def _laid_out(used: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[Row]]:
    more = [_more(one) for one in used]
    told = [i for i in range(len(MORE_COLUMNS)) if any(row[i] for row in more)]
    columns = [*COLUMNS, *(MORE_COLUMNS[i] for i in told)]
    return columns, [(*_row(one), *(row[i] for i in told)) for one, row in zip(used, more, strict=True)]


def _row(used: Mapping[str, Any]) -> Row:
    points, asked = used["points"], used["asked"]
    return (
        used["task"],
        span(points, "cpus", show_number, asked["cpus"]),
        span(points, "memory_bytes", show_size, asked["memory_bytes"]),
        span(points, "gpu_utilisation", show_share),
        span(points, "gpu_memory_bytes", show_size),
        span(points, "read_bytes_s", show_speed),
        span(points, "written_bytes_s", show_speed),
        span(points, "n_processes", show_number),
    )


def _more(used: Mapping[str, Any]) -> Row:
    points = used["points"]
    return (
        span(points, "power_w", show_power),
        span(points, "received_bytes_s", show_speed),
        span(points, "sent_bytes_s", show_speed),
    )


def span(
    points: Sequence[Mapping[str, Any]], name: str, show: Callable[[float], str], asked: float | None = None
) -> str:
    """Write the last value and the highest; nothing where none could be read."""
    # Older servers do not tell everything.
    values = [value for point in points if (value := point.get(name)) is not None]
    if not values:
        return ""
    last, peak = show(values[-1]), show(max(values))
    most = None if asked is None else show(asked)
    return phrase("{last}, peak {peak}[ of {most}]", last=last, peak=peak, most=most)


def show_number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def show_share(value: float) -> str:
    return f"{value:.0%}"


def show_size(value: float) -> str:
    return show_bytes(int(value))


def show_speed(value: float) -> str:
    return f"{show_bytes(int(value))}/s"


def show_power(value: float) -> str:
    return f"{value:.0f}W"
