"""The verb run-local: a job file on this machine, without a server."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.follow import outcome, task_prefix
from footplate.cli.joboptions import job_options, overrides_in
from footplate.cli.language import phrase
from footplate.cli.render import show_state
from footplate.cli.session import INTERRUPTED
from footplate.cli.submit import DEFAULT_FILE
from footplate.domain.errors import InvalidInput
from footplate.domain.exitcode import exit_code_of
from footplate.domain.messages import Message
from footplate.domain.states import JobState, ReasonCode
from footplate.sdk.lines import Lines

if TYPE_CHECKING:
    from footplate.domain.job import Job
    from footplate.domain.spec import JobSpec
    from footplate.sdk.submission import Submission


@click.command("run-local")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@click.argument("code_dir", required=False, type=click.Path(exists=True))
@click.option("--nodes", "n_nodes", type=click.IntRange(1, 64), default=1, help="Nodes to stand in for.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False),
    help="Keep the files of the job here (default: a temporary folder).",
)
@job_options
def run_local(
    file: str | None, code_dir: str | None, n_nodes: int, folder: str | None, **overrides: Any
) -> int:
    """Run FILE (default: footplate.yaml) on this machine, without a server.

    The file, the parameters, the variables, ranks and ports of tasks are those of the platform. What would
    differ there is told first. Ctrl-C ends all tasks; the exit code is that of the job.
    """
    # What only this verb needs takes time to load.
    from footplate.domain.jobfile import read_job
    from footplate.rehearsal.placing import require_runnable
    from footplate.sdk.submission import prepare

    asked = file or DEFAULT_FILE
    submission = prepare(asked, code_dir, **overrides_in(overrides))
    if submission.original:
        raise InvalidInput("rehearse_foreign", file=asked)
    spec = read_job(_document(submission))
    require_runnable(spec)
    return _run(spec, submission, n_nodes, folder)


def _document(submission: Submission) -> dict[str, Any]:
    """Leave out where the code is: it is put down here, and not fetched from anywhere."""
    document = dict(submission.document)
    if submission.code is not None:
        document.pop("code", None)
    return document


def _run(spec: JobSpec, submission: Submission, n_nodes: int, folder: str | None) -> int:
    from footplate.rehearsal.differences import differences
    from footplate.rehearsal.folders import Folders
    from footplate.rehearsal.machine import busy_ports, cards_here
    from footplate.rehearsal.placing import place
    from footplate.rehearsal.run import Rehearsal

    cards = cards_here()
    placement = place(spec, n_nodes, cards, busy_ports(spec))
    _print_differences(differences(spec, cards, os.environ))
    root = Path(folder or tempfile.mkdtemp(prefix=f"footplate-{spec.name[:40]}-")).resolve()
    folders, is_kept = Folders(root), folder is not None
    printed = Printed(names_tasks=spec.n_tasks > 1)
    try:
        folders.take_code(submission.code)
        job = Rehearsal(spec, placement, folders, printed.show, printed.tell).run()
        is_kept = is_kept or folders.has_results
    finally:
        printed.finish()
        if not is_kept:
            shutil.rmtree(root, ignore_errors=True)
    return _end(job, root if is_kept else None)


def _print_differences(found: Iterable[Message]) -> None:
    click.echo(phrase("On this machine, other than on the platform:"), err=True)
    for one in found:
        click.echo(f"· {one}", err=True)


class Printed:
    """Standard output with the lines of tasks, standard error with what becomes of the job."""

    def __init__(self, names_tasks: bool) -> None:
        self._names_tasks = names_tasks
        self._lines: dict[str, Lines] = {}
        self._lock = threading.Lock()

    def show(self, task: str, text: str) -> None:
        with self._lock:
            self._write(task, self._lines.setdefault(task, Lines()).feed(text))

    def finish(self) -> None:
        with self._lock:
            for task, lines in self._lines.items():
                self._write(task, lines.finish())

    def tell(self, job: Job) -> None:
        with self._lock:
            click.echo(f"· {show_state(job.state)}: {job.reason.said}", err=True)

    def _write(self, task: str, lines: Iterable[str]) -> None:
        prefix = task_prefix(task) if self._names_tasks else ""
        sys.stdout.write("".join(f"{prefix}{line}\n" for line in lines))
        sys.stdout.flush()


def _end(job: Job, kept: Path | None) -> int:
    if kept is not None:
        click.echo(phrase("The files of the job are in {folder}", folder=kept), err=True)
    if job.state is JobState.STOPPED and job.reason.code is ReasonCode.STOPPED_BY_USER:
        return INTERRUPTED
    codes = [task.exit_code for task in job.tasks]
    return outcome(job.state, exit_code_of(job.state, job.reason, codes))
