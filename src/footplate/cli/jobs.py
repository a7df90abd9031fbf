"""Verbs on jobs that exist: list, show, wait, stop, clone, edit, delete."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.render import (
    fitted_table,
    is_terminal,
    print_fields,
    print_hints,
    print_table,
    show_age,
    show_amount,
    show_count,
    show_span,
    show_state,
    show_time,
)
from footplate.cli.session import connect, duration, job_argument, jobs_argument, json_option, print_json
from footplate.domain.states import ACTIVE_STATES, JobState

if TYPE_CHECKING:
    from footplate.sdk.client import Client
    from footplate.sdk.job import Job

WATCH_EVERY_S = 2.0
COLUMNS = ("ID", "NAME", "STATE", "QUEUE", "OWNER", "ASKS FOR", "AGE", "RAN", "WHY")

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
        raise click.BadParameter(f"{text!r} is none of {', '.join(JobState)}")
    return _STATE_ALIASES.get(word) or JobState(word)


@click.command("list")
@click.option("-q", "--queue", help="Only jobs of this queue.")
@click.option("-u", "--owner", help="Only jobs of this user.")
@click.option("-m", "--mine", is_flag=True, help="Only my jobs.")
@click.option(
    "-s", "--state", "states", type=state, multiple=True, help="Only jobs in this state; may be repeated."
)
@click.option("-a", "--active", is_flag=True, help="Only jobs that wait or run.")
@click.option("--search", help="Only jobs whose name or description contains this.")
@click.option("--tag", help="Only jobs with this tag.")
@click.option("--sort", help="Field to sort by, with - before it for the largest first.")
@click.option(
    "-n", "--limit", type=click.IntRange(1), default=50, show_default=True, help="At most this many."
)
@click.option("--all", "everything", is_flag=True, help="As many as there are.")
@click.option("-w", "--watch", is_flag=True, help="Keep the list up to date until Ctrl-C.")
@json_option
def list_jobs(
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
    client = connect()
    chosen: dict[str, Any] = {
        **filters,
        "owner": client.whoami()["name"] if mine else owner,
        "state": sorted({*states, *(ACTIVE_STATES if active else ())}),
        "limit": None if everything else limit,
    }
    if watch and is_terminal() and not as_json:
        _watch(client, chosen)
        return
    jobs = [job.data for job in client.jobs(**chosen)]
    if as_json:
        print_json({"items": jobs, "next_page_token": None})
        return
    print_table(COLUMNS, [_row(job) for job in jobs], "No jobs match. Submit one: footplate submit job.yaml")
    if not everything and len(jobs) == limit and is_terminal():
        click.echo(f"(the first {limit}; --all shows every job)")


def _watch(client: Client, filters: Mapping[str, Any]) -> None:
    from rich.live import Live

    def table() -> Any:
        return fitted_table(COLUMNS, [_row(job.data) for job in client.jobs(**filters)])

    with Live(table(), auto_refresh=False, screen=True) as live:
        while True:
            time.sleep(WATCH_EVERY_S)
            live.update(table(), refresh=True)


def _row(job: Mapping[str, Any]) -> Sequence[str]:
    return (
        job["id"],
        job["name"],
        job["state"],
        job["queue"],
        job["owner"],
        show_amount(job["resources"]) + (f" in {job['n_tasks']} tasks" if job["n_tasks"] > 1 else ""),
        show_age(job["submitted_at"]),
        show_span(job["run_time_s"]),
        _why(job),
    )


def _why(job: Mapping[str, Any]) -> str:
    message = str(job["reason"]["message"])
    if job["state"] == JobState.QUEUED and job.get("position"):
        return f"{show_count(job['position'], 'job')} ahead; {message}"
    return message


@click.command()
@job_argument
@json_option
def show(job: str, as_json: bool) -> None:
    """Show one job: state and why, resources, times, tasks."""
    found = connect().job(job)
    if as_json:
        print_json(found.data)
        return
    _print_job(found)


def _print_job(job: Job) -> None:
    data = job.data
    retries = (
        f"{data['attempt']} ({data['retries_used']} of {data['retry']} retries used)" if data["retry"] else ""
    )
    print_fields(
        {
            "Job": f"{data['name']}  ({data['id']})",
            "State": show_state(data["state"]) + (" (being deleted)" if data["is_deleting"] else ""),
            "Why": _why(data),
            "Description": data["description"],
            "Owner": data["owner"],
            "Queue": f"{data['queue']}, priority {data['priority']}",
            "Asks for": f"{show_amount(data['resources'])} in {show_count(data['n_tasks'], 'task')}",
            "Attempt": retries,
            "Tags": ", ".join(data["tags"]),
            "Submitted": show_time(data["submitted_at"]),
            "Started": show_time(data["started_at"]),
            "Running": show_time(data["running_at"]),
            "Finished": show_time(data["finished_at"]),
            "Ran": show_span(data["run_time_s"]),
        }
    )
    click.echo()
    print_table(
        ("TASK", "STATE", "NODE", "GPUS", "PORTS", "EXIT", "DETAIL"), [_task_row(t) for t in job.tasks], ""
    )
    click.echo()
    print_hints(hints_for(job))


def _task_row(task: Mapping[str, Any]) -> Sequence[str]:
    ports = " ".join(f"{label}:{','.join(map(str, numbers))}" for label, numbers in task["ports"].items())
    exit_code = "" if task["exit_code"] is None else str(task["exit_code"])
    gpus = ",".join(map(str, task["gpus"]))
    return task["name"], task["state"], task["node"] or "", gpus, ports, exit_code, task["detail"] or ""


def hints_for(job: Job) -> Mapping[str, str]:
    """Say what can be done next with a job."""
    if job.is_final:
        return {
            "its log": f"footplate logs {job.id}",
            "again": f"footplate clone {job.id}",
            "delete it": f"footplate delete {job.id}",
        }
    return {
        "watch it": f"footplate logs -f {job.id}",
        "details": f"footplate show {job.id}",
        "stop it": f"footplate stop {job.id}",
    }


@click.command()
@job_argument
@click.option("-t", "--timeout", type=duration, help="Give up after this long, such as 10m.")
@json_option
def wait(job: str, timeout: int | None, as_json: bool) -> int:
    """Wait for a job's end; the exit code is 0 only if it succeeded."""
    from footplate.cli.follow import outcome

    found = connect().job(job).wait(timeout)
    if as_json:
        print_json(found.data)
    else:
        click.echo(f"{found.name} ({found.id}) {show_state(found.state)}: {found.reason.message}")
    return outcome(found.state, found.exit_code)


