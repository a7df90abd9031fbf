"""Places of files as people type them: `STORAGE:PATH`, or a path of this machine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import click

from footplate.cli.language import phrase

_REMOTE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*):(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Remote:
    """A path on a storage."""

    storage: str
    path: str

    def __str__(self) -> str:
        return f"{self.storage}:{self.path}"

    @property
    def is_folder(self) -> bool:
        """Whether it is written as a folder: something goes into it, not in its place."""
        return not self.path or self.path.endswith("/")

    def within(self, name: str) -> Remote:
        return Remote(self.storage, f"{self.path.strip('/')}/{name}".lstrip("/"))

    @property
    def name(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2]


def place(text: str) -> Remote | Path:
    """Read a place; a local name with a colon is written `./a:b`."""
    match = _REMOTE.fullmatch(text)
    return Remote(match[1], match[2]) if match else Path(text)


def remote(text: str) -> Remote:
    """Read a place that must be on a storage."""
    found = place(text)
    if isinstance(found, Path):
        raise click.BadParameter(
            phrase("{given:quoted} is not on a storage: write STORAGE:PATH, such as home:data", given=text)
        )
    return found
