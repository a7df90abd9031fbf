"""Text on a terminal: how wide it is, how to cut it to fit, and nothing in it that the terminal obeys."""

from __future__ import annotations

import re

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def one_line(text: str) -> str:
    """Write what others wrote on one line, without control characters that would steer the terminal."""
    return _CONTROLS.sub("", " ".join(text.split()))


def printable(text: str) -> str:
    """Write a line that others wrote as it is, without control characters that would steer the terminal."""
    return _CONTROLS.sub("", text.expandtabs())


def width_of(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, width: int) -> str:
    """Shorten text that is too wide, with a sign that something is missing."""
    if width_of(text) <= width:
        return text
    if text.isascii():
        return text[: width - 1].rstrip() + "…"
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip() + "…"


def pad(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))
