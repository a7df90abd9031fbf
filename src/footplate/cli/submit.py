"""The verb submit: a job file with its code, or a command typed after `--`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.envfile import read_env_file
from footplate.cli.language import phrase
from footplate.cli.reader import told, told_in
from footplate.cli.render import print_hints
from footplate.cli.session import INTERRUPTED, connect, json_option, pair, print_json
from footplate.domain.messages import say
from footplate.sdk.errors import message_in

if TYPE_CHECKING:
    from footplate.sdk.client import Client
    from footplate.sdk.job import Job
    from footplate.sdk.submission import Submission

DEFAULT_FILE = "footplate.yaml"
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


def _data(text: str) -> dict[str, Any]:
    """Read `STORAGE[/SOURCE]:PATH[:rw]`."""
    what, _, where = text.partition(":")
    path, _, mode = where.partition(":")
    storage, _, source = what.partition("/")
    if not storage or not path or mode not in ("", "ro", "rw"):
        form = "STORAGE[/SOURCE]:PATH[:rw]"
        raise click.BadParameter(phrase("{given:quoted} must be written {form}", given=text, form=form))
    return {"storage": storage, "source": source, "path": path, "read_only": mode != "rw"}


def _secret(text: str) -> tuple[str, str]:
    """Read `[VARIABLE=]NAME`."""
    variable, equals, name = text.partition("=")
    if not variable or (equals and not name):
        form = "[VARIABLE=]NAME"
        raise click.BadParameter(phrase("{given:quoted} must be written {form}", given=text, form=form))
    return variable, name if equals else variable


@click.command(cls=WithCommand)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.argument("code_dir", required=False, type=click.Path(exists=True))
@click.option(
    "--code",
    type=click.Path(exists=True),
    help="Folder, file or archive to send along with a command after --.",
)
@click.option("--no-code", is_flag=True, help="Send nothing, although the command names a file that is here.")
@click.option(
    "--no-requirements", is_flag=True, help="Do not install what the requirements file of the code lists."
)
@click.option("-n", "--name", help="Name of the job.")
@click.option(
    "--again", is_flag=True, help="If the name is taken, use the next free one: NAME-2, NAME-3, ..."
)
@click.option("-q", "--queue", help="Queue to submit to.")
@click.option("--priority", type=int, help="Higher starts first.")
@click.option("--description", help="What the job is for.")
@click.option(
    "--shared/--private",
    default=None,
    help="Whether everybody in the queue may see its logs, configuration and files "
    "(default: what the queue says).",
)
@click.option("--image", help="Container image.")
@click.option("--cpus", type=float, help="CPUs of each task.")
@click.option("--memory", help="Memory of each task, such as 4GB.")
@click.option("--shm", help="Shared memory of each task, such as 1GB.")
@click.option("--gpus", type=int, help="GPUs of each task.")
@click.option("--gpu-type", help="GPU type.")
@click.option("--count", type=int, help="Number of tasks.")
@click.option("--strategy", help="Strategy for distributed training; see `footplate strategies`.")
@click.option("--retry", type=int, help="Number of retries after a failure.")
@click.option("--time-limit", help="Longest run time, such as 2h.")
@click.option("--deadline", help="When the job must be over, such as 2030-01-31T18:00:00Z.")
@click.option("--tag", "tags", multiple=True, help="Tag to find the job by; may be repeated.")
@click.option(
    "-p",
    "--param",
    "parameters",
    type=pair,
    metavar="NAME=VALUE",
    multiple=True,
    help="Parameter; may be repeated.",
)
@click.option(
    "-e",
    "--env",
    type=pair,
    metavar="NAME=VALUE",
    multiple=True,
    help="Environment variable; may be repeated.",
)
@click.option(
    "--env-file",
    "env_files",
    type=click.Path(exists=True, dir_okay=False),
    multiple=True,
    help="Read variables from FILE, one NAME=VALUE per line; --env overrides it. May be repeated.",
)
@click.option(
    "--secret",
    "secrets",
    type=_secret,
    metavar="[VARIABLE=]NAME",
    multiple=True,
    help="Expose stored secret NAME as $VARIABLE (default: $NAME); may be repeated.",
)
@click.option(
    "-d",
    "--data",
    type=_data,
    metavar="STORAGE[/SOURCE]:PATH[:rw]",
    multiple=True,
    help="Mount data at PATH, such as datasets/mnist:/data; may be repeated.",
)
@click.option(
    "-f",
    "--follow",
    "is_following",
    is_flag=True,
    help="Follow the job until it ends; exit with its outcome.",
)
@click.option("--dry-run", is_flag=True, help="Print what would happen, and do nothing.")
@click.option("--quiet", is_flag=True, help="Print only the job's ID.")
@json_option
@click.pass_context
def submit(
    ctx: click.Context,
    /,
    file: str | None,
    code_dir: str | None,
    code: str | None,
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
        submission = _prepare(ctx, file, code_dir or code, overrides)
    return send(
        submission, again=again, is_following=is_following, dry_run=dry_run, quiet=quiet, as_json=as_json
    )


def send(
    submission: Submission, *, again: bool, is_following: bool, dry_run: bool, quiet: bool, as_json: bool
) -> int:
    """Submit what is prepared, and follow it if that is asked for; return the exit code of the command."""
    client = connect()
    if dry_run:
        return _dry_run(client, submission, as_json)
    if submission.code and not (quiet or as_json):
        _tell_code(submission)
    job = client.submit(submission, again=again)
    _warn(job.data)
    if as_json and not is_following:
        print_json(job.data)
    elif quiet and not is_following:
        click.echo(job.id)
    elif not as_json:
        submitted = {"name": job.name, "job": job.id, "queue": job.queue}
        told_where = phrase("Submitted {name} as {job} to queue {queue}.", **submitted)
        click.echo(told_where, err=quiet or is_following)
    if is_following:
        return _follow(job, as_json)
    if not (quiet or as_json):
        from footplate.cli.show import hints_for

        print_hints(hints_for(job))
    return 0


def _prepare(
    ctx: click.Context, file: str | None, code_dir: str | None, options: Mapping[str, Any]
) -> Submission:
    from footplate.sdk.submission import prepare

    overrides = overrides_in(options)
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


def overrides_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """Gather the fields of the job that options name."""
    given = {name: value for name, value in options.items() if value not in (None, ())}
    if "parameters" in given:
        given["parameters"] = dict(given["parameters"])
    files = [read_env_file(path) for path in given.pop("env_files", ())]
    if files or "env" in given:
        given["env"] = {name: value for one in files for name, value in one.items()}
        given["env"].update(options["env"])
    if "secrets" in given:
        given["secrets"] = dict(given["secrets"])
    for name in {"tags", "data"} & given.keys():
        given[name] = list(given[name])
    return given


def _from_stdin() -> dict[str, Any]:
    from footplate.domain.errors import InvalidInput
    from footplate.wire import documents

    document = documents.load(sys.stdin.buffer.read(documents.MAX_BYTES + 1), "standard input")
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


def _warn(answer: Mapping[str, Any]) -> None:
    for warning in answer.get("warnings", ()):
        click.echo(told(say("warning", what=message_in(warning))), err=True)


def _dry_run(client: Client, submission: Submission, as_json: bool) -> int:
    from footplate.wire.documents import dump

    answer = client.dry_run(submission)
    _warn(answer)
    if as_json:
        print_json(answer)
        return 0
    click.echo(dump(answer["config"]), nl=False)
    click.echo(_told_start(answer["would_start"], told_in(answer["reason"])), err=True)
    return 0


def _told_start(would_start: bool, why: str) -> str:
    if would_start:
        return phrase("Nothing was submitted. The job would start immediately: {why}", why=why)
    return phrase("Nothing was submitted. The job would wait: {why}", why=why)


def _follow(job: Job, as_json: bool) -> int:
    from footplate.cli.follow import follow, outcome

    ended = follow(job, job.follow(), as_json=as_json)
    return outcome(ended.state, ended.exit_code) if ended else INTERRUPTED
