from __future__ import annotations

import click
import pytest

from footplate.cli.cells import width_of
from footplate.cli.table import lay_out

COLUMNS = ("ID", "STATE", "OWNER", "WHY")
ROWS = [("0abcdefghjk1", "QUEUED", "ada", "needs 2 GPUs at once; 0 of 2 are free")]


def lines(width: int | None, *expendable: str) -> list[str]:
    return [click.unstyle(line) for line in lay_out(COLUMNS, ROWS, width, expendable)]


def test_the_last_column_gives_way_first() -> None:
    assert lines(60)[1] == "0abcdefghjk1  QUEUED  ada    needs 2 GPUs at once; 0 of 2 a…"
    assert width_of(lines(60)[1]) == 60


def test_whole_columns_go_before_the_reason_is_too_short_to_read() -> None:
    assert lines(50, "OWNER", "ID")[1] == "0abcdefghjk1  QUEUED  needs 2 GPUs at once; 0 of…"
    assert lines(40, "OWNER", "ID")[1] == "QUEUED  needs 2 GPUs at once; 0 of 2 ar…"


def test_identifiers_are_never_cut_to_make_room() -> None:
    assert lines(30)[1].startswith("0abcdefghjk1  QUEUED  ada  ")


def test_nothing_is_cut_where_no_width_is_given() -> None:
    assert lines(None)[1].endswith(ROWS[0][-1])


@pytest.mark.parametrize("name", ["数字", "cafe\u0301", "x" * 90, "two\nlines"])
def test_every_name_keeps_the_columns_in_line(name: str) -> None:
    head, odd, plain = lay_out(("NAME", "WHY"), [(name, "|"), ("x", "|")], 80)
    columns = [width_of(click.unstyle(line).partition("|")[0]) for line in (odd, plain)]
    assert columns[0] == columns[1] == click.unstyle(head).index("WHY")


@pytest.mark.parametrize("evil", ["\x1b]0;title\x07", "\x1b[2J", "\x9b2J", "\x00\x7f", "\x85", "\x1c", "\r"])
def test_what_others_wrote_cannot_steer_the_terminal(evil: str) -> None:
    _, line = lay_out(("NAME", "WHY"), [(f"a{evil}b", f"c{evil}d")])
    assert all(char.isprintable() for char in line)
    assert line.startswith("a")
    assert line.endswith("d")
