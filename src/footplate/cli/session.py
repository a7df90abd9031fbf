"""What all commands share: the client, the option --json, arguments that name jobs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from footplate.sdk.client import Client

Function = TypeVar("Function", bound=Callable[..., Any])


def connect() -> Client:
    """Make the client that the command line and its surroundings ask for; it closes with the command."""
    from footplate.sdk.client import Client

    ctx = click.get_current_context()
    client = Client(url=ctx.find_root().obj)
    ctx.call_on_close(client.close)
    return client


def json_option(function: Function) -> Function:
    return click.option("--json", "as_json", is_flag=True, help="Print the API's JSON.")(function)


def print_json(data: Any) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def print_json_line(data: Any) -> None:
    click.echo(json.dumps(data, ensure_ascii=False))


def _complete_job(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    from click.shell_completion import CompletionItem

    from footplate.domain.errors import FootplateError
    from footplate.sdk.client import Client

    try:
        with Client(timeout_s=1.0) as client:
            jobs = list(client.jobs(limit=50))
    except FootplateError:
        return []
    return [CompletionItem(job.name, help=job.state) for job in jobs if job.name.startswith(incomplete)]


def job_argument(function: Function) -> Function:
    return click.argument("job", metavar="JOB", shell_complete=_complete_job)(function)


def jobs_argument(function: Function) -> Function:
    return click.argument("jobs", metavar="JOB...", nargs=-1, required=True, shell_complete=_complete_job)(
        function
    )


def duration(text: str) -> int:
    """Read a span of time as the job file writes it, such as 10m; the result is in seconds."""
    from footplate.domain.kinds import Duration
    from footplate.domain.problems import Problems

    problems = Problems()
    written = int(text) if str(text).isdigit() else text
    seconds = Duration(1, 10 * 365 * 86400).read(written, "", problems)
    if problems:
        raise click.BadParameter(problems[0].message)
    return int(seconds)


def pair(text: str) -> tuple[str, str]:
    """Read `KEY=VALUE`."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise click.BadParameter(f"{text!r} must be written KEY=VALUE")
    return key, value
