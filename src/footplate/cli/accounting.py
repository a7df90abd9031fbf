"""The verb accounting: what jobs used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.session import connect, json_option, print_json
from footplate.cli.table import Row, print_table
from footplate.sdk.accounting import money

KEYS = ("JOB", "USER", "QUEUE", "TAG")
COSTS = ("COST",)
COLUMNS = ("JOBS", "GPU HOURS", "CPU HOURS", "GB HOURS")
NONE = "No job used anything in this period."


@click.command()
@click.option(
    "--by", type=click.Choice([key.lower() for key in KEYS]), default="job", help="What to add up by."
)
@click.option(
    "--since", default="", help="From this time on, such as 2030-01-31; by default the last 30 days."
)
@click.option("--until", default="", help="Up to this time; by default now.")
@click.option("--user", default="", help="Only jobs of this person.")
@click.option("--queue", default="", help="Only jobs of this queue.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a table of all jobs as CSV.")
@json_option
def accounting(by: str, since: str, until: str, user: str, queue: str, as_csv: bool, as_json: bool) -> None:
    """Show what my jobs used; admins see the jobs of their queues, platform admins all.

    A job uses what it holds, from its start until it gives it back: 2 GPUs for 3 hours are 6 GPU hours.
    """
    client = connect()
    if as_csv:
        click.echo(client.accounting_table(since, until, user, queue), nl=False)
        return
    report = client.accounting(by, since, until, user, queue)
    if as_json:
        print_json(report)
        return
    currency = report["currency"]
    rows = [_row(line, currency) for line in report["items"]]
    if len(rows) > 1:
        rows.append(_row({**report["total"], "key": phrase("total")}, currency))
    has_cost = report["total"]["cost"] is not None
    print_table((by.upper(), *COLUMNS, *COSTS) if has_cost else (by.upper(), *COLUMNS), rows, phrase(NONE))


def _row(line: Mapping[str, Any], currency: str) -> Row:
    hours = (f"{line[name]:.2f}" for name in ("gpu_hours", "cpu_hours", "memory_gb_hours"))
    cost = () if line["cost"] is None else (money(line["cost"], currency),)
    return (line["key"] or "-", str(line["n_jobs"]), *hours, *cost)
