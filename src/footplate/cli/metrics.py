"""The verb metrics: what a job tells of its training."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.render import show_time
from footplate.cli.session import INTERRUPTED, connect, job_argument, json_option, print_json, print_json_line
from footplate.cli.table import print_table
from footplate.sdk.job import Job

COLUMNS = ("METRIC", "TASK", "LAST", "LOWEST", "HIGHEST", "AT STEP", "EPOCH", "POINTS")


@click.command()
@job_argument
@click.option("-f", "--follow", "is_following", is_flag=True, help="Print each point as it comes.")
@click.option("--all", "is_all", is_flag=True, help="Print every point instead of the newest values.")
@click.option("-n", "--name", "names", multiple=True, help="Only this metric; can be repeated.")
@click.option("-a", "--attempt", type=click.IntRange(0), help="This attempt instead of the current one.")
@json_option
def metrics(
    job: str, is_following: bool, is_all: bool, names: tuple[str, ...], attempt: int | None, as_json: bool
) -> int:
    """Show the newest values of a job's metrics, or follow all points line by line.

    With --json, the curves, or one point per line.
    """
    found = connect().job(job)
    if is_following or is_all:
        return _follow(found, is_following, names, attempt, as_json)
    curves = found.metrics(names, attempt=() if attempt is None else attempt)
    if as_json:
        print_json({"items": curves})
        return 0
    rows = [_row(one) for one in curves]
    print_table(
        COLUMNS, rows, phrase("No metrics yet: see `footplate help metrics`."), expendable=("POINTS",)
    )
    return 0


def _follow(job: Job, is_following: bool, names: tuple[str, ...], attempt: int | None, as_json: bool) -> int:
    try:
        for point in job.follow_metrics(is_following):
            if (names and point["name"] not in names) or (
                attempt is not None and point["attempt"] != attempt
            ):
                continue
            print_json_line(point) if as_json else click.echo(_line(point))
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _row(curve: Mapping[str, Any]) -> tuple[str, ...]:
    last = curve["last"] or {}
    return (
        curve["name"],
        curve["task"],
        _number(last.get("value")),
        _number(curve["lowest"]),
        _number(curve["highest"]),
        _number(last.get("step")),
        _number(last.get("epoch")),
        str(curve["n_points"]),
    )


def _line(point: Mapping[str, Any]) -> str:
    at = point["at"]
    at = at if isinstance(at, str) else datetime.fromtimestamp(at, UTC).isoformat()
    places = [f"{word} {_number(point[word])}" for word in ("step", "epoch") if point[word] is not None]
    value = point["value"] if isinstance(point["value"], str) else _number(point["value"])
    return "  ".join((show_time(at), point["task"], *places, f"{point['name']}={value}"))


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.6g}"
