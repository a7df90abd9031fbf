"""The verb show: all about one job, and what to type next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.cells import one_line
from footplate.cli.estimates import show_estimate, show_use
from footplate.cli.hints import hint_for
from footplate.cli.jobfields import MAIN, configured
from footplate.cli.language import phrase
from footplate.cli.lastlines import last_lines
from footplate.cli.reader import told, told_in
from footplate.cli.render import (
    print_fields,
    print_hints,
    show_between,
    show_request,
    show_span,
    show_state,
    show_time,
)
from footplate.cli.session import connect, job_argument, json_option, print_json
from footplate.cli.table import Row, print_table
from footplate.domain.messages import say
from footplate.domain.resources import show_bytes
from footplate.domain.states import JobState

if TYPE_CHECKING:
    from footplate.sdk.job import Job

ATTEMPTS = ("ATTEMPT", "STATE", "RUN TIME", "REASON")
STEPS = ("STEP", "TIME", "DURATION", "DETAIL")
TASKS = ("TASK", "STATE", "NODE", "ADDRESS", "GPUS", "PORTS", "EXIT CODE", "DETAIL")
RUNS = ("TASK", "RUN", "ENDED", "DETAIL")


@click.command()
@job_argument
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the job file, to be submitted again.")
@json_option
def show(job: str, as_yaml: bool, as_json: bool) -> None:
    """Show one job: state, reason, command, variables, code, resources, times, steps, attempts, tasks.

    With --json the API's answer, and beside it the job's attempts and steps.
    """
    found = connect().job(job)
    if as_yaml:
        _print_file(found)
        return
    if not found.data["is_readable"]:
        _show_outline(found, as_json)
        return
    steps = found.steps()
    if as_json:
        print_json({**found.data, "attempts": found.attempts(), "steps": steps})
        return
    used = {phrase("Used"): show_use(found.cost())} if found.data["started_at"] else {}
    print_fields({**_fields(found.data, steps, last_lines(found)), **used})
    _print_below(STEPS, [_step_row(step) for step in steps])
    _print_below(ATTEMPTS, [_attempt_row(one) for one in found.attempts()] if found.attempt else [])
    click.echo()
    asked = _asked_ports(found.data.get("config") or {})
    print_table(
        TASKS,
        [_task_row(task, asked) for task in found.tasks],
        phrase("No tasks."),
        expendable=("PORTS", "GPUS", "NODE"),
    )
    _print_below(RUNS, _run_rows(found))
    click.echo()
    print_hints(hints_for(found))


def _print_file(job: Job) -> None:
    from footplate.domain.redact import HIDDEN
    from footplate.wire.documents import dump

    text = dump(job.config())
    click.echo(text, nl=False)
    if HIDDEN in text:
        hidden = phrase("Hidden values ({stars}) are not in this file; a clone has them:", stars=HIDDEN)
        click.echo(f"{hidden} footplate clone {job.id}", err=True)


def _show_outline(job: Job, as_json: bool) -> None:
    """Show what everybody in the queue sees of a job that is private to others."""
    if as_json:
        print_json({**job.data, "attempts": [], "steps": []})
        return
    print_fields(_fields(job.data))
    click.echo()
    private = say("job_private", job=job.id, owner=job.data["owner"], queue=job.queue)
    click.echo(told(private))
    click.echo(f"  {hint_for(private)}")


def _print_below(columns: Sequence[str], rows: Sequence[Row]) -> None:
    if rows:
        click.echo()
        print_table(columns, rows, "")


def _fields(
    data: Mapping[str, Any], steps: Sequence[Mapping[str, Any]] = (), last: Sequence[str] = ()
) -> Mapping[str, str]:
    used = {"n": data["attempt"], "used": data["retries_used"], "retry": data["retry"]}
    retries = phrase("{n} ({used} of {retry} retries used)", **used)
    queue = phrase("{queue}, priority {priority}", queue=data["queue"], priority=data["priority"])
    return {
        phrase("Job"): f"{data['name']}  ({data['id']})",
        phrase("State"): show_state(data["state"])
        + (phrase(" (being deleted)") if data["is_deleting"] else ""),
        phrase("Reason"): told_in(data["reason"]),
        phrase("Last lines"): "\n".join(last),
        phrase("Step"): one_line(told_in(steps[-1])) if steps and data["state"] == JobState.STARTING else "",
        phrase("Expected start"): show_estimate(data.get("estimate")),
        phrase("Kept until"): show_time(data.get("kept_until")),
        phrase("In trash since"): show_time(data.get("deleted_at")),
        phrase("Description"): data["description"],
        phrase("Owner"): data["owner"],
        phrase("Shared"): phrase("with everybody in the queue") if data["is_shared"] else "",
        phrase("Queue"): queue,
        phrase("Resources"): show_request(data["resources"], data["n_tasks"]),
        **configured(data.get("config") or {}),
        phrase("Results"): _results(data.get("results")) or _output(data),
        phrase("Attempt"): retries if data["retry"] else "",
        phrase("Tags"): ", ".join(data["tags"]),
        phrase("Submitted"): show_time(data["submitted_at"]),
        phrase("Started"): show_time(data["started_at"]),
        phrase("Running since"): show_time(data["running_at"]),
        phrase("Finished"): show_time(data["finished_at"]),
        phrase("Run time"): show_span(data["run_time_s"]),
    }


def _results(results: Mapping[str, Any] | None) -> str:
    """Say where results are, and how far that is."""
    if not results:
        return ""
    place = f"{results['storage']}:{results['path']}"
    if results["error"]:
        return phrase("{place} (not saved yet: {why})", place=place, why=told_in(results["error"]))
    if results["saved_at"] is None:
        return phrase("{place} (nothing saved yet)", place=place)
    facts = {
        "place": place,
        "n": results["n_files"],
        "size": show_bytes(results["size_bytes"]),
        "at": show_time(results["saved_at"]),
    }
    return phrase("{place} ({n:file|files}, {size}, saved {at})", **facts)


def _output(data: Mapping[str, Any]) -> str:
    """Say where results are of a job that names no storage for them."""
    if data["started_at"] is None or not data["is_readable"]:
        return ""
    return phrase("with the job, as its tasks wrote them to $FOOTPLATE_OUTPUT_DIR")


def _step_row(step: Mapping[str, Any]) -> Row:
    took = show_span(step["seconds"]) if step["is_done"] else phrase("not finished")
    return step["step"], show_time(step["at"]), took, told_in(step)


def _attempt_row(attempt: Mapping[str, Any]) -> Row:
    ran = show_between(attempt["running_at"] or attempt["started_at"], attempt["finished_at"])
    return attempt["number"], attempt["state"], ran, told_in(attempt["reason"])


def _asked_ports(config: Mapping[str, Any]) -> Mapping[tuple[str, str], int]:
    """Say where ports were to begin, by role and label."""
    return {
        (role.get("name", MAIN), port["label"]): port["begin_at"]
        for role in config.get("roles") or ()
        for port in role.get("ports") or ()
        if port.get("begin_at")
    }


def _port(label: str, numbers: Sequence[int], asked: int | None) -> str:
    moved = phrase("(not {port})", port=asked) if asked and numbers and numbers[0] != asked else ""
    return f"{label}:{','.join(map(str, numbers))}{moved}"


def _task_row(task: Mapping[str, Any], asked: Mapping[tuple[str, str], int]) -> Row:
    ports = " ".join(
        _port(label, numbers, asked.get((task["role"], label))) for label, numbers in task["ports"].items()
    )
    exit_code = "" if task["exit_code"] is None else str(task["exit_code"])
    gpus = ",".join(map(str, task["gpus"]))
    where = (task["node"] or "", task["address"] or "")
    return task["name"], task["state"], *where, gpus, ports, exit_code, told_in(task["detail"])


def _run_rows(job: Job) -> list[Row]:
    """List how tasks that were started again by themselves have ended before."""
    again = {task["name"] for task in job.tasks if task.get("run")}
    if not again:
        return []
    ends: dict[str, list[Row]] = {name: [] for name in again}
    for event in job.events_of("task_exited", "task_lost"):
        name = event["data"].get("task")
        if name in again and event["attempt"] == job.attempt:
            rows = ends[name]
            rows.append((name, len(rows), show_time(event["at"]), told_in(event)))
    return [row for name in sorted(ends) for row in ends[name]]


def hints_for(job: Job) -> Mapping[str, str]:
    """Say what can be done next with a job."""
    if job.data.get("deleted_at"):
        return {phrase("restore"): f"footplate restore {job.id}"}
    if job.data.get("kept_until"):
        return {
            phrase("enter"): f"footplate exec {job.id} -- ls -l",
            phrase("log"): f"footplate logs {job.id}",
            phrase("release"): f"footplate release {job.id}",
        }
    if job.is_final:
        return {
            phrase("log"): f"footplate logs {job.id}",
            phrase("files"): f"footplate files {job.id}",
            phrase("run again"): f"footplate clone {job.id}",
            phrase("delete"): f"footplate delete {job.id}",
        }
    return {
        phrase("follow"): f"footplate logs -f {job.id}",
        phrase("details"): f"footplate show {job.id}",
        phrase("stop"): f"footplate stop {job.id}",
    }
