"""Hears from what watches over a task that the task is over.

The kernel tells the same later: it takes down the task's namespaces first, for a millisecond or two. By then
all that the task ran has ended, and how is recorded. What is not heard here is noticed as the end of the
process: of tasks that an earlier server has started, or where too much was said at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections import deque
from collections.abc import Callable

from footplate.engines.local.observe.records import Identity
from footplate.engines.local.process.processes import boot_id

CHUNK_BYTES = 1 << 16
# Ends of tasks that are heard of before their start is.
MOST_EARLY = 1024


class Ends:
    """One pipe for all tasks; they write their name into it as the last thing they do."""

    def __init__(self, tell: Callable[[Identity], bool]) -> None:
        """`tell` returns whether it knew the task."""
        self._tell = tell
        self._fd, self.lent_fd = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._unread = b""
        self._early: deque[Identity] = deque(maxlen=MOST_EARLY)

    def listen(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._fd, self._hear)

    def is_over(self, identity: Identity) -> bool:
        """Tell whether a task whose start is heard of just now has ended already; asked once for each."""
        if identity not in self._early:
            return False
        self._early.remove(identity)
        return True

    def _hear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._unread += os.read(self._fd, CHUNK_BYTES)
        *names, self._unread = self._unread.split(b"\n")
        for name in names:
            if match := re.fullmatch(rb"(\d{1,10})-(\d{1,20})", name):
                identity = Identity(int(match[1]), int(match[2]), boot_id())
                if not self._tell(identity):
                    self._early.append(identity)

    def close(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._fd)
        os.close(self._fd)
        os.close(self.lent_fd)
