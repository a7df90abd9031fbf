"""The verb files: what a job has left behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.download import KINDS
from footplate.cli.language import phrase
from footplate.cli.render import named, print_hints, show_time
from footplate.cli.session import connect, job_argument, json_option, print_json
from footplate.cli.table import Row, print_table
from footplate.domain.resources import show_bytes

COLUMNS = ("SIZE", "CHANGED", "PATH")


@click.command()
@job_argument
@click.argument("path", required=False, default="")
@click.option("--what", type=click.Choice(KINDS), default="output", show_default=True, help="Which files.")
@json_option
def files(job: str, path: str, what: str, as_json: bool) -> None:
    """List the files of a job: all of them, or those below PATH.

    `output` is what its tasks wrote to $FOOTPLATE_OUTPUT_DIR.
    """
    found = connect().job(job)
    listed = found.files(what, path)
    if as_json:
        print_json(listed)
        return
    print_table(COLUMNS, [_row(item) for item in listed["items"]], phrase("No files."))
    if listed["is_cut"]:
        n = len(listed["items"])
        cut = phrase("{job} has more files: these are the first {n}; name a folder", job=named(found), n=n)
        click.echo(cut, err=True)
    choice = "" if what == "output" else f" --what {what}"
    print_hints({phrase("download"): f"footplate download {found.id} PATH{choice}"}, is_beside=True)


def _row(entry: Mapping[str, Any]) -> Row:
    is_file = entry["kind"] == "file"
    path = entry["path"] + ("/" if entry["kind"] == "folder" else "")
    return show_bytes(entry["size_bytes"]) if is_file else "", show_time(entry["modified_at"]), path
