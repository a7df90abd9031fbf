"""Verbs that act on jobs: wait, stop, edit."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.language import phrase
from footplate.cli.lastlines import print_last_lines
from footplate.cli.reader import told
from footplate.cli.render import named, show_state
from footplate.cli.session import (
    connect,
    duration,
    job_argument,
    jobs_argument,
    json_option,
    print_json,
    tell,
)

if TYPE_CHECKING:
    from footplate.sdk.job import Job

# As `timeout` of the shell reports it.
TIMED_OUT = 124


@click.command()
@job_argument
@click.option("-t", "--timeout", type=duration, help="Timeout, such as 10m.")
@click.option("--results", is_flag=True, help="Wait also until its results are saved on their storage.")
@json_option
def wait(job: str, timeout: int | None, results: bool, as_json: bool) -> int:
    """Wait until a job ends.

    The exit code is 0 if the job succeeded, 124 if it is not over in time, otherwise the failed task's own
    or 1. Ctrl-C ends the waiting, not the job.
    """
    from footplate.cli.follow import leave, outcome
    from footplate.sdk.errors import TimedOut

    found = connect().job(job)
    try:
        with _status_of(found):
            found.wait(timeout, on_poll=KeptTeller(), results=results)
    except KeyboardInterrupt:
        return leave(found)
    except TimedOut as error:
        click.echo(told(error.said), err=True)
        return TIMED_OUT
    tell(found.data, f"{named(found)} {show_state(found.state)}: {told(found.reason.said)}", as_json)
    if not as_json:
        print_last_lines(found)
        _tell_unsaved(found)
    return outcome(found.state, found.exit_code)


def _tell_unsaved(job: Job) -> None:
    """Say that results are on their way, and how to wait for them."""
    if job.saves_results:
        results = job.data["results"]
        place = f"{results['storage']}:{results['path']}"
        message = phrase(
            "Its results are still being saved in {place}: footplate wait {job} --results",
            place=place,
            job=job.name,
        )
        click.echo(message, err=True)


class KeptTeller:
    """Says once to whoever waits that the job has failed, and how to look at what it keeps."""

    def __init__(self) -> None:
        self._has_told = False

    def __call__(self, job: Job) -> None:
        from footplate.cli.follow import tell_kept

        if self._has_told or not job.data.get("kept_until"):
            return
        self._has_told = True
        click.echo(phrase("{job} failed: {why}", job=named(job), why=job.reason.said), err=True)
        tell_kept(job)


def _status_of(job: Job) -> AbstractContextManager[Any]:
    """Show on a terminal how a job stands, as far as whoever waits for it has heard."""
    if not sys.stderr.isatty():
        return nullcontext()
    from footplate.cli.follow import status_line
    from footplate.cli.screen import Screen

    began_at = time.monotonic()
    return Screen(sys.stderr, lambda frame: [status_line(frame, job.state, began_at, told(job.reason.said))])


@click.command()
@jobs_argument
@click.option("-w", "--wait", "is_waiting", is_flag=True, help="Wait until the jobs have stopped.")
@click.option("--now", is_flag=True, help="Kill immediately, without a grace period.")
@json_option
def stop(jobs: tuple[str, ...], is_waiting: bool, now: bool, as_json: bool) -> None:
    """Stop jobs: SIGTERM first, SIGKILL after the grace period."""
    client = connect()
    found = []
    for name in jobs:
        job = client.job(name)
        was_over = job.is_final
        if not was_over:
            job.stop(now)
        if is_waiting:
            job.wait()
        found.append(job.data)
        if not as_json:
            click.echo(stopped(job, was_over))
    if as_json:
        print_json(found[0] if len(found) == 1 else {"items": found})


def stopped(job: Job, was_over: bool = False) -> str:
    """Say how far the stop of a job has come."""
    said = {"job": named(job), "state": show_state(job.state)}
    if was_over:
        return phrase("{job} had ended already: {state}.", **said)
    return (
        phrase("{job} stopped: {state}.", **said)
        if job.is_final
        else phrase("{job} is stopping: {state}.", **said)
    )


@click.command()
@job_argument
@click.option("-n", "--name", help="New name.")
@click.option("-d", "--description", help="New description.")
@click.option("--priority", type=int, help="New priority; higher starts first.")
@click.option(
    "--shared/--private",
    default=None,
    help="Whether everybody in the queue may see its logs, configuration and files.",
)
@json_option
@click.pass_context
def edit(ctx: click.Context, /, job: str, as_json: bool, **fields: Any) -> None:
    """Change a job's name, description or priority, or share it with its queue."""
    changed = [field for field, value in fields.items() if value is not None]
    if not changed:
        options = "--name, --description, --priority, --shared, --private"
        ctx.fail(phrase("nothing to change: give at least one of {options}", options=options))
    edited = connect().job(job).edit(**fields)
    tell(edited.data, phrase("Changed {what:field} of {job}.", what=changed, job=named(edited)), as_json)
