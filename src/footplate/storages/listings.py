"""Names in large folders, kept for the next page: to read them all takes most of the time of a page."""

from __future__ import annotations

import heapq
import os
import threading
import time
from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass

MANY = 5_000
MOST_KEPT = 4
KEPT_S = 30.0
# A second change within one tick of the file system's clock does not show in the time of the folder.
RESTED_NS = 2 * 10**9


@dataclass(frozen=True, slots=True)
class _Listing:
    names: list[str]
    changed_ns: int
    read_at: float


class Listings:
    """The last large folders that were listed; one that has changed since is read anew."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], _Listing] = OrderedDict()
        self._lock = threading.Lock()

    def first(self, folder_fd: int, after: str, n: int) -> list[str]:
        """The first names of an open folder behind a name, in their order."""
        status = os.fstat(folder_fd)
        key = (status.st_dev, status.st_ino)
        names = self._known(key, status.st_mtime_ns)
        if names is None:
            found = os.listdir(folder_fd)  # of a descriptor
            if len(found) < MANY or not _rests(folder_fd, status.st_mtime_ns):
                return heapq.nsmallest(n, (name for name in found if name > after))
            names = sorted(found)
            self._keep(key, names, status.st_mtime_ns)
        begin = bisect_right(names, after)
        return names[begin : begin + n]

    def _known(self, key: tuple[int, int], changed_ns: int) -> list[str] | None:
        with self._lock:
            known = self._kept.get(key)
            if known is None:
                return None
            if known.changed_ns != changed_ns or time.monotonic() - known.read_at > KEPT_S:
                del self._kept[key]
                return None
            self._kept.move_to_end(key)
            return known.names

    def _keep(self, key: tuple[int, int], names: list[str], changed_ns: int) -> None:
        with self._lock:
            self._kept[key] = _Listing(names, changed_ns, time.monotonic())
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)


def _rests(folder_fd: int, changed_ns: int) -> bool:
    """Tell whether a folder has not changed for a while, nor while its names were read."""
    return time.time_ns() - changed_ns >= RESTED_NS and os.fstat(folder_fd).st_mtime_ns == changed_ns
