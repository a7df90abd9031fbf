"""The live view of a job: why it waits, how it starts, what it prints, how it ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

import click

from footplate.cli.language import phrase
from footplate.cli.lastlines import print_last_lines
from footplate.cli.reader import told_in
from footplate.cli.render import named, print_hints, show_span, show_state
from footplate.cli.screen import Screen
from footplate.cli.session import INTERRUPTED, print_json_line
from footplate.domain.states import FINAL_STATES, JobState
from footplate.sdk.follow import Ended, Followed, LogText, StateSeen, StepSeen
from footplate.sdk.lines import Lines

if TYPE_CHECKING:
    from footplate.sdk.job import Job

TASK_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "bright_red")
MAX_BARS = 8
TASK_ENDS = ("task_exited", "task_lost")


def outcome(state: str, exit_code: int | None) -> int:
    """Say what exit code a job's end is worth: 0 for success, else the task's own where that can be."""
    if state == JobState.SUCCEEDED:
        return 0
    return exit_code if exit_code is not None and 1 <= exit_code <= 125 else 1


def follow(
    job: Job,
    events: Iterator[Followed],
    *,
    of_one_task: bool = False,
    raw: bool = False,
    as_json: bool = False,
) -> Ended | None:
    """Show a job's life and end; None when Ctrl-C ends the watching, never the job."""
    view = View(names_tasks=job.data["n_tasks"] > 1 and not of_one_task)
    try:
        ended = _relay(events) if as_json else _show(view, events, raw)
    except KeyboardInterrupt:
        leave(job)
        return None
    if ended and not as_json:
        _print_end(job, ended)
    return ended


def leave(job: Job) -> int:
    """Say after Ctrl-C that the job goes on; return the exit code."""
    click.echo("\n" + phrase("No longer following; job {name} goes on.", name=job.name), err=True)
    print_hints(
        {
            phrase("follow"): f"footplate logs -f {job.id}",
            phrase("stop"): f"footplate stop {job.id}",
        },
        is_beside=True,
    )
    return INTERRUPTED


def _relay(events: Iterator[Followed]) -> Ended | None:
    kinds = {LogText: "log", StateSeen: "state", StepSeen: "step"}
    for event in events:
        if (ended := _end_in(event)) is not None:
            print_json_line({"event": "end", **asdict(ended)})
            return ended
        data = event.event if isinstance(event, StepSeen) else asdict(event)
        print_json_line({"event": kinds[type(event)], **data})
    return None


def _end_in(event: Followed) -> Ended | None:
    """The end that an event tells; a job that has failed and is kept runs no more."""
    if isinstance(event, StateSeen) and event.kept_until:
        return Ended(JobState.FAILED, event.reason, event.exit_code)
    return event if isinstance(event, Ended) else None


def _show(view: View, events: Iterator[Followed], raw: bool) -> Ended | None:
    is_live = sys.stdout.isatty() and not raw
    out: Out = Screen(sys.stdout, view.footer) if is_live else Pipe(raw)
    with out if isinstance(out, Screen) else nullcontext():
        for event in events:
            if (ended := _end_in(event)) is not None:
                if not raw:
                    out.write(view.rest())
                return ended
            if isinstance(event, LogText):
                out.write([event.text] if raw else view.log(event))
            elif not isinstance(event, Ended):
                _note(view.tell(event), out)
    return None


class Out(Protocol):
    def write(self, lines: Sequence[str]) -> None: ...


class Pipe:
    """Standard output that is not a terminal: plain lines, or unchanged text."""

    def __init__(self, raw: bool) -> None:
        self._end = "" if raw else "\n"

    def write(self, lines: Sequence[str]) -> None:
        sys.stdout.write("".join(line + self._end for line in lines))
        sys.stdout.flush()


def _note(notes: Sequence[str], out: Out) -> None:
    """Say something about the job: beside its output where both are watched, else apart from it."""
    if isinstance(out, Screen):
        out.write([click.style(note, dim=True) for note in notes])
    else:
        for note in notes:
            click.echo(note, err=True)


