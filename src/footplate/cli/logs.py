"""The verb logs: what a job prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.language import phrase
from footplate.cli.render import named
from footplate.cli.session import INTERRUPTED, connect, job_argument, json_option, print_json_line, tell
from footplate.domain.errors import Denied
from footplate.domain.states import JobState

if TYPE_CHECKING:
    from footplate.sdk.job import Job


@click.command()
@job_argument
@click.option(
    "-f",
    "--follow",
    "is_following",
    is_flag=True,
    help="Follow new output until the job is over; Ctrl-C leaves the job running.",
)
@click.option("--metrics", "is_metrics", is_flag=True, help="Print metrics instead of logs.")
@click.option("-n", "--tail", type=click.IntRange(0), help="Only the last N lines.")
@click.option(
    "--since", help="Only newer entries: a duration such as 10m, or a time such as 2030-01-31T18:00."
)
@click.option("-t", "--task", help="Only this task, such as worker-0.")
@click.option("-a", "--attempt", type=click.IntRange(0), help="This attempt instead of the current one.")
@click.option("--raw", is_flag=True, help="Raw output: keep carriage returns, omit task names.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="Save the complete log of a task to this file, byte for byte.",
)
@json_option
@click.pass_context
def logs(
    ctx: click.Context,
    /,
    job: str,
    is_following: bool,
    is_metrics: bool,
    output: str | None,
    **choice: Any,
) -> int:
    """Print the logs of a job: of all its tasks, or of one."""
    if is_metrics:
        from footplate.cli.metrics import metrics

        return int(ctx.invoke(metrics, job=job, is_following=is_following, as_json=choice["as_json"]))
    if output and is_following:
        ctx.fail(phrase("--output saves the log as it is now; it cannot be combined with --follow"))
    found = connect().job(job)
    if not found.data["is_readable"]:
        raise Denied("job_private", job=found.id, owner=found.data["owner"], queue=found.queue)
    if output:
        return _store(ctx, found, output, choice)
    if is_following:
        return _follow(found, choice)
    return _print(found, choice)


def _follow(job: Job, choice: Mapping[str, Any]) -> int:
    from footplate.cli.follow import follow

    tasks = [choice["task"]] if choice["task"] else []
    events = job.follow(tasks, choice["attempt"], choice["tail"], choice["since"])
    ended = follow(job, events, of_one_task=bool(tasks), raw=choice["raw"], as_json=choice["as_json"])
    return 0 if ended else INTERRUPTED


def _print(job: Job, choice: Mapping[str, Any]) -> int:
    if _print_attempt(job, choice) or choice["as_json"]:
        return 0
    if _print_earlier(job, choice):
        return 0
    said = {"job": named(job), "state": job.state}
    is_part = choice["since"] or choice["tail"] is not None
    if is_part and _print_attempt(job, {**choice, "since": None, "tail": None}, is_silent=True):
        click.echo(phrase("{job} has printed nothing that was asked for", job=named(job)), err=True)
    elif job.state is JobState.SUCCEEDED:
        click.echo(phrase("{job} is {state} and printed nothing", **said), err=True)
    elif job.is_final:
        why = job.reason.said
        click.echo(phrase("{job} is {state} and printed nothing: {why}", **said, why=why), err=True)
    else:
        empty = phrase("{job} is {state} and has no output yet: {why}", **said, why=job.doing())
        click.echo(empty, err=True)
    return 0


def _print_earlier(job: Job, choice: Mapping[str, Any]) -> bool:
    """Print what the last attempt that printed something has printed, where the current one has not yet."""
    if choice["attempt"] is not None:
        return False
    for attempt in range(job.attempt - 1, -1, -1):
        if _print_attempt(job, {**choice, "attempt": attempt}):
            said = {"now": job.attempt, "before": attempt}
            told = phrase("Attempt {now} has no output yet; this is that of attempt {before}.", **said)
            click.echo(told, err=True)
            return True
    return False


def _print_attempt(job: Job, choice: Mapping[str, Any], is_silent: bool = False) -> bool:
    """Print what an attempt has printed; tell whether that was anything."""
    from footplate.sdk.lines import Lines

    tasks = [choice["task"]] if choice["task"] else [task["name"] for task in job.tasks]
    is_empty = True
    for task in tasks:
        prefix = f"{task} | " if len(tasks) > 1 and not choice["raw"] else ""
        lines = Lines()
        for text in job.log_text(task, choice["attempt"], choice["tail"], choice["since"], choice["raw"]):
            is_empty = is_empty and not text
            if is_silent:
                continue
            if choice["as_json"]:
                print_json_line({"task": task, "attempt": choice["attempt"], "text": text})
            elif not prefix:
                click.echo(text, nl=False)
            else:
                _echo_lines(prefix, lines.feed(text))
        _echo_lines(prefix, lines.finish())
    return not is_empty


def _echo_lines(prefix: str, lines: list[str]) -> None:
    if lines:
        click.echo("\n".join(prefix + line for line in lines))


def _store(ctx: click.Context, job: Job, path: str, choice: Mapping[str, Any]) -> int:
    tasks = [task["name"] for task in job.tasks]
    if choice["task"] is None and len(tasks) > 1:
        some = {"job": job.name, "n": len(tasks), "tasks": ", ".join(tasks[:8])}
        ctx.fail(phrase("{job} has {n} tasks; name one with --task: {tasks}", **some))
    task = choice["task"] or tasks[0]
    stored = job.download_log(path, task, choice["attempt"])
    size_bytes = stored.stat().st_size
    data = {"path": str(stored), "task": task, "size_bytes": size_bytes}
    told = phrase("Saved the log of {task} of {job} to {path} ({size_bytes} bytes).", job=job.name, **data)
    tell(data, told, choice["as_json"])
    return 0
