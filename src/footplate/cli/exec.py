"""The verb exec: run a command in a task."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from footplate.cli.language import phrase
from footplate.cli.session import INTERRUPTED, connect, duration, job_argument, json_option, print_json

# Programs that talk to whoever types, unless they are told what to do.
INTERACTIVE = frozenset(
    {"bash", "htop", "ipython", "less", "nano", "python", "python3", "sh", "top", "vi", "vim", "zsh"}
)
MOST_INPUT_BYTES = 16 * 1024**2


@click.command("exec", context_settings={"ignore_unknown_options": True})
@job_argument
@click.argument("command", nargs=-1, required=True, metavar="COMMAND...")
@click.option("-t", "--task", help="Task to run it in, such as worker-0 (default: the first).")
@click.option("--timeout", type=duration, default="60", help="Timeout of the command, such as 5m.")
@click.option(
    "-i",
    "--stdin",
    "has_input",
    is_flag=True,
    help="Pass standard input to the command, at most 16MB.",
)
@json_option
def exec_(
    job: str, command: tuple[str, ...], task: str | None, timeout: int, has_input: bool, as_json: bool
) -> int:
    """Run a command inside a task (running, or kept after a failure).

    It has the task's variables, files and limits. Put -- before a command with options of its own:
    footplate exec digits -- ls -l. The exit code is the command's; 124 when it took too long, and not 0 when
    it wrote more than 1MB, of which the rest is lost.

    It has no terminal: programs that wait for typing, such as a shell, end at once. Ctrl-C ends the command.
    """
    if not has_input and len(command) == 1 and Path(command[0]).name in INTERACTIVE:
        click.echo(_no_terminal(job, command[0]), err=True)
    stdin = _read_input() if has_input else b""
    found = connect().job(job)
    try:
        ran = found.exec(command, task, timeout, stdin)
    except KeyboardInterrupt:
        # The server ends the command when it sees that nobody waits for it any more.
        click.echo("\n" + phrase("Interrupted; the command in the task is ended."), err=True)
        return INTERRUPTED
    if as_json:
        told = ("exit_code", "output", "is_cut", "timed_out")
        print_json({name: getattr(ran, name) for name in told})
    else:
        sys.stdout.buffer.write(ran.raw)
        sys.stdout.flush()
    if ran.timed_out:
        late = phrase(
            "the command was killed: it took longer than {seconds} s (see --timeout)", seconds=timeout
        )
        click.echo(late, err=True)
    if ran.is_cut:
        cut = phrase("the output was cut after {n} bytes: write it to a file instead", n=len(ran.raw))
        click.echo(cut, err=True)
    return ran.exit_code or int(ran.is_cut)


def _no_terminal(job: str, program: str) -> str:
    example = f"footplate exec {job} -- {program} -c '…'" if program.endswith("sh") else ""
    return phrase(
        "exec has no terminal: {program} reads nothing and ends[; give it something to do: {example}]",
        program=program,
        example=example or None,
    )


def _read_input() -> bytes:
    stdin = sys.stdin.buffer.read(MOST_INPUT_BYTES + 1)
    if len(stdin) > MOST_INPUT_BYTES:
        raise click.ClickException(phrase("standard input is larger than {most:size}", most=MOST_INPUT_BYTES))
    return stdin