class View:
    """What is known of a followed job, and how that reads."""

    def __init__(self, names_tasks: bool) -> None:
        self._names_tasks = names_tasks
        self._began_at = time.monotonic()
        self._state = ""
        self._attempt = 0
        self._message = ""
        self._lines: dict[tuple[int, str], Lines] = {}

    def log(self, event: LogText) -> list[str]:
        """Return the lines that a piece of output completes."""
        lines = self._lines.setdefault((event.attempt, event.task), Lines())
        return [self._prefix(event.task) + line for line in lines.feed(event.text)]

    def rest(self) -> list[str]:
        """Return the last lines, of output that did not end in a line end."""
        return [
            self._prefix(task) + line for (_, task), lines in self._lines.items() for line in lines.finish()
        ]

    def tell(self, event: StateSeen | StepSeen) -> list[str]:
        """Return what is worth saying about an event; nothing when it is known."""
        if isinstance(event, StepSeen):
            if event.kind in TASK_ENDS:
                # Each run of a task may end in the same words.
                self._message = ""
            return self._say(told_in(event.event))
        return self._tell_state(event)

    def _tell_state(self, event: StateSeen) -> list[str]:
        is_retry = event.attempt != self._attempt and self._state != ""
        is_new = event.state != self._state
        self._state, self._attempt = event.state, event.attempt
        notes = ["· " + phrase("attempt {n} begins", n=event.attempt)] if is_retry else []
        if event.state in FINAL_STATES:
            return notes
        message = told_in(event.reason)
        if not is_new:
            return notes + self._say(message)
        return notes + (self._say(message, f"{event.state}: ") or [f"· {event.state}"])

    def _say(self, message: str, lead: str = "") -> list[str]:
        if not message or message == self._message:
            return []
        self._message = message
        return [f"· {lead}{message}"]

    def footer(self, frame: str) -> list[str]:
        """Return the bottom lines: unfinished output such as progress bars, then the state."""
        bars = [
            self._prefix(task, coloured=False) + lines.unfinished
            for (attempt, task), lines in self._lines.items()
            if attempt == self._attempt and lines.unfinished
        ]
        return [*bars[:MAX_BARS], status_line(frame, self._state, self._began_at, self._message)]

    def _prefix(self, task: str, coloured: bool = True) -> str:
        return task_prefix(task, coloured) if self._names_tasks else ""


def task_prefix(task: str, coloured: bool = True) -> str:
    """Write what stands before the lines of a task."""
    # The same task keeps its colour in every view of the job.
    colour = TASK_COLOURS[sum(task.encode()) % len(TASK_COLOURS)]
    return (click.style(task, fg=colour) if coloured and sys.stdout.isatty() else task) + " | "


def status_line(frame: str, state: str, began_at: float, message: str) -> str:
    """Write the one line that says how a job stands: why, too, as long as it does not run."""
    minutes, seconds = divmod(int(time.monotonic() - began_at), 60)
    why = "" if state == JobState.RUNNING else message
    return f"{frame} {state or phrase('connecting')} {minutes}:{seconds:02}  {why}".rstrip()


def _print_end(job: Job, ended: Ended) -> None:
    """Say on standard error how the job ended and what can be done next."""
    job.refresh()
    run_time_s = job.data.get("run_time_s")
    told = phrase(
        "{job} {state}[ after {run_time}]: {why}",
        job=named(job),
        state=show_state(ended.state),
        run_time=None if run_time_s is None else show_span(run_time_s),
        why=told_in(ended.reason),
    )
    click.echo(told, err=True)
    if not sys.stdout.isatty():
        # On a terminal they stand right above.
        print_last_lines(job, is_beside=True)
    if job.data.get("kept_until"):
        tell_kept(job)
    elif ended.state == JobState.FAILED:
        hints = {
            phrase("details"): f"footplate show {job.id}",
            phrase("run again"): f"footplate clone {job.id}",
        }
        print_hints(hints, is_beside=True)


def tell_kept(job: Job) -> None:
    """Say on standard error how to enter what a failed job has kept, and how to give it up."""
    hints = {
        phrase("enter"): f"footplate exec {job.id} -- ls -l",
        phrase("release"): f"footplate release {job.id}",
    }
    print_hints(hints, is_beside=True)
