"""Values as people read them: tables, sizes, times, states."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from footplate.domain.resources import show_bytes
from footplate.domain.states import JobState

STATE_COLOURS: Mapping[JobState, str] = {
    JobState.QUEUED: "yellow",
    JobState.STARTING: "cyan",
    JobState.RUNNING: "blue",
    JobState.STOPPING: "magenta",
    JobState.SUCCEEDED: "green",
    JobState.FAILED: "red",
    JobState.STOPPED: "bright_black",
}


def is_terminal() -> bool:
    return sys.stdout.isatty()


def colour_of(state: str) -> str:
    return STATE_COLOURS[JobState(state)] if state in JobState.__members__ else "white"


def show_state(state: str) -> str:
    return click.style(state, fg=colour_of(state))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], empty: str) -> None:
    """Print rows below their headings: fitted to a terminal, plain and whole when piped."""
    if not rows and is_terminal():
        click.echo(empty)
    elif is_terminal():
        _print_fitted(columns, rows)
    else:
        _print_plain(columns, rows)


def _print_plain(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    texts = [[str(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(len(row[i]) for row in texts) for i in range(len(columns))]
    for row in texts:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _print_fitted(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    from rich.console import Console

    Console().print(fitted_table(columns, rows))


def fitted_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """Make a table for a terminal; the last column gives way when the width is short."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for position, column in enumerate(columns):
        is_last = position == len(columns) - 1
        table.add_column(
            column, no_wrap=True, overflow="ellipsis", ratio=1 if is_last and len(columns) > 4 else None
        )
    for row in rows:
        table.add_row(
            *(
                Text(text, style=_style(text, column))
                for column, text in zip(columns, map(str, row), strict=True)
            )
        )
    return table


def _style(text: str, column: str) -> str:
    if column != "STATE":
        return ""
    return colour_of(text)


def print_fields(fields: Mapping[str, Any]) -> None:
    """Print names and values in two columns, leaving out what is empty."""
    shown = {name: value for name, value in fields.items() if value not in (None, "", [], {})}
    width = max(map(len, shown), default=0) + 2
    for name, value in shown.items():
        click.echo(f"{click.style(name, bold=True)}{' ' * (width - len(name))}{value}")


def show_amount(resources: Mapping[str, Any] | None) -> str:
    """Write CPUs, memory and GPUs in one phrase."""
    if resources is None:
        return "no limit"
    parts = [f"{resources['cpus']:g} CPU", show_bytes(resources["memory_bytes"])]
    if resources.get("gpus"):
        parts.append(f"{resources['gpus']} GPU")
    return ", ".join(parts)


def show_span(seconds: float | None) -> str:
    """Write a span of time in its two largest units."""
    if seconds is None:
        return ""
    if 0 < seconds < 10 and not isinstance(seconds, int):
        return f"{seconds:.1f}s" if seconds >= 1 else f"{seconds:.2f}s"
    minutes, s = divmod(int(seconds), 60)
    hours, m = divmod(minutes, 60)
    days, h = divmod(hours, 24)
    if days:
        return f"{days}d{h:02}h"
    if hours:
        return f"{h}h{m:02}m"
    return f"{m}m{s:02}s" if m else f"{s}s"


def parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def show_age(text: str | None) -> str:
    """Write how long ago something was."""
    if not text:
        return ""
    return show_span(max(0, round((datetime.now(UTC) - parse_time(text)).total_seconds())))


def show_time(text: str | None) -> str:
    """Write an instant in this machine's time zone."""
    return parse_time(text).astimezone().strftime("%Y-%m-%d %H:%M:%S") if text else ""


def show_count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def print_hints(hints: Mapping[str, str]) -> None:
    """Print what to type next."""
    width = max(map(len, hints)) + 2
    for purpose, command in hints.items():
        click.echo(f"  {purpose.ljust(width)}{click.style(command, fg='cyan')}")
