"""Shows how far a transfer of files is: a line at the bottom of a terminal, nothing when piped."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from footplate.cli.language import phrase
from footplate.cli.screen import Screen
from footplate.domain.resources import show_bytes

if TYPE_CHECKING:
    from footplate.sdk.uploading import Progress


class Meter:
    """Remembers the last that a transfer told, and what all of them came to."""

    def __init__(self) -> None:
        self._begun_at = time.monotonic()
        self._last: Progress | None = None
        self._before = [0, 0]

    def tell(self, progress: Progress) -> None:
        if self._last is not None and self._last is not progress:
            self._before[0] += self._last.done_bytes
            self._before[1] += self._last.n_files
        self._last = progress

    def add(self, n_files: int, n_bytes: int) -> None:
        """Count what was transferred without us."""
        self._before[0] += n_bytes
        self._before[1] += n_files

    @property
    def n_bytes(self) -> int:
        return self._before[0] + (self._last.done_bytes if self._last else 0)

    @property
    def n_files(self) -> int:
        return self._before[1] + (self._last.n_files if self._last else 0)

    @property
    def skipped(self) -> list[str]:
        return self._last.skipped if self._last else []

    def footer(self, frame: str) -> list[str]:
        if self._last is None:
            return [frame]
        rate = self.n_bytes / max(time.monotonic() - self._begun_at, 0.001)
        total = self._last.total_bytes
        part = f"{100 * self._last.done_bytes // total}% " if total else ""
        return [f"{frame} {part}{show_bytes(self.n_bytes)} ({show_bytes(int(rate))}/s) {self._last.name}"]


@contextmanager
def metered() -> Iterator[Meter]:
    """Show a transfer while it is under way."""
    meter = Meter()
    if not sys.stderr.isatty():
        yield meter
        return
    with Screen(sys.stderr, meter.footer):
        yield meter


def tell_skipped(skipped: list[str]) -> None:
    """Name what was left out, on the error output."""
    for path in skipped:
        click.echo(phrase("skipped {path:quoted}: it is no plain file", path=path), err=True)
