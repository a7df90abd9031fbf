"""A terminal that is drawn on: a few lines at its bottom below scrolling output, or all of it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TextIO

from footplate.cli.cells import cut

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TICK_S = 0.1

_OTHER_SCREEN, _NO_CURSOR = "\x1b[?1049h", "\x1b[?25l"
_OWN_SCREEN, _CURSOR = "\x1b[?1049l", "\x1b[?25h"
_HOME, _WIPE_REST_OF_LINE, _WIPE_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
_WIPE_LINE, _LINE_UP = "\x1b[2K", "\x1b[1A"


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
        return "" if n == 0 else f"\r{_WIPE_LINE}" + (_LINE_UP + _WIPE_LINE) * (n - 1)

    def _draw(self) -> str:
        width = shutil.get_terminal_size().columns - 1
        lines = [cut(_plain(line), width) for line in self._footer(FRAMES[self._n_ticks % len(FRAMES)])]
        self._n_drawn = len(lines)
        return "\n".join(lines)


def _plain(line: str) -> str:
    # Only text without escapes can be measured; a wrapped line could not be erased.
    return "".join(char for char in line if char.isprintable())


class FullScreen:
    """Draws whole pages; what the terminal showed before comes back at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __enter__(self) -> Self:
        self._write(_OTHER_SCREEN + _NO_CURSOR)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write(_CURSOR + _OWN_SCREEN)

    def draw(self, lines: Sequence[str]) -> None:
        """Show lines instead of what was there, as many as there is room for."""
        height = shutil.get_terminal_size().lines
        shown = lines if len(lines) <= height else [*lines[: height - 1], "…"]
        self._write(_HOME + "\n".join(line + _WIPE_REST_OF_LINE for line in shown) + _WIPE_BELOW)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
