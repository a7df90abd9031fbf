"""Verbs about the end of jobs: halt, preempt, release, delete, restore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.backup import looks_like_a_backup, restore_home
from footplate.cli.jobs import stopped
from footplate.cli.language import phrase
from footplate.cli.render import named, show_state
from footplate.cli.session import (
    confirm,
    confirm_deletion,
    connect,
    job_argument,
    jobs_argument,
    json_option,
    print_json,
    tell,
    yes_option,
)
from footplate.cli.standin import stands_in

if TYPE_CHECKING:
    from footplate.sdk.job import Job


@click.command()
@job_argument
@click.option("-w", "--wait", "is_waiting", is_flag=True, help="Wait until the job has stopped.")
@json_option
def halt(job: str, is_waiting: bool, as_json: bool) -> None:
    """Stop a job and keep its results so far, for `footplate download`."""
    found = connect().job(job)
    # Theirs passes over one that has ended.
    halted = found if found.is_final and stands_in() else found.halt()
    if is_waiting:
        halted.wait()
    then = phrase("Download its results with: footplate download {job}", job=halted.id)
    tell(halted.data, f"{stopped(halted)} {then}", as_json)


@click.command()
@job_argument
@json_option
def preempt(job: str, as_json: bool) -> None:
    """Preempt a job: stop and requeue it, for example to test that it resumes from its checkpoint.

    Its tasks find a notice, then get SIGTERM and their grace. It uses up no retry.
    """
    moved = connect().job(job).preempt()
    told = phrase("{job}: preempted and requeued; {state}", job=named(moved), state=show_state(moved.state))
    tell(moved.data, told, as_json)


@click.command()
@job_argument
@json_option
def release(job: str, as_json: bool) -> None:
    """Release the environment that a failed job has kept."""
    released = connect().job(job).release()
    tell(released.data, phrase("Released the kept environment of {job}.", job=named(released)), as_json)


@click.command()
@jobs_argument
@click.option("--for-good", is_flag=True, help="Delete permanently: record, logs and files.")
@yes_option
@json_option
def delete(jobs: tuple[str, ...], for_good: bool, yes: bool, as_json: bool) -> None:
    """Move jobs to the trash; running jobs are stopped first.

    From there they can be restored for a day. With --for-good they are removed with logs and files.
    """
    client = connect()
    found = [client.job(name) for name in jobs]
    if not (yes or (stands_in() and not for_good)):
        names = ", ".join(f"{job.name} ({job.state})" for job in found)
        if for_good:
            confirm_deletion(phrase("{names} with logs and files, permanently", names=names))
        else:
            confirm(phrase("Move {names} to the trash?", names=names), phrase("nothing was moved"))
    fates = []
    for job in found:
        is_done = job.delete(for_good)
        fates.append({"id": job.id, "name": job.name, "is_deleted": is_done, "for_good": for_good})
        if not as_json:
            click.echo(f"{named(job)}: {_fate(job, is_done, for_good)}")
    if as_json:
        print_json({"items": fates})


def _fate(job: Job, is_done: bool, for_good: bool) -> str:
    if not for_good:
        undo = phrase("restore it with: footplate restore {job}", job=job.id)
        return f"{phrase('in the trash') if is_done else phrase('stopping, then in the trash')}; {undo}"
    if is_done:
        return phrase("deleted")
    return phrase("being deleted") if job.is_final else phrase("stopping, then deleted")


@click.command()
@click.argument("what", metavar="JOB|DIR")
@click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    help="With a backup: the new home folder (FOOTPLATE_HOME).",
)
@click.option(
    "--sqlite",
    "in_sqlite",
    is_flag=True,
    help="With a backup: store the rows in a file of the home folder, not in a database.",
)
@json_option
@click.pass_context
def restore(ctx: click.Context, what: str, home: Path | None, in_sqlite: bool, as_json: bool) -> None:
    """Restore a job from the trash, by its ID (`footplate list --trash`), or a server from a backup.

    A backup is named by its folder, with a slash: ./backup. It becomes a new home folder.
    """
    if looks_like_a_backup(what):
        restore_home(Path(what), home, in_sqlite, as_json)
        return
    if home or in_sqlite:
        ctx.fail(phrase("--home and --sqlite need the folder of a backup: write ./{folder}", folder=what))
    found = connect().job(what)
    name = found.name
    restored = found.restore()
    told = phrase(
        "Restored {job}[ under a new name: there is another {other} now].",
        job=named(restored),
        other=name if restored.name != name else None,
    )
    tell(restored.data, told, as_json)
