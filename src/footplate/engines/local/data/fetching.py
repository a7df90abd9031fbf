"""Fetches files of a storage in threads: many small ones at once, large ones by ranges."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from footplate.engines.local.data.cache import Cache, Piece
from footplate.storages.base import Files, Source
from footplate.storages.workers import do_all

RANGE_BYTES = 8 * 1024**2
N_THREADS = 8


@dataclass
class Progress:
    """How far a fetch is; threads count, whoever tells of it reads."""

    total_bytes: int
    done_bytes: int = 0
    is_stopped: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, n_bytes: int) -> None:
        with self._lock:
            self.done_bytes += n_bytes


def fetch_all(files: Files, cache: Cache, pieces: Sequence[Piece], progress: Progress) -> None:
    """Bring all pieces into the cache; raise the first error, or `Stopped`."""
    parts: list[_Part] = []
    try:
        do_all(_work(files, cache, pieces, progress, parts), N_THREADS, progress.is_stopped)
    finally:
        for part in parts:
            part.close()


def _work(
    files: Files, cache: Cache, pieces: Sequence[Piece], progress: Progress, parts: list[_Part]
) -> Iterator[Callable[[], None]]:
    """Say what is to be done, one range at a time; taken by one thread at a time."""
    for piece in pieces:
        size = piece.entry.size_bytes
        part = _Part(files, cache, piece, progress, n_ranges=max(1, -(-size // RANGE_BYTES)))
        parts.append(part)
        for begin in range(0, max(size, 1), RANGE_BYTES):
            yield lambda part=part, begin=begin: part.fetch(begin)  # type: ignore[misc]  # bound at once


class _Part:
    """One file on its way into the cache; the thread that brings its last range gives it its name."""

    def __init__(self, files: Files, cache: Cache, piece: Piece, progress: Progress, n_ranges: int) -> None:
        self._files, self._cache, self._piece, self._progress = files, cache, piece, progress
        self._n_left = n_ranges
        self._lock = threading.Lock()
        self._source: Source | None = None
        self._path: Path | None = None
        self._fd = -1

    def fetch(self, begin: int) -> None:
        source = self._open()
        wanted = min(RANGE_BYTES, self._piece.entry.size_bytes - begin)
        at = begin
        for piece in source.fetch(begin, wanted) if wanted else ():
            view = memoryview(piece)
            while view:
                n_written = os.pwrite(self._fd, view, at)
                view, at = view[n_written:], at + n_written
                self._progress.add(n_written)
        if at != begin + wanted:
            raise OSError(errno.EAGAIN, "it has changed while it was read", self._piece.entry.path)
        with self._lock:
            self._n_left -= 1
            is_whole = self._n_left == 0
        if is_whole:
            self._finish()

    def _open(self) -> Source:
        with self._lock:
            if self._source is None:
                self._source = self._files.open(self._piece.entry.path, self._piece.entry)
                self._path = self._cache.part_of(self._piece.key)
                self._fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            return self._source

    def _finish(self) -> None:
        assert self._path is not None
        self._cache.keep(self._path, self._piece.key)
        self._path = None
        self.close()

    def close(self) -> None:
        """Let go; what is not whole goes."""
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
            if self._source is not None:
                self._source.close()
                self._source = None
            if self._path is not None:
                self._path.unlink(missing_ok=True)
                self._path = None
