"""The verb submit: a job file with its code, or a command typed after `--`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.estimates import show_cost, show_estimate
from footplate.cli.joboptions import job_options, overrides_in
from footplate.cli.language import phrase
from footplate.cli.reader import told_in, warn
from footplate.cli.render import print_hints
from footplate.cli.session import INTERRUPTED, Function, connect, json_option, print_json
from footplate.cli.standin import is_for_prophecis, line_with_id, stands_in

if TYPE_CHECKING:
    from footplate.sdk.job import Job
    from footplate.sdk.submission import Foreign, Submission

DEFAULT_FILE = "footplate.yaml"
OLD_VERB = "train"
_COMMAND = "footplate.command"


class WithCommand(click.Command):
    """Takes what follows `--` as the command of a job."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            position = args.index("--")
            ctx.meta[_COMMAND], args = args[position + 1 :], args[:position]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


def command_in(ctx: click.Context) -> str:
    """The command after `--` as one text; nothing where there is none."""
    words = ctx.meta.get(_COMMAND)
    if not words:
        return ""
    from footplate.sdk.commands import text_of

    return text_of(words)


_SUBMIT_OPTIONS = (
    click.option(
        "-f",
        "--follow",
        "is_following",
        is_flag=True,
        help="Follow the job until it ends; exit with its outcome.",
    ),
    click.option("--dry-run", is_flag=True, help="Print what would happen, and do nothing."),
    click.option("--quiet", is_flag=True, help="Print only the job's ID."),
)


def submit_options(function: Function) -> Function:
    """Give a command the options that say how to submit."""
    for option in reversed(_SUBMIT_OPTIONS):
        function = option(function)
    return function


@click.command(cls=WithCommand)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.argument("code_dir", required=False, type=click.Path(exists=True))
@click.option(
    "--code",
    type=click.Path(exists=True),
    help="Folder, file or archive to send along with a command after --.",
)
@click.option(
    "-P",
    "placeholders",
    metavar="NAME=VALUE,...",
    default="",
    help="Fill the placeholders [#NAME] of FILE, as the command of Prophecis does.",
)
@click.option("--no-code", is_flag=True, help="Send nothing, although the command names a file that is here.")
@click.option(
    "--no-requirements", is_flag=True, help="Do not install what the requirements file of the code lists."
)
@click.option(
    "--again", is_flag=True, help="If the name is taken, use the next free one: NAME-2, NAME-3, ..."
)
@job_options
@submit_options
@json_option
@click.pass_context
def submit(
    ctx: click.Context,
    /,
    file: str | None,
    code_dir: str | None,
    code: str | None,
    placeholders: str,
    no_code: bool,
    no_requirements: bool,
    again: bool,
    is_following: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    **overrides: Any,
) -> int:
    """Submit FILE (default: footplate.yaml), with the code in CODE_DIR or where the file says.

    CODE_DIR is a folder, a file, or a zip or tar archive, which is unpacked. Without a job file, give the
    command itself:  footplate submit -n hello --code . -- python train.py
    """
    # What Prophecis' command does by itself.
    is_following = is_following or (ctx.info_name == OLD_VERB and is_for_prophecis() and not dry_run)
    if ctx.meta.get(_COMMAND):
        if file:
            ctx.fail(phrase("give a job file or a command after --, not both"))
        from footplate.sdk.commands import prepare_command

        submission = prepare_command(
            ctx.meta[_COMMAND],
            code,
            overrides_in(overrides),
            with_requirements=not no_requirements,
            with_code=not no_code,
        )
    else:
        submission = _prepare(ctx, file, code_dir or code, overrides, placeholders)
    return send(
        submission, again=again, is_following=is_following, dry_run=dry_run, quiet=quiet, as_json=as_json
    )


def send(
    submission: Submission, *, again: bool, is_following: bool, dry_run: bool, quiet: bool, as_json: bool
) -> int:
    """Submit what is prepared, and follow it if that is asked for; return the exit code of the command."""
    client = connect()
    if dry_run:
        return print_dry_run(client.dry_run(submission), as_json)
    if submission.code and not (quiet or as_json):
        _tell_code(submission)
    job = client.submit(submission, again=again)
    warn(job.data)
    submitted = {"name": job.name, "job": job.id, "queue": job.queue}
    told = phrase("Submitted {name} as {job} to queue {queue}.", **submitted)
    if stands_in() and not (quiet or as_json):
        click.echo(line_with_id(job.id))
    return announce(job, told, is_following=is_following, quiet=quiet, as_json=as_json)


