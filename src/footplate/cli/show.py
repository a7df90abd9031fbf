"""The verb show: all about one job, and what to type next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.render import (
    print_fields,
    print_hints,
    show_amount,
    show_between,
    show_count,
    show_span,
    show_state,
    show_time,
)
from footplate.cli.session import connect, job_argument, json_option, print_json
from footplate.cli.table import Row, print_table

if TYPE_CHECKING:
    from footplate.sdk.job import Job

ATTEMPTS = ("ATTEMPT", "STATE", "RAN", "WHY")
TASKS = ("TASK", "STATE", "NODE", "GPUS", "PORTS", "EXIT", "DETAIL")


@click.command()
@job_argument
@json_option
def show(job: str, as_json: bool) -> None:
    """Show one job: state and why, resources, times, attempts, tasks."""
    found = connect().job(job)
    if as_json:
        print_json(found.data)
        return
    print_fields(_fields(found.data))
    if found.attempt > 0:
        click.echo()
        print_table(ATTEMPTS, [_attempt_row(one) for one in found.attempts()], "No attempt has started.")
    click.echo()
    print_table(TASKS, [_task_row(task) for task in found.tasks], "No tasks.", expendable=("PORTS", "GPUS"))
    click.echo()
    print_hints(hints_for(found))


def _fields(data: Mapping[str, Any]) -> Mapping[str, str]:
    retries = f"{data['attempt']} ({data['retries_used']} of {data['retry']} retries used)"
    return {
        "Job": f"{data['name']}  ({data['id']})",
        "State": show_state(data["state"]) + (" (being deleted)" if data["is_deleting"] else ""),
        "Why": data["reason"]["message"],
        "Starts": _estimate(data.get("estimate")),
        "Kept until": show_time(data.get("kept_until")),
        "In the trash since": show_time(data.get("deleted_at")),
        "Description": data["description"],
        "Owner": data["owner"],
        "Queue": f"{data['queue']}, priority {data['priority']}",
        "Asks for": f"{show_amount(data['resources'])} in {show_count(data['n_tasks'], 'task')}",
        "Attempt": retries if data["retry"] else "",
        "Parameters": _parameters(data.get("config") or {}),
        "Tags": ", ".join(data["tags"]),
        "Submitted": show_time(data["submitted_at"]),
        "Started": show_time(data["started_at"]),
        "Running": show_time(data["running_at"]),
        "Finished": show_time(data["finished_at"]),
        "Ran": show_span(data["run_time_s"]),
    }


def _parameters(config: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in (config.get("parameters") or {}).items())


def _estimate(estimate: Mapping[str, Any] | None) -> str:
    """Say when a waiting job is expected to start, as far as that is known."""
    if estimate is None:
        return ""
    expected, latest = estimate["expected_at"], estimate["latest_at"]
    parts = [
        f"expected {show_time(expected)}" if expected else "",
        f"by {show_time(latest)}" if latest else "",
    ]
    times = ", ".join(part for part in parts if part)
    return f"{times} ({estimate['basis']})" if times else str(estimate["basis"])


def _attempt_row(attempt: Mapping[str, Any]) -> Row:
    ran = show_between(attempt["running_at"] or attempt["started_at"], attempt["finished_at"])
    return attempt["number"], attempt["state"], ran, attempt["reason"]["message"]


def _task_row(task: Mapping[str, Any]) -> Row:
    ports = " ".join(f"{label}:{','.join(map(str, numbers))}" for label, numbers in task["ports"].items())
    exit_code = "" if task["exit_code"] is None else str(task["exit_code"])
    gpus = ",".join(map(str, task["gpus"]))
    return task["name"], task["state"], task["node"] or "", gpus, ports, exit_code, task["detail"] or ""


def hints_for(job: Job) -> Mapping[str, str]:
    """Say what can be done next with a job."""
    if job.data.get("deleted_at"):
        return {"take it out of the trash": f"footplate restore {job.id}"}
    if job.data.get("kept_until"):
        return {
            "look inside": f"footplate exec {job.id} -- ls -l",
            "its log": f"footplate logs {job.id}",
            "give it up": f"footplate release {job.id}",
        }
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
