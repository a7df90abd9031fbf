"""The verb list: a table of jobs, once or kept up to date."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.language import phrase
from footplate.cli.reader import told, told_in
from footplate.cli.render import is_terminal, show_amount, show_request, show_span, show_time
from footplate.cli.session import connect, json_option, print_json
from footplate.cli.table import Row, lay_out, print_table
from footplate.domain.states import ACTIVE_STATES, JobState

if TYPE_CHECKING:
    from footplate.sdk.client import Client

WATCH_EVERY_S = 2.0
COLUMNS = (
    "ID",
    "NAME",
    "STATE",
    "QUEUE",
    "OWNER",
    "RESOURCES",
    "SUBMITTED",
    "RUN TIME",
    "DESCRIPTION",
    "REASON",
)
EXPENDABLE = ("OWNER", "QUEUE", "RUN TIME", "RESOURCES", "DESCRIPTION", "SUBMITTED")
EMPTY = "No jobs match. Submit one: footplate submit job.yaml"

# Words of other systems that people type out of habit.
_STATE_ALIASES = {
    "WAITING": JobState.QUEUED,
    "PENDING": JobState.QUEUED,
    "COMPLETED": JobState.SUCCEEDED,
    "DONE": JobState.SUCCEEDED,
    "CANCELLED": JobState.STOPPED,
    "CANCELED": JobState.STOPPED,
    "KILLED": JobState.STOPPED,
}


def state(text: str) -> JobState:
    """Read a state in our words or in those of other systems."""
    word = text.upper()
    if word not in JobState.__members__ and word not in _STATE_ALIASES:
        states = ", ".join(JobState)
        raise click.BadParameter(phrase("{given:quoted} is none of {states}", given=text, states=states))
    return _STATE_ALIASES.get(word) or JobState(word)


@click.command("list")
@click.option("-q", "--queue", "--namespace", "queue", help="Only jobs of this queue.")
@click.option("-u", "--owner", "--userid", "owner", help="Only jobs of this user.")
@click.option("-m", "--mine", is_flag=True, help="Only my jobs.")
@click.option(
    "-s", "--state", "states", type=state, multiple=True, help="Only jobs in this state; may be repeated."
)
@click.option("-a", "--active", is_flag=True, help="Only jobs that are queued or running.")
@click.option("--search", help="Only jobs whose name or description contains this.")
@click.option("--tag", help="Only jobs with this tag.")
@click.option("--trash", is_flag=True, help="Jobs in the trash; `footplate restore` restores them.")
@click.option("--sort", help="Field to sort by; a leading - sorts descending.")
@click.option(
    "-n", "--limit", type=click.IntRange(1), default=50, show_default=True, help="Maximum number of jobs."
)
@click.option("--all", "everything", is_flag=True, help="No maximum.")
@click.option("-w", "--watch", is_flag=True, help="Keep the list up to date until Ctrl-C.")
@json_option
@click.pass_context
def list_jobs(
    ctx: click.Context,
    /,
    mine: bool,
    owner: str | None,
    states: tuple[JobState, ...],
    active: bool,
    limit: int,
    everything: bool,
    watch: bool,
    as_json: bool,
    **filters: str | None,
) -> None:
    """List jobs, newest first."""
    if watch and (as_json or not is_terminal()):
        ctx.fail(phrase("--watch needs a terminal; `footplate events -f` prints each event as a line"))
    client = connect()
    chosen: dict[str, Any] = {
        **filters,
        "owner": client.whoami()["name"] if mine else owner,
        "state": sorted({*states, *(ACTIVE_STATES if active else ())}),
        # One more than is shown tells whether there are more.
        "limit": None if everything else limit + 1,
    }
    if watch:
        _watch(client, {**chosen, "limit": None if everything else limit})
        return
    found = _found(client, chosen)
    jobs = found if everything else found[:limit]
    is_cut = len(found) > len(jobs)
    if as_json:
        print_json({"items": jobs, "is_cut": is_cut})
    else:
        columns, expendable = _columns(jobs)
        print_table(columns, [_row(job, columns) for job in jobs], phrase(EMPTY), expendable)
    if is_cut:
        cut = phrase(
            "These are the first {limit}; there are more: -n {more}, or --all", limit=limit, more=limit * 4
        )
        click.echo(cut, err=True)


def _watch(client: Client, filters: Mapping[str, Any]) -> None:
    """Draw the list again and again; a server that goes away is waited for."""
    from footplate.cli.screen import FullScreen
    from footplate.sdk.errors import Unreachable

    jobs, note = _found(client, filters), ""
    try:
        with FullScreen(sys.stdout) as screen:
            while True:
                screen.draw(_page(jobs, note))
                time.sleep(WATCH_EVERY_S)
                try:
                    jobs, note = _found(client, filters), ""
                except Unreachable as error:
                    note = told(error.said)
    except KeyboardInterrupt:
        return


def _found(client: Client, filters: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [job.data for job in client.jobs(**filters)]


def _page(jobs: list[Mapping[str, Any]], note: str) -> list[str]:
    now = time.strftime("%H:%M:%S")
    heading = phrase("{now}  every {seconds} s; Ctrl-C to quit", now=now, seconds=WATCH_EVERY_S)
    width = shutil.get_terminal_size().columns
    columns, expendable = _columns(jobs)
    rows = [_row(job, columns) for job in jobs]
    table = lay_out(columns, rows, width, expendable) if rows else [phrase(EMPTY)]
    return [click.style(heading, dim=True), click.style(note, fg="red"), *table]


def _columns(jobs: Sequence[Mapping[str, Any]]) -> tuple[Sequence[str], Sequence[str]]:
    """The columns to show, and those that can be missed; descriptions only where there are any."""
    if any(job["description"] for job in jobs):
        return COLUMNS, EXPENDABLE
    without = [[name for name in names if name != "DESCRIPTION"] for names in (COLUMNS, EXPENDABLE)]
    return without[0], without[1]


def _row(job: Mapping[str, Any], columns: Sequence[str]) -> Row:
    n_tasks, resources = job["n_tasks"], job["resources"]
    cells = {
        "ID": job["id"],
        "NAME": job["name"],
        "STATE": job["state"],
        "QUEUE": job["queue"],
        "OWNER": job["owner"],
        "RESOURCES": show_request(resources, n_tasks) if n_tasks > 1 else show_amount(resources),
        "SUBMITTED": show_time(job["submitted_at"]),
        "RUN TIME": show_span(job["run_time_s"]),
        "DESCRIPTION": job["description"],
        "REASON": told_in(job["reason"]),
    }
    return [cells[name] for name in columns]
