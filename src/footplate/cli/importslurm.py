"""The verb import-slurm: a job file from a batch script of Slurm."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.newfile import write_new
from footplate.cli.reader import told
from footplate.cli.render import print_hints
from footplate.cli.session import json_option, print_json
from footplate.domain.messages import Message

MOST_BYTES = 1 << 20
STDOUT = "-"
WIDTH = 100


@click.command("import-slurm")
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("file", required=False, type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@json_option
def import_slurm(script: Path, file: str | None, force: bool, as_json: bool) -> None:
    """Write a job file from SCRIPT, a batch script of Slurm.

    FILE is the job file (default: the script's name with .yaml; - prints it). What could not be taken over is
    told, and stands in the file as comments.
    """
    from footplate.dialects.slurm import translate
    from footplate.domain.jobfile import read_job

    translation = translate(_read(script), script.stem)
    # Code lies on this machine until it is sent; all the rest can be checked now.
    read_job({name: value for name, value in translation.document.items() if name != "code"})
    path = Path(file) if file and file != STDOUT else script.with_suffix(".yaml")
    document = _beside(translation.document, script, path)
    if as_json:
        notes = [{"code": note.code, "message": told(note)} for note in translation.notes]
        print_json({"job": document, "notes": notes})
        return
    text = _written(script.name, document, translation.notes)
    if file == STDOUT:
        click.echo(text, nl=False)
        return
    write_new(path, text, force)
    click.echo(phrase("Wrote {path}.", path=path))
    for note in translation.notes:
        click.echo(f"- {told(note)}", err=True)
    print_hints({phrase("try it"): f"footplate submit {path} --dry-run"})


def _beside(document: Mapping[str, Any], script: Path, file: Path) -> dict[str, Any]:
    """The document with the folder of its code as the job file sees it."""
    code = os.path.relpath(script.parent / document["code"], file.parent)
    return {**document, "code": code}


def _read(script: Path) -> str:
    try:
        with script.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise click.ClickException(
            phrase("cannot read {path}: {error}", path=script, error=error.strerror)
        ) from None
    if len(content) > MOST_BYTES or b"\0" in content:
        raise click.ClickException(phrase("{path} is not a batch script", path=script))
    return content.decode("utf-8", "replace")


def _written(script: str, document: Mapping[str, Any], notes: Sequence[Message]) -> str:
    """The job file, below what to know about it."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes texts of several lines as people do."""

    def as_people_do(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, as_people_do)
    head = [phrase("From {script}, a batch script of Slurm. To check before you submit it:", script=script)]
    for note in notes:
        head += textwrap.wrap(told(note), WIDTH, initial_indent="- ", subsequent_indent="  ")
    body = yaml.dump(dict(document), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
    return "\n".join([*(f"# {line}" for line in head), "", body])
