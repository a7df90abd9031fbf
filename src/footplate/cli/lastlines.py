"""The last lines of a failed task: mostly they say why the job failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.cells import printable
from footplate.cli.language import phrase
from footplate.domain.errors import FootplateError

if TYPE_CHECKING:
    from footplate.sdk.job import Job

N_LINES = 15


def last_lines(job: Job) -> list[str]:
    """How the log of the task ends that failed first; nothing where none has failed or printed."""
    task = job.failed_task
    if task is None:
        return []
    try:
        lines = list(job.logs(task=task, tail=N_LINES))
    except FootplateError:
        # The job is told all the same; its log may be gone, or may not be for this reader.
        return []
    return [printable(line) for line in lines[-N_LINES:]]


def print_last_lines(job: Job, *, is_beside: bool = False) -> None:
    """Print how the log of a failed task ends, below what was said of the job."""
    lines = last_lines(job)
    if lines:
        click.echo(phrase("Last lines of {task}:", task=job.failed_task), err=is_beside)
    for line in lines:
        click.echo(f"  {line}", err=is_beside)
