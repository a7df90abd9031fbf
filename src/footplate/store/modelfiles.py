"""Files of models by their content: each content once, however many versions have it.

A content gets its name when all of it is on the disk, so a crash leaves the whole of it or a leftover that
the sweep removes. What a registration under way has claimed, the sweep leaves alone.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from footplate.home.layout import models_folder

T = TypeVar("T")
_PARTIAL = ".part-"
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Content:
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Freed:
    """How many files a sweep removed, or would remove, and their bytes."""

    n_files: int = 0
    size_bytes: int = 0

    def __add__(self, other: Freed) -> Freed:
        return Freed(self.n_files + other.n_files, self.size_bytes + other.size_bytes)


class Intake:
    """A content on its way in: `write` it, then `finish`; `abandon` is safe at any time."""

    def __init__(self, files: ModelFiles, partial: Path) -> None:
        self._files = files
        self._partial = partial
        self._out = partial.open("xb")
        self._hasher = hashlib.sha256()
        self.size_bytes = 0

    def write(self, data: bytes) -> None:
        self._hasher.update(data)
        self._out.write(data)
        self.size_bytes += len(data)

    @property
    def sha256(self) -> str:
        return self._hasher.hexdigest()

    def finish(self) -> Content:
        """Put the content in its place, durably; it stays claimed until `release`."""
        self._out.flush()
        os.fsync(self._out.fileno())
        self._out.close()
        self._files.place(self._partial, self.sha256)
        return Content(self.sha256, self.size_bytes)

    def abandon(self) -> None:
        self._out.close()
        self._partial.unlink(missing_ok=True)


class ModelFiles:
    """Contents in a home, named by their digests."""

    def __init__(self, home: Path) -> None:
        self._folder = models_folder(home)
        self._lock = threading.Lock()
        self._claims: Counter[str] = Counter()
        # Threads of their own: large models must not keep launches and stops waiting.
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="footplate-models")

    async def run(self, work: Callable[[], T]) -> T:
        """Run what reads or writes much in a thread that nobody else waits for."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def path(self, sha256: str) -> Path | None:
        """Where a content lies, or None when it is not there."""
        place = self._place(sha256) if _DIGEST.fullmatch(sha256) else None
        return place if place is not None and place.is_file() else None

    def _place(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / sha256

    @contextmanager
    def intake(self) -> Iterator[Intake]:
        """Begin to take a content in."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        intake = Intake(self, self._folder / f"{_PARTIAL}{os.urandom(8).hex()}")
        try:
            yield intake
        finally:
            intake.abandon()

    def place(self, partial: Path, sha256: str) -> None:
        """Give a content that is on the disk its name; what is there already stays."""
        target = self._place(sha256)
        with self._lock:
            self._claims[sha256] += 1
            target.parent.mkdir(mode=0o700, exist_ok=True)
            if target.exists():
                os.utime(target)
            else:
                partial.replace(target)
        for folder in (target.parent, self._folder):
            _sync(folder)

    def claim(self, sha256: str) -> Content | None:
        """Keep a content from the sweep until `release`; None when it is not there."""
        with self._lock:
            place = self.path(sha256)
            if place is None:
                return None
            self._claims[sha256] += 1
            os.utime(place)
            return Content(sha256, place.stat().st_size)

    def release(self, digests: Iterable[str]) -> None:
        """Give claims back: what was registered is in the database by now."""
        with self._lock:
            for sha256 in digests:
                self._claims[sha256] -= 1
                if self._claims[sha256] <= 0:
                    del self._claims[sha256]
                place = self.path(sha256)
                if place is not None:
                    # A sweep that has looked into the database before sees by this that it is news.
                    os.utime(place)

    def sweep(self, kept_s: float, in_use: Callable[[], Collection[str]], dry_run: bool = False) -> Freed:
        """Remove contents that no version has, and leftovers of crashes, untouched for so long."""
        old = list(self._untouched(kept_s))
        if not old:
            return Freed()
        used, freed = in_use(), Freed()
        for path, modified_ns in old:
            if path.name not in used:
                freed += self._remove(path, modified_ns, dry_run)
        return freed

    def _untouched(self, kept_s: float) -> Iterator[tuple[Path, int]]:
        # The age is on the clock of the machine, which also dated the files.
        before_ns = int((time.time() - kept_s) * 1e9)
        for path in (*self._folder.glob(f"{_PARTIAL}*"), *self._folder.glob("??/*")):
            try:
                modified_ns = path.stat().st_mtime_ns
            except FileNotFoundError:
                continue
            if modified_ns < before_ns:
                yield path, modified_ns

    def _remove(self, path: Path, modified_ns: int, dry_run: bool) -> Freed:
        with self._lock:
            try:
                status = path.stat()
            except FileNotFoundError:
                return Freed()
            if self._claims[path.name] > 0 or status.st_mtime_ns != modified_ns:
                return Freed()
            if not dry_run:
                path.unlink()
        return Freed(1, status.st_size)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
