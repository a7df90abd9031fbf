"""The verb convert: a job file from one system to another, as far as the other can say it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.language import phrase
from footplate.cli.newfile import write_new
from footplate.cli.reader import told
from footplate.cli.session import json_option, print_json

if TYPE_CHECKING:
    from footplate.dialects.translation import Translation, Written
    from footplate.domain.messages import Message

OURS = "footplate"
# As the registry of dialects has them; a test compares. It is not loaded to print the help.
TARGETS = (OURS, "pai-v1", "pai-v2", "ffdl", "prophecis", "sbatch")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--to", "target", type=click.Choice(TARGETS), default=OURS, show_default=True, help="What to write."
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Write to this file, not to the screen."
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@json_option
def convert(file: str, target: str, output: str | None, force: bool, as_json: bool) -> None:
    """Convert FILE, a job file of Footplate, OpenPAI, FfDL, Prophecis or Slurm.

    The result goes to standard output; what was converted and what could not be is told beside it.
    """
    read, written = _converted(file, target)
    converted, lost = (read.converted, read.lost) if read else ((), ())
    if as_json:
        notes = {"converted": converted, "lost": (*lost, *written.lost)}
        listed = {
            name: [{"code": one.code, "message": told(one)} for one in some] for name, some in notes.items()
        }
        print_json({"text": written.text, **listed})
        return
    if output is None:
        click.echo(written.text, nl=False)
    else:
        write_new(Path(output), written.text, force)
        click.echo(phrase("Wrote {path}.", path=output), err=True)
    _tell(phrase("Converted:"), converted)
    _tell(phrase("Could not be converted:"), (*lost, *written.lost))


def _converted(file: str, target: str) -> tuple[Translation | None, Written]:
    from footplate.dialects import registry
    from footplate.dialects.translation import Written
    from footplate.domain.jobfile import read_job
    from footplate.wire import documents

    with click.open_file(file, "rb") as source:
        text = documents.decode(source.read(documents.MAX_BYTES + 1), file)
    dialect = registry.recognise(text)
    read = registry.translate(text, dialect) if dialect else None
    document = dict(read.document) if read else _ours(text, file)
    # Code lies on this machine until it is sent; all the rest can be checked now.
    without_code = {name: value for name, value in document.items() if name != "code"}
    if target == OURS:
        read_job(without_code)
        return read, Written(documents.dump(document))
    write = registry.DIALECTS[target.replace("-", "_")].write
    assert write is not None
    return read, write(read_job(without_code))


def _ours(text: str, file: str) -> dict[str, Any]:
    from footplate.domain.errors import InvalidInput
    from footplate.wire import documents

    document = documents.load(text, file)
    if not isinstance(document, dict):
        raise InvalidInput("job_file_not_mapping", file=file)
    return document


def _tell(head: str, notes: Sequence[Message]) -> None:
    if notes:
        click.echo(head, err=True)
    for note in notes:
        click.echo(f"- {told(note)}", err=True)
