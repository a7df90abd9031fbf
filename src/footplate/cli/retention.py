"""The verbs sizes and sweep: how much of the disk is taken by what, and what goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.reader import told_in
from footplate.cli.session import complete_job, connect, json_option, print_json
from footplate.cli.table import Row, print_table
from footplate.domain.resources import show_bytes

PARTS = ("LOGS", "RESULTS", "WORK FOLDERS", "CODE", "TOTAL")
SIZE_COLUMNS = ("USER", "JOBS", "LOGS", "RESULTS", "WORK FOLDERS", "CODE", "TOTAL", "MODELS")
SWEPT_COLUMNS = ("KIND", "N", "SIZE")
_FIELDS = ("logs_bytes", "outputs_bytes", "work_bytes", "code_bytes", "total_bytes")


@click.command()
@click.argument("job", required=False, shell_complete=complete_job)
@json_option
def sizes(job: str | None, as_json: bool) -> None:
    """Show how much of the disk my jobs and models take, or what one JOB takes; admins see everybody."""
    client = connect()
    found = client.job(job).sizes() if job else client.sizes()
    if as_json:
        print_json(found)
    elif job:
        print_table(PARTS, [_parts(found)], "")
        if found["gone"]:
            click.echo(phrase("Removed, since they are kept no longer: {parts:comma}.", parts=found["gone"]))
    else:
        rows: list[Row] = [
            (one["user"], str(one["n_jobs"]), *_parts(one), show_bytes(one["models_bytes"]))
            for one in found["items"]
        ]
        print_table(SIZE_COLUMNS, rows, "")
        if found["free_bytes"] is not None:
            click.echo(phrase("{free:size} are free on the server's disk.", free=found["free_bytes"]))


def _parts(sizes: Mapping[str, Any]) -> Row:
    return tuple(show_bytes(sizes[name]) for name in _FIELDS)


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@json_option
def sweep(dry_run: bool, as_json: bool) -> None:
    """Remove now what is kept no longer, and say what that gave back (admin).

    The server does so by itself every ten minutes; `retention` in its settings and `queues edit --keep` say
    how long what is kept.
    """
    found = connect().sweep(dry_run=dry_run)
    if as_json:
        print_json(found)
        return
    rows = [(one["kind"], str(one["n"]), show_bytes(one["size_bytes"])) for one in found["items"] if one["n"]]
    if rows:
        print_table(SWEPT_COLUMNS, rows, "")
    size = show_bytes(found["size_bytes"])
    told = phrase("{size} would be freed.", size=size) if dry_run else phrase("Freed {size}.", size=size)
    click.echo(told)
    for fault in (fault for one in found["items"] for fault in one.get("faults", ())):
        click.echo(told_in(fault), err=True)
