"""A terminal with a few lines at its bottom that are redrawn while output scrolls above them."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TextIO

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TICK_S = 0.1


class Screen:
    """Writes lines to a stream; `footer` is asked for the bottom lines whenever they are drawn."""

    def __init__(self, stream: TextIO, footer: Callable[[str], Sequence[str]]) -> None:
        self._stream = stream
        self._footer = footer
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._n_drawn = 0
        self._n_ticks = 0
        self._ticker = threading.Thread(target=self._tick, name="screen", daemon=True)

    def __enter__(self) -> Self:
        self._ticker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._ticker.join()
        with self._lock:
            self._stream.write(self._erase())
            self._stream.flush()

    def write(self, lines: Sequence[str]) -> None:
        """Print lines for good, above the bottom ones."""
        if lines:
            with self._lock:
                self._stream.write(self._erase() + "".join(f"{line}\n" for line in lines) + self._draw())
                self._stream.flush()

    def _tick(self) -> None:
        while not self._over.wait(TICK_S):
            with self._lock:
                self._n_ticks += 1
                self._stream.write(self._erase() + self._draw())
                self._stream.flush()

    def _erase(self) -> str:
        n, self._n_drawn = self._n_drawn, 0
        return "" if n == 0 else "\r\x1b[2K" + "\x1b[1A\x1b[2K" * (n - 1)

    def _draw(self) -> str:
        from rich.cells import set_cell_size

        width = shutil.get_terminal_size().columns - 1
        lines = [
            _cut(line, width, set_cell_size) for line in self._footer(FRAMES[self._n_ticks % len(FRAMES)])
        ]
        self._n_drawn = len(lines)
        return "\n".join(lines)


def _cut(line: str, width: int, set_cell_size: Callable[[str, int], str]) -> str:
    # Only text without escapes can be measured; a wrapped line could not be erased.
    plain = "".join(char for char in line if char.isprintable())
    return set_cell_size(plain, width).rstrip()
