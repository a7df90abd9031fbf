"""The verb download: fetch the files of a job."""

from __future__ import annotations

from pathlib import Path

import click

from footplate.cli.language import phrase
from footplate.cli.session import connect, job_argument, json_option, tell
from footplate.cli.standin import FILES, file_of, stands_in, zipped

KINDS = ("output", "checkpoints", "code", "work")


@click.command()
@job_argument
@click.argument("path", required=False, default="")
@click.option("--what", type=click.Choice(KINDS), default="output", show_default=True, help="What to fetch.")
@click.option("--code", "what", flag_value="code", help="The job's code; the same as --what code.")
@click.option("--definition", "what", flag_value="code", help="The job's code; the same as --what code.")
@click.option("--trainedmodel", "what", flag_value="output", help="The same as --what output.")
@click.option("-o", "--filename", type=click.Path(path_type=Path), help="File to write.")
@json_option
def download(job: str, path: str, what: str, filename: Path | None, as_json: bool) -> None:
    """Download the results of a job so far; the job may still be running.

    All of them come as a .tar.gz archive, and so does a folder. PATH names one file or folder;
    `footplate files` lists them. Without PATH, a FILENAME that ends in .zip becomes a ZIP.
    """
    found = connect().job(job)
    if filename is None and not path and what in FILES and stands_in():
        filename = file_of(found.id, what)
    if filename is not None and not path and filename.suffix.lower() == ".zip":
        target = zipped(found.download(filename.with_name(f"{filename.name}.tar.gz"), what), filename)
    else:
        target = found.download(filename, what, path)
    size_bytes = target.stat().st_size
    saved = {"what": path or what, "job": found.name, "path": target, "size": size_bytes}
    message = phrase("Saved {what} of {job} to {path} ({size} bytes).", **saved)
    tell({"id": found.id, "file": str(target), "size_bytes": size_bytes}, message, as_json)
