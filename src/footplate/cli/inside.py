"""Verbs that look inside jobs: exec, download."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from footplate.cli.session import connect, duration, job_argument, json_option, print_json, tell

KINDS = ("output", "checkpoints", "code", "work")


@click.command("exec", context_settings={"ignore_unknown_options": True})
@job_argument
@click.argument("command", nargs=-1, required=True, metavar="COMMAND...")
@click.option("-t", "--task", help="Task to look into, such as worker-0; the first when absent.")
@click.option("--timeout", type=duration, default="60", help="End the command after this long, such as 5m.")
@json_option
def exec_(job: str, command: tuple[str, ...], task: str | None, timeout: int, as_json: bool) -> int:
    """Run a command where a task runs, or ran if the failed job is kept.

    It has the task's variables, files and limits. Put -- before a command with options of its own:
    footplate exec digits -- ls -l. The exit code is the command's.
    """
    ran = connect().job(job).run_inside(command, task, timeout)
    if as_json:
        print_json({"exit_code": ran.exit_code, "output": ran.output, "is_cut": ran.is_cut})
        return ran.exit_code
    sys.stdout.write(ran.output)
    if ran.is_cut:
        click.echo("\n(the rest of the output was cut)", err=True)
    return ran.exit_code


@click.command()
@job_argument
@click.option("--what", type=click.Choice(KINDS), default="output", show_default=True, help="What to fetch.")
@click.option("--definition", "what", flag_value="code", help="The job's code; the same as --what code.")
@click.option("--trainedmodel", "what", flag_value="output", help="The same as --what output.")
@click.option("-o", "--filename", type=click.Path(path_type=Path), help="File to write.")
@json_option
def download(job: str, what: str, filename: Path | None, as_json: bool) -> None:
    """Save what a job has made so far as a .tar.gz archive, whether it runs or not."""
    found = connect().job(job)
    target = found.download(filename or Path(f"{found.name}-{what}.tar.gz"), what)
    size_bytes = target.stat().st_size
    message = f"Saved {what} of {found.name} to {target} ({size_bytes} bytes)."
    tell({"id": found.id, "file": str(target), "size_bytes": size_bytes}, message, as_json)
