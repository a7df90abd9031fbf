"""Putting a launcher before the program that a command's last line runs."""

from __future__ import annotations

import re

# Variables before the program, then python, then -u, then the script or -m and a module.
_PROGRAM = re.compile(
    r"(?P<before>\s*(?:exec\s+)?(?:[A-Za-z_]\w*=[^\s'\"`$;&|]*\s+)*)"
    r"(?P<python>[\w./~+-]*python[\d.]*)\s+(?:-u\s+)?(?=-m\s|[^-\s])"
)


def insert_launcher(command: str, module: str) -> str | None:
    """Start the last line's Python program by a module; None when that line begins with something else."""
    before, line = _split(command)
    match = _PROGRAM.match(line)
    if match is None:
        return None
    return f"{before}{match['before']}{match['python']} -u -m {module} {line[match.end() :]}"


def _split(command: str) -> tuple[str, str]:
    """Cut off the last line, which may go on over lines that end in a backslash."""
    lines = command.rstrip().splitlines(keepends=True)
    first = len(lines) - 1
    while first > 0 and lines[first - 1].rstrip("\r\n").endswith("\\"):
        first -= 1
    return "".join(lines[:first]), "".join(lines[first:])
