"""The verb run: a command with the folder it is typed in, followed to its end."""

from __future__ import annotations

from typing import Any

import click

from footplate.cli.joboptions import overrides_in
from footplate.cli.submit import send, submit

# What `submit` has for job files, and what is decided here.
NOT_FOR_COMMANDS = frozenset({"again", "is_following", "code", "no_code", "placeholders"})


def _run(
    command: tuple[str, ...],
    code: str,
    is_detached: bool,
    no_requirements: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    **overrides: Any,
) -> int:
    # YAML and the packing are loaded by who needs them.
    from footplate.sdk.commands import prepare_command

    fields = overrides_in(overrides)
    submission = prepare_command(command, code, fields, with_requirements=not no_requirements)
    return send(
        submission,
        # The same command is run time and again.
        again=True,
        is_following=not is_detached,
        dry_run=dry_run,
        quiet=quiet,
        as_json=as_json,
    )


run = click.Command(
    "run",
    callback=_run,
    params=[
        click.Option(
            ["--code"],
            default=".",
            show_default="this folder",
            type=click.Path(exists=True),
            help="Folder, file or archive to send along.",
        ),
        click.Option(["--detach", "is_detached"], is_flag=True, help="Submit, and do not follow."),
        *(
            option
            for option in submit.params
            if isinstance(option, click.Option) and option.name not in NOT_FOR_COMMANDS
        ),
        click.Argument(["command"], nargs=-1, required=True, type=click.UNPROCESSED),
    ],
    # What follows the command's first word is the command's own.
    context_settings={"allow_interspersed_args": False},
    help="""Run COMMAND as a job: send this folder, install its packages, follow.

    A `requirements.txt` of the folder, or a `pyproject.toml` with `uv.lock`, says which packages.
    Options of the job come before the command:  footplate run --gpus 1 python train.py --lr 0.1
    """,
)
