"""What all commands share: the client, the options --json and --yes, arguments that name jobs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from footplate.cli.language import phrase

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from footplate.sdk.client import Client

# What a shell reports of a command that Ctrl-C ended.
INTERRUPTED = 130

Function = TypeVar("Function", bound=Callable[..., Any])


def asked_url(ctx: click.Context) -> str | None:
    """Return the server that `footplate --url` names."""
    url: str | None = ctx.find_root().params.get("url")
    return url


def connect() -> Client:
    """Make the client that the command line and its surroundings ask for; it closes with the command."""
    from footplate.sdk.client import Client

    ctx = click.get_current_context()
    client = Client(url=asked_url(ctx))
    ctx.call_on_close(client.close)
    return client


def _or_the_groups(ctx: click.Context, param: click.Parameter, value: bool) -> bool:  # noqa: ARG001
    """Let `footplate queues --json members` mean the same as `footplate queues members --json`."""
    return value or bool(ctx.parent and ctx.parent.params.get("as_json"))


def json_option(function: Function) -> Function:
    return click.option(
        "--json", "as_json", is_flag=True, callback=_or_the_groups, help="Print JSON, as the API answers."
    )(function)


def print_json(data: Any) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def print_json_line(data: Any) -> None:
    click.echo(json.dumps(data, ensure_ascii=False))


def tell(data: Any, message: str, as_json: bool) -> None:
    """Say what happened, to a person or to a program."""
    if as_json:
        print_json(data)
    else:
        click.echo(message)


def yes_option(function: Function) -> Function:
    return click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")(function)


def confirm_deletion(of_what: str) -> None:
    """Ask before something is gone for good; anything but yes ends the command."""
    confirm(phrase("Delete {what}?", what=of_what), phrase("nothing was deleted"))


def confirm(question: str, otherwise: str) -> None:
    """Ask; anything but yes ends the command, which says what has not happened."""
    try:
        is_agreed = click.confirm(question, err=True)
    except click.Abort as abort:
        if not was_unanswered(abort):
            raise
        click.echo(err=True)
        raise click.ClickException(phrase("{otherwise}: --yes does not ask", otherwise=otherwise)) from None
    if not is_agreed:
        raise click.ClickException(otherwise)


def was_unanswered(abort: click.Abort) -> bool:
    """Tell whether a question met the end of the input, as in a script, and not Ctrl-C."""
    return isinstance(abort.__context__, EOFError)


def complete_job(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Find the names of jobs that begin with what is typed."""
    from click.shell_completion import CompletionItem

    from footplate.domain.errors import FootplateError
    from footplate.sdk.client import Client

    try:
        with Client(url=asked_url(ctx), timeout_s=1.0) as client:
            jobs = list(client.jobs(limit=50))
    except FootplateError:
        return []
    return [CompletionItem(job.name, help=job.state) for job in jobs if job.name.startswith(incomplete)]


def job_argument(function: Function) -> Function:
    return click.argument("job", metavar="JOB", shell_complete=complete_job)(function)


def jobs_argument(function: Function) -> Function:
    return click.argument("jobs", metavar="JOB...", nargs=-1, required=True, shell_complete=complete_job)(
        function
    )


def duration(text: str) -> int:
    """Read a span of time as the job file writes it, such as 10m; the result is in seconds."""
    from footplate.domain.kinds import Duration
    from footplate.domain.problems import Problems

    problems = Problems()
    written = int(text) if text.isdigit() else text
    seconds = Duration(1, 10 * 365 * 86400).read(written, "", problems)
    if problems:
        from footplate.cli.reader import told

        raise click.BadParameter(told(problems[0].said))
    return int(seconds)


def size_bytes(text: str) -> int:
    """Read a size as the job file writes it, such as 4GB; raise `ValueError` for what is none."""
    from footplate.domain.kinds import Size
    from footplate.domain.problems import Problems

    problems = Problems()
    read = Size(0, 2**60).read(text, "", problems)
    if problems:
        raise ValueError(problems[0].message)
    return int(read)


def size(text: str) -> int:
    """Read a size that an option gives."""
    try:
        return size_bytes(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def pair(text: str) -> tuple[str, str]:
    """Read `NAME=VALUE`."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(phrase("{given:quoted} must be written NAME=VALUE", given=text))
    return name, value