@click.command()
@jobs_argument
@click.option(
    "-w", "--wait", "is_waiting", is_flag=True, help="Return when nothing of the jobs runs any more."
)
@json_option
def stop(jobs: tuple[str, ...], is_waiting: bool, as_json: bool) -> None:
    """Stop jobs: politely first, by force after their grace time."""
    client = connect()
    stopped = []
    for name in jobs:
        job = client.job(name)
        was_over = job.is_final
        if not was_over:
            job.stop()
        if is_waiting:
            job.wait()
        stopped.append(job.data)
        if not as_json:
            what = (
                "was over already" if was_over else "is asked to stop" if not job.is_final else "is stopped"
            )
            click.echo(f"{job.name} ({job.id}) {what}: {show_state(job.state)}")
    if as_json:
        print_json(stopped[0] if len(stopped) == 1 else {"items": stopped})


@click.command()
@job_argument
@click.option("-n", "--name", help="Name of the new job.")
@click.option("-q", "--queue", help="Queue of the new job.")
@click.option("--priority", type=int, help="Priority of the new job.")
@click.option("--description", help="Description of the new job.")
@click.option("--retry", type=int, help="Retries of the new job.")
@click.option("--time-limit", help="Longest run time of the new job, such as 2h.")
@json_option
def clone(job: str, name: str | None, as_json: bool, **fields: Any) -> None:
    """Submit a job again, with some fields changed."""
    client = connect()
    origin = client.job(job)
    changes = {field: value for field, value in fields.items() if value is not None}
    made = origin.clone(name or client.free_name(origin.name), **changes)
    if as_json:
        print_json(made.data)
        return
    click.echo(f"Submitted {made.name} as {made.id}, a clone of {origin.name} ({origin.id}).")
    print_hints(hints_for(made))


@click.command()
@job_argument
@click.option("-n", "--name", help="New name.")
@click.option("-d", "--description", help="New description.")
@click.option("--priority", type=int, help="New priority; higher starts first.")
@json_option
@click.pass_context
def edit(ctx: click.Context, /, job: str, as_json: bool, **fields: Any) -> None:
    """Change a job's name, description or priority."""
    if all(value is None for value in fields.values()):
        ctx.fail("say what to change: --name, --description or --priority")
    edited = connect().job(job).edit(**fields)
    if as_json:
        print_json(edited.data)
    else:
        changed = ", ".join(field for field, value in fields.items() if value is not None)
        click.echo(f"Changed {changed} of {edited.name} ({edited.id}).")


@click.command()
@jobs_argument
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def delete(jobs: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Delete jobs with their logs and files; those that run are stopped first."""
    client = connect()
    found = [client.job(name) for name in jobs]
    if not yes:
        names = ", ".join(f"{job.name} ({job.state})" for job in found)
        click.confirm(f"Delete {names} with logs and files?", abort=True, err=True)
    gone = {job.id: job.delete() for job in found}
    if as_json:
        print_json({"items": [{"id": job.id, "name": job.name, "is_deleted": gone[job.id]} for job in found]})
        return
    for job in found:
        click.echo(f"{job.name} ({job.id}) is {_fate(job, gone[job.id])}.")


def _fate(job: Job, is_gone: bool) -> str:
    if is_gone:
        return "deleted"
    return "being deleted" if job.is_final else "being stopped and then deleted"
