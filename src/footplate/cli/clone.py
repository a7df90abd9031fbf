"""The verb clone: a job once more, with whatever is to be different."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.joboptions import job_options, overrides_in
from footplate.cli.language import phrase
from footplate.cli.reader import warn
from footplate.cli.render import named
from footplate.cli.session import connect, job_argument, json_option
from footplate.cli.submit import WithCommand, announce, command_in, print_dry_run, submit_options

if TYPE_CHECKING:
    from footplate.sdk.client import Client
    from footplate.sdk.job import Job


@click.command(cls=WithCommand)
@job_argument
@click.option("--code", type=click.Path(exists=True), help="Folder, file or archive to send instead.")
@job_options
@submit_options
@json_option
@click.pass_context
def clone(
    ctx: click.Context,
    /,
    job: str,
    code: str | None,
    is_following: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Submit a copy of a job, with some fields changed.

    Variables, parameters, secrets and data are added to those of the job; every other option replaces what
    the job says. Another command comes last:  footplate clone digits --gpus 2 -- python train.py
    """
    client = connect()
    origin = client.job(job)
    overrides = overrides_in(options)
    if command := command_in(ctx):
        overrides["command"] = command
    if dry_run:
        return _dry_run(client, origin, code, overrides, as_json)
    if code is not None:
        overrides["code"] = {"upload": client.upload_code(Path(code))}
    made = origin.clone(**overrides)
    warn(made.data)
    said = {"name": made.name, "job": made.id, "origin": named(origin)}
    told = phrase("Submitted {name} as {job}, a clone of {origin}.", **said)
    return announce(made, told, is_following=is_following, quiet=quiet, as_json=as_json)


def _dry_run(client: Client, origin: Job, code: str | None, overrides: dict[str, Any], as_json: bool) -> int:
    from footplate.sdk.submission import prepare

    config = origin.config()
    overrides.setdefault("name", client.free_name(origin.name))
    return print_dry_run(client.dry_run(prepare(config, code, **overrides)), as_json)
