"""The verb loglines: numbered lines of a log with their times, page by page."""

from __future__ import annotations

import time
from typing import Any

import click

from footplate.cli.render import show_time
from footplate.cli.session import INTERRUPTED, connect, job_argument, json_option, print_json_line
from footplate.domain.kinds import show_instant

POLL_S = 2.0


@click.command()
@job_argument
@click.option(
    "--pagesize", type=click.IntRange(1, 10_000), default=10, show_default=True, help="How many lines."
)
@click.option("--pos", type=int, default=0, help="Number of the first line; from the end where negative.")
@click.option("--since", type=int, help="Only lines from this time on, in milliseconds.")
@click.option("-f", "--follow", "is_following", is_flag=True, help="Print new lines until the job is over.")
@json_option
def loglines(job: str, pagesize: int, pos: int, since: int | None, is_following: bool, as_json: bool) -> int:
    """Print numbered lines of a job's first task, each with its time."""
    client = connect()
    found = client.job(job)
    try:
        while True:
            is_over = found.is_final
            lines = client.log_lines(found.id, pagesize, pos, since)
            for one in lines:
                _print(one, as_json)
            if not is_following or (is_over and not lines):
                return 0
            pos, pagesize = 0, max(pagesize, 1000)
            since = lines[-1]["meta"]["time"] + 1 if lines else since
            if not lines:
                time.sleep(POLL_S)
                found = client.job(found.id)
    except KeyboardInterrupt:
        return INTERRUPTED


def _print(one: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json_line(one)
        return
    at = show_time(show_instant(one["meta"]["time"] / 1000))
    click.echo(f"{one['meta']['rindex']}  {at}  {one['line']}")
