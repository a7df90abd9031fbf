"""The verb events: what happened to a job, or on the whole platform."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import indent
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.reader import told_in
from footplate.cli.render import show_time
from footplate.cli.session import INTERRUPTED, complete_job, connect, json_option, print_json_line


@click.command()
@click.argument("job", required=False, shell_complete=complete_job)
@click.option(
    "-f",
    "--follow",
    "is_following",
    is_flag=True,
    help="Follow new events until the job is over; for the platform, from now until Ctrl-C.",
)
@click.option("--after", type=click.IntRange(0), help="Only events after this number.")
@json_option
def events(job: str | None, is_following: bool, after: int | None, as_json: bool) -> int:
    """Print the events of one job, or of the whole platform."""
    source = connect().job(job) if job else connect()
    try:
        for event in source.events(after, is_following):
            print_json_line(event) if as_json else click.echo(_told(event, with_job=job is None))
    except KeyboardInterrupt:
        return INTERRUPTED if job or not is_following else 0
    return 0


def _told(event: Mapping[str, Any], with_job: bool) -> str:
    """One line; for one job, with the stacks of its tasks below where they were taken."""
    line = _line(event, with_job)
    stacks = {} if with_job else event.get("data", {}).get("stacks", {})
    return "\n".join([line, *(_indented(task, text) for task, text in stacks.items())])


def _indented(task: str, stack: str) -> str:
    return indent(f"{task}\n{indent(stack.strip(), '  ')}", "    ")


def _line(event: Mapping[str, Any], with_job: bool) -> str:
    about = f"{event['job_id'] or '-'}  " if with_job else ""
    actor = phrase(" (by {user})", user=event["actor"]) if event.get("actor") else ""
    return f"{show_time(event['at'])}  {about}{event['kind']}: {told_in(event)}{actor}"
