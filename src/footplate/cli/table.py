"""Rows below their headings: fitted to a terminal, plain and whole when piped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from footplate.cli.cells import cut, one_line, pad, width_of
from footplate.cli.language import phrase
from footplate.cli.render import is_terminal, show_state
from footplate.cli.session import print_json

GAP = 2
# On a terminal the last column, which holds sentences, gets at least this much; others at most that.
LEAST_OF_THE_LAST = 24
MOST_OF_ANOTHER = 40

Row = Sequence[Any]


def print_items(
    items: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    row: Callable[[Mapping[str, Any]], Row],
    empty: str,
    as_json: bool,
) -> None:
    """Print what a list holds, as a table or as the API's JSON."""
    if as_json:
        print_json({"items": items})
    else:
        print_table(columns, [row(item) for item in items], empty)


def print_table(
    columns: Sequence[str], rows: Sequence[Row], empty: str, expendable: Sequence[str] = ()
) -> None:
    """Print rows; `empty` is what a terminal shows instead of none."""
    if not rows and is_terminal():
        click.echo(empty)
        return
    width = shutil.get_terminal_size().columns if is_terminal() else None
    for line in lay_out(columns, rows, width, expendable):
        click.echo(line)


def lay_out(
    columns: Sequence[str], rows: Sequence[Row], width: int | None = None, expendable: Sequence[str] = ()
) -> list[str]:
    """Write rows as lines. Where the width is short, first the last column gives way, then whole columns.

    `expendable` names the columns that can be missed, the first to go first.
    """
    heads = [phrase(column) for column in columns]
    texts = [[one_line(str(cell)) for cell in row] for row in (heads, *rows)]
    widths = [max(width_of(row[i]) for row in texts) for i in range(len(columns))]
    kept = list(range(len(columns)))
    if width is not None:
        widths[:-1] = [min(one, MOST_OF_ANOTHER) for one in widths[:-1]]
        kept = _affordable(columns, widths, width, expendable)
        widths[-1] = min(widths[-1], max(_room(widths, kept, width), LEAST_OF_THE_LAST))
    head, *body = ([_fit(row[i], i, widths) for i in kept] for row in texts)
    names = [columns[i] for i in kept]
    return [
        (" " * GAP).join(click.style(cell, bold=True) for cell in head),
        *((" " * GAP).join(map(_paint, names, row)).rstrip() for row in body),
    ]


def _affordable(
    columns: Sequence[str], widths: Sequence[int], width: int, expendable: Sequence[str]
) -> list[int]:
    kept = list(range(len(columns)))
    wanted = min(widths[-1], LEAST_OF_THE_LAST)
    for name in expendable:
        if _room(widths, kept, width) >= wanted:
            break
        kept.remove(columns.index(name))
    return kept


def _room(widths: Sequence[int], kept: Sequence[int], width: int) -> int:
    return width - sum(widths[i] + GAP for i in kept[:-1])


def _fit(text: str, column: int, widths: Sequence[int]) -> str:
    fitted = cut(text, widths[column])
    return fitted if column == len(widths) - 1 else pad(fitted, widths[column])


def _paint(column: str, text: str) -> str:
    return show_state(text) if column == "STATE" else text
