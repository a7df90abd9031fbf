"""The verb usage: what the tasks of a job use and have used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.session import connect, job_argument, json_option, print_json
from footplate.cli.table import Row, print_table
from footplate.domain.resources import show_bytes

COLUMNS = ("TASK", "CPUS", "MEMORY", "GPU", "GPU MEMORY", "READ", "WRITTEN", "PROCESSES")
# As exact as the server gives it: peaks of short times are lost when neighbours are taken together.
MOST_POINTS = 2000


@click.command()
@job_argument
@click.option("-t", "--task", help="Only this task, such as worker-0.")
@click.option("-a", "--attempt", type=click.IntRange(0), help="This attempt instead of the current one.")
@click.option(
    "--since", help="Only newer entries: a duration such as 10m, or a time such as 2030-01-31T18:00:00Z."
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
    print_table(COLUMNS, [_row(one) for one in used], phrase("No tasks."), expendable=("PROCESSES",))
    if not any(one["points"] for one in used):
        click.echo(phrase("No measurements: tasks are measured every few seconds while they run."), err=True)


def _row(used: Mapping[str, Any]) -> Row:
    points, asked = used["points"], used["asked"]
    return (
        used["task"],
        _span(points, "cpus", _number, asked["cpus"]),
        _span(points, "memory_bytes", _size, asked["memory_bytes"]),
        _span(points, "gpu_utilisation", _share),
        _span(points, "gpu_memory_bytes", _size),
        _span(points, "read_bytes_s", _speed),
        _span(points, "written_bytes_s", _speed),
        _span(points, "n_processes", _number),
    )


def _span(
    points: Sequence[Mapping[str, Any]], name: str, show: Callable[[float], str], asked: float | None = None
) -> str:
    """Write the last value and the highest; nothing where none could be read."""
    values = [point[name] for point in points if point[name] is not None]
    if not values:
        return ""
    last, peak = show(values[-1]), show(max(values))
    most = None if asked is None else show(asked)
    return phrase("{last}, peak {peak}[ of {most}]", last=last, peak=peak, most=most)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _share(value: float) -> str:
    return f"{value:.0%}"


def _size(value: float) -> str:
    return show_bytes(int(value))


def _speed(value: float) -> str:
    return f"{show_bytes(int(value))}/s"
