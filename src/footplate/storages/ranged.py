"""A file that is read over a network, by large ranges whatever the reader asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from footplate.storages.base import Entry

# A request for each of a reader's small pieces would take longer than the pieces.
READ_AHEAD_BYTES = 8 * 1024**2


class RangedSource:
    """Reads through `fetch(start, n_bytes)`, which yields pieces, and keeps what it has read ahead."""

    def __init__(self, entry: Entry, fetch: Callable[[int, int], Iterator[bytes | memoryview]]) -> None:
        self.entry = entry
        self._fetch = fetch
        self._start, self._held = 0, b""

    def read(self, offset: int, n_bytes: int) -> bytes:
        if not self._start <= offset < self._start + len(self._held):
            wanted = min(max(n_bytes, READ_AHEAD_BYTES), self.entry.size_bytes - offset)
            if wanted <= 0:
                return b""
            self._start, self._held = offset, b"".join(self._fetch(offset, wanted))
        begin = offset - self._start
        return self._held[begin : begin + n_bytes]

    def fetch(self, offset: int, n_bytes: int) -> Iterator[bytes | memoryview]:
        return self._fetch(offset, n_bytes)

    def fileno(self) -> int | None:
        return None

    def close(self) -> None:
        self._held = b""