def announce(job: Job, told: str, *, is_following: bool, quiet: bool, as_json: bool) -> int:
    """Say that a job is submitted, and follow it if that is asked for; return the command's exit code."""
    if as_json and not is_following:
        print_json(job.data)
    elif quiet and not is_following:
        click.echo(job.id)
    elif not as_json:
        click.echo(told, err=quiet or is_following)
    if is_following:
        return _follow(job, as_json)
    if not (quiet or as_json):
        from footplate.cli.show import hints_for

        print_hints(hints_for(job))
    return 0


def _filled(ctx: click.Context, file: str, placeholders: str) -> dict[str, Any] | Foreign:
    """A job file with its placeholders filled."""
    from footplate.sdk.submission import fill_placeholders

    try:
        return fill_placeholders(Path(file).read_bytes(), placeholders, file)
    except ValueError as error:
        ctx.fail(phrase("{given:quoted} must be written NAME=VALUE", given=str(error)))


def _prepare(
    ctx: click.Context,
    file: str | None,
    code_dir: str | None,
    options: Mapping[str, Any],
    placeholders: str = "",
) -> Submission:
    from footplate.sdk.submission import prepare

    overrides = overrides_in(options)
    if placeholders and file and file != "-":
        return prepare(_filled(ctx, file, placeholders), code_dir, **overrides)
    if file == "-":
        return prepare(_from_stdin(), code_dir, **overrides)
    if file is None and not Path(DEFAULT_FILE).exists():
        ctx.fail(
            phrase(
                "there is no {file} here; name a job file, write one with `footplate init`, "
                "or give a command after --",
                file=DEFAULT_FILE,
            )
        )
    return prepare(file or DEFAULT_FILE, code_dir, **overrides)


def _from_stdin() -> dict[str, Any] | Foreign:
    from footplate.domain.errors import InvalidInput
    from footplate.sdk.submission import foreign_in
    from footplate.wire import documents

    text = sys.stdin.buffer.read(documents.MAX_BYTES + 1)
    if (foreign := foreign_in(text, "standard input", None)) is not None:
        return foreign
    document = documents.load(text, "standard input")
    if not isinstance(document, dict):
        raise InvalidInput("stdin_not_mapping")
    return document


def _tell_code(submission: Submission) -> None:
    code = submission.code
    assert code is not None
    # A folder ends in a slash, so that "." is not taken for the end of the sentence.
    source = f"{code.root}/" if code.root.is_dir() else str(code.root)
    sent = {"n": code.n_files, "size": code.size_bytes, "source": source}
    click.echo(phrase("Sending {n:file|files} ({size:size}) from {source}", **sent), err=True)
    for name in code.left_out:
        click.echo("  " + phrase("left out: {name}", name=name), err=True)
    environment = submission.document.get("environment")
    if submission.uses_found_packages and isinstance(environment, Mapping):
        (file,) = environment.values()
        installing = phrase("Installing the packages of {file} (--no-requirements turns this off)", file=file)
        click.echo(installing, err=True)


def print_dry_run(answer: Mapping[str, Any], as_json: bool) -> int:
    """Print what would become of a job: its file on standard output, the rest beside it."""
    from footplate.wire.documents import dump

    warn(answer)
    if as_json:
        print_json(answer)
        return 0
    click.echo(dump(answer["config"]), nl=False)
    click.echo(_told_start(answer["would_start"], told_in(answer["reason"])), err=True)
    if when := show_estimate(answer.get("estimate")):
        click.echo(phrase("Expected start: {when}", when=when), err=True)
    if cost := show_cost(answer.get("cost")):
        click.echo(phrase("Cost: {cost}", cost=cost), err=True)
    return 0


def _told_start(would_start: bool, why: str) -> str:
    if would_start:
        return phrase("Nothing was submitted. The job would start immediately: {why}", why=why)
    return phrase("Nothing was submitted. The job would wait: {why}", why=why)


def _follow(job: Job, as_json: bool) -> int:
    from footplate.cli.follow import follow, outcome

    ended = follow(job, job.follow(), as_json=as_json)
    return outcome(ended.state, ended.exit_code) if ended else INTERRUPTED
