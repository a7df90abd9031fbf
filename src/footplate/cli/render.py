"""Values as people read them: amounts, times, states, fields, hints."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.cells import pad, width_of
from footplate.cli.language import phrase
from footplate.domain.resources import show_bytes
from footplate.domain.states import JobState

if TYPE_CHECKING:
    from footplate.sdk.job import Job

STATE_COLOURS: Mapping[JobState, str] = {
    JobState.QUEUED: "yellow",
    JobState.STARTING: "cyan",
    JobState.RUNNING: "blue",
    JobState.STOPPING: "magenta",
    JobState.SUCCEEDED: "green",
    JobState.FAILED: "red",
    JobState.STOPPED: "bright_black",
}
_UNITS: Mapping[str, Callable[[Any], str]] = {
    "cpus": lambda n: f"{n:g} CPU",
    "memory_bytes": show_bytes,
    "gpus": lambda n: f"{n} GPU",
}


def is_terminal() -> bool:
    return sys.stdout.isatty()


def named(job: Job) -> str:
    return f"{job.name} ({job.id})"


def show_state(text: str) -> str:
    """Colour a state; spaces around it and states of tasks stay as they are."""
    state = text.strip()
    return click.style(text, fg=STATE_COLOURS[JobState(state)]) if state in JobState.__members__ else text


def print_fields(fields: Mapping[str, Any]) -> None:
    """Print names and values in two columns, leaving out what is empty."""
    shown = {name: value for name, value in fields.items() if value not in (None, "", [], {})}
    width = max(map(width_of, shown), default=0) + 2
    for name, value in shown.items():
        lines = str(value).replace("\n", "\n" + " " * width)
        click.echo(f"{click.style(name, bold=True)}{' ' * (width - width_of(name))}{lines}")


def show_amount(resources: Mapping[str, Any]) -> str:
    """Write CPUs, memory and GPUs in one phrase."""
    if not any(resources.values()):
        return phrase("none")
    has_gpus = bool(resources.get("gpus"))
    return ", ".join(show(resources[name]) for name, show in _UNITS.items() if name != "gpus" or has_gpus)


def show_request(resources: Mapping[str, Any], n_tasks: int) -> str:
    """Write what all tasks of a job ask for together."""
    return phrase("{amount} in {n:task|tasks}", amount=show_amount(resources), n=n_tasks)


def show_limit(maximum: Mapping[str, Any] | None) -> str:
    """Write the most that may be used, naming only what is limited."""
    limits = maximum or {}
    limited = [show(limits[name]) for name, show in _UNITS.items() if limits.get(name) is not None]
    return ", ".join(limited) or phrase("unlimited")


def show_roles(queues: Sequence[Mapping[str, str]]) -> str:
    """Print the roles of a user in queues."""
    return ", ".join(f"{queue['name']} ({queue['role']})" for queue in queues)


def show_span(seconds: float | None) -> str:
    """Write a span of time in its two largest units."""
    if seconds is None:
        return ""
    d, h, m, s = phrase("d h m s").split()
    if 0 <= seconds < 10 and not isinstance(seconds, int):
        return f"{seconds:.1f}{s}" if seconds >= 1 else f"{seconds:.2f}{s}"
    all_minutes, left = divmod(int(seconds), 60)
    all_hours, minutes = divmod(all_minutes, 60)
    days, hours = divmod(all_hours, 24)
    if days:
        return f"{days}{d}{hours:02}{h}"
    if hours:
        return f"{hours}{h}{minutes:02}{m}"
    return f"{minutes}{m}{left:02}{s}" if minutes else f"{left}{s}"


def show_between(begin: str | None, end: str | None) -> str:
    """Write how long it was from one instant to another, or is until now."""
    if not begin:
        return ""
    until = datetime.fromisoformat(end) if end else datetime.now(UTC)
    return show_span(max(0.0, (until - datetime.fromisoformat(begin)).total_seconds()))


def show_age(text: str | None) -> str:
    """Write how long ago something was."""
    if not text:
        return ""
    return show_span(max(0, round((datetime.now(UTC) - datetime.fromisoformat(text)).total_seconds())))


def show_time(text: str | None) -> str:
    """Write an instant in this machine's time zone."""
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S") if text else ""


def show_flag(is_so: bool) -> str:
    return phrase("yes") if is_so else phrase("no")


def show_ago(text: str | None) -> str:
    """Write how long ago something was, as a phrase; nothing where it never was."""
    return phrase("{span} ago", span=show_age(text)) if text else ""


def print_hints(hints: Mapping[str, str], is_beside: bool = False) -> None:
    """Print what to type next."""
    width = max(map(width_of, hints)) + 2
    for purpose, command in hints.items():
        click.echo(f"  {pad(purpose, width)}{click.style(command, fg='cyan')}", err=is_beside)
