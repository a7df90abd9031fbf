"""Free space on the disk of the home folder, and the reserve for a full disk.

A job that fills the disk must still be stopped and deleted, and whoever does that must sign in. So some room
is kept in files that nobody needs: when a write fails for lack of room, one of them goes and the write is
tried again. They come back when there is room. What only adds to the disk is refused before that.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from footplate.domain.errors import DiskFull
from footplate.domain.messages import Message, say
from footplate.domain.resources import MIB, show_bytes
from footplate.home.layout import reserve_folder

log = logging.getLogger(__name__)

RESERVE_BYTES = 16 * MIB
LEAST_BYTES = 256 * MIB
# Files that the disk must have room for, where it counts them.
LEAST_FILES = 10_000
# Several, since whoever fills the disk takes what is given up as well.
N_PIECES = 8
# Of a small disk no more than this part is kept back, or asked for.
LARGEST_PART = 1 / 20
SAMPLE_EVERY_S = 2.0
TINY_BYTES = MIB // 4


class Disk:
    """Watched from a thread of its own, and given way by the store's; the rest only asks."""

    def __init__(
        self, home: Path, reserve_bytes: int = RESERVE_BYTES, least_bytes: int = LEAST_BYTES
    ) -> None:
        self._home = home
        self._folder = reserve_folder(home)
        self._asked = (reserve_bytes, least_bytes)
        self._lock = threading.Lock()
        self.person_quota_bytes: int | None = None
        # What the files of each person's jobs take, where that is measured.
        self.taken_by: Mapping[str, int] = {}
        self._listeners: list[Callable[[], None]] = []
        self.free_bytes: int | None = None
        self.least_bytes = 0
        self._free_files = self._least_files = 0

    def device(self) -> int:
        """The number of the disk, as the kernel has it."""
        return self._home.stat().st_dev

    @property
    def is_low(self) -> bool:
        return self._lacks_bytes or self._lacks_files

    @property
    def _lacks_bytes(self) -> bool:
        return self.free_bytes is not None and self.free_bytes < self.least_bytes

    @property
    def _lacks_files(self) -> bool:
        """Say whether too few more files can be made, as a job with millions of small ones brings about."""
        return self._free_files < self._least_files

    def require_room(self, person: str, n_bytes: int = 0) -> None:
        """Raise `DiskFull` when nothing may be added any more, or nothing by this person, or not so much."""
        if self.is_low:
            # It may have become better since the last sample.
            with suppress(OSError):
                self._measure()
        if self.is_low:
            raise DiskFull(self._tell_low())
        if self.free_bytes is not None and self.free_bytes - n_bytes < self.least_bytes:
            raise DiskFull(
                "disk_no_room",
                wanted_bytes=n_bytes,
                free_bytes=self.free_bytes,
                least_bytes=self.least_bytes,
            )
        taken = self.taken_by.get(person, 0)
        if self.person_quota_bytes is not None and taken > self.person_quota_bytes:
            raise DiskFull("person_quota_over", taken_bytes=taken, quota_bytes=self.person_quota_bytes)

    def tell(self) -> Message | None:
        """Say how the disk stands, and what to do; None when all is well."""
        return self._tell_low() if self.is_low else None

    def _tell_low(self) -> Message:
        if self._lacks_files and not self._lacks_bytes:
            return say("disk_low_in_files", n_free=self._free_files, n_least=self._least_files)
        return say("disk_low", free_bytes=self.free_bytes or 0, least_bytes=self.least_bytes)

    def sample(self) -> None:
        """See how much room there is; take back the reserve when there is enough."""
        was_low = self.is_low
        reserve, free = self._measure()
        if self.is_low and not was_low:
            log.warning("%s", self.tell())
        elif was_low and not self.is_low:
            log.info("the server's disk has room again: %s", show_bytes(free))
        with self._lock:
            self._refill(reserve // N_PIECES, free - self.least_bytes)

    def _measure(self) -> tuple[int, int]:
        """See how much room there is; return how much of it is to be the reserve, and the room."""
        status = os.statvfs(self._home)
        size = status.f_blocks * status.f_frsize
        reserve, self.least_bytes = (min(asked, int(size * LARGEST_PART)) for asked in self._asked)
        self.free_bytes = free = status.f_bavail * status.f_frsize
        # Zero where the file system makes room for files as it needs it.
        self._least_files = min(LEAST_FILES, int(status.f_files * LARGEST_PART))
        self._free_files = status.f_favail
        return reserve, free

    def _refill(self, piece_bytes: int, spare_bytes: int) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        missing = [path for path in self._pieces() if not path.exists()] if piece_bytes else []
        # Not all at once with the last room: what was given up a moment ago is still needed.
        if spare_bytes < 2 * piece_bytes * len(missing):
            return
        for path in missing:
            half = path.with_suffix(".new")
            try:
                with half.open("wb") as out:
                    os.posix_fallocate(out.fileno(), 0, piece_bytes)
                half.replace(path)
            except OSError:
                half.unlink(missing_ok=True)
                return

    def give_way(self, is_sure: bool = True) -> bool:
        """Give up a piece of the reserve for a write that found no room; False when none is left.

        Where it is not sure that it was for lack of room, the disk decides.
        """
        if not is_sure and self._room() > TINY_BYTES:
            return False
        with self._lock:
            for path in self._pieces():
                with suppress(OSError):
                    path.unlink()
                    log.warning("the server's disk is full: a part of its reserve is given up")
                    return True
        return False

    def _room(self) -> int:
        status = os.statvfs(self._home)
        return status.f_bavail * status.f_frsize

    def _pieces(self) -> list[Path]:
        return [self._folder / str(number) for number in range(N_PIECES)]

    async def watch(self) -> None:
        """Look once, and tell those who listen what has changed."""
        was_low = self.is_low
        try:
            await asyncio.to_thread(self.sample)
        except OSError as error:
            log.warning("the server's disk cannot be looked at: %s", error)
        if was_low != self.is_low:
            for tell in self._listeners:
                tell()

    def on_change(self, tell: Callable[[], None]) -> None:
        """Call somebody when the disk becomes nearly full, or has room again."""
        self._listeners.append(tell)
