"""Brings staged volumes to this machine before the tasks of an attempt start."""

from __future__ import annotations

import asyncio
import errno
import io
import shutil
import threading
import time
from collections.abc import Callable, Container, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from footplate.domain.errors import EngineError, EngineRejected, EngineUnavailable
from footplate.domain.messages import Message, say
from footplate.domain.storage import Storage
from footplate.engines.base import FindStorage, Step
from footplate.engines.local.data.cache import Cache, Piece, Use, tree_key
from footplate.engines.local.data.fetching import Progress, fetch_all
from footplate.engines.local.data.listing import find
from footplate.engines.local.data.settings import DataSettings
from footplate.engines.local.exchange import LocalRequest, Mount, Packages
from footplate.engines.local.wanted import Wanted
from footplate.home.layout import staged_folder
from footplate.storages.base import Files
from footplate.storages.lanes import Lanes
from footplate.storages.workers import Stopped

T = TypeVar("T")
STEP = "data"
TELL_EVERY_S = 2.0
# What is listed and then read may have been changed in between.
TRIES = 3
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass
class _Fetch:
    """A tree that is being fetched, for all who wait for it."""

    task: asyncio.Task[None]
    progress: Progress
    n_waiting: int = 0


class Staging:
    """Fetches what attempts need and the cache does not have; equal data is fetched once for all."""

    def __init__(self, home: Path, settings: DataSettings, tell: Callable[[Step], None]) -> None:
        self._folder = staged_folder(home)
        self._cache = Cache(self._folder)
        self._settings = settings
        self._tell = tell
        self._lanes = Lanes()
        self._find: FindStorage | None = None
        self._fetches: dict[str, _Fetch] = {}
        self._wanted: Wanted[dict[str, Use]] = Wanted("data_not_wanted")

    def use_storages(self, find_storage: FindStorage) -> None:
        self._find = find_storage

    async def provide(self, request: LocalRequest) -> LocalRequest:
        """Have all that is staged for a request here, and lead its mounts there."""
        wanted = [mount for mount in request["mounts"] if mount.get("staged")]
        if not wanted:
            return request
        attempt_id = request["attempt_id"]
        if not await asyncio.to_thread(self._cache.noted, attempt_id):
            await self._wanted.wait(attempt_id, self._provide(attempt_id, wanted))
        return await asyncio.to_thread(self.led, request)

    def led(self, request: LocalRequest) -> LocalRequest:
        """Lead the mounts of a request to what was staged for its attempt."""
        if not any(mount.get("staged") for mount in request["mounts"]):
            return request
        uses = self._cache.noted(request["attempt_id"])
        mounts = [self._lead(mount, uses) for mount in request["mounts"]]
        return {**request, "mounts": mounts, "packages": _with_code(request, mounts)}

    def _lead(self, mount: Mount, uses: dict[str, Use]) -> Mount:
        use = uses.get(mount["target"])
        if not mount.get("staged") or use is None:
            return mount
        return {**mount, "source": str(self._cache.tree(use.tree)), "inner": use.inner}

    def abandon(self, attempt_id: str) -> None:
        self._wanted.abandon(attempt_id)

    async def _provide(self, attempt_id: str, wanted: Sequence[Mount]) -> dict[str, Use]:
        uses: dict[str, Use] = {}
        with ExitStack() as held:
            for mount in wanted:
                uses[mount["target"]] = await self._bring(attempt_id, mount["staged"], mount["inner"], held)
            await asyncio.to_thread(self._cache.note, attempt_id, uses)
        return uses

    async def _bring(self, attempt_id: str, name: str, inner: str, held: ExitStack) -> Use:
        assert self._find is not None
        for n_try in range(1, TRIES + 1):
            storage, files = await self._find(attempt_id, name)
            try:
                return await self._bring_once(attempt_id, storage, files, inner, held)
            except OSError as error:
                if error.errno != errno.EAGAIN or n_try == TRIES:
                    raise _failure(storage, inner, error) from error
        raise AssertionError

    async def _bring_once(
        self, attempt_id: str, storage: Storage, files: Files, inner: str, held: ExitStack
    ) -> Use:
        began_at, stop = time.monotonic(), threading.Event()

        def tell(said: Message, is_done: bool = False) -> None:
            self._tell(Step(attempt_id, STEP, said, time.monotonic() - began_at, is_done))

        try:
            pieces, one = await self._run(storage, lambda: find(files, storage, inner, stop))
        finally:
            stop.set()
        key = tree_key(pieces)
        held.enter_context(self._cache.holding([key, *(piece.key for piece in pieces)]))
        missing = await self._run(storage, lambda: self._missing(key, pieces))
        total_bytes = sum(piece.entry.size_bytes for piece in pieces)
        new_bytes = sum(piece.entry.size_bytes for piece in missing)
        await self._fetch(storage, files, key, pieces, missing, tell)
        kept_bytes = total_bytes - new_bytes
        tell(
            say(
                "data_ready",
                storage=storage.name,
                n_files=len(pieces),
                total_bytes=total_bytes,
                kept_bytes=kept_bytes or None,
            ),
            is_done=True,
        )
        return Use(key, one)

    def _missing(self, key: str, pieces: Sequence[Piece]) -> list[Piece]:
        if self._cache.tree(key).is_dir():
            return []
        unique = {piece.key: piece for piece in pieces if not self._cache.has(piece)}
        return list(unique.values())

    async def _run(self, storage: Storage, work: Callable[[], T]) -> T:
        return await self._lanes.long_of(storage.name).run(work)

    async def _fetch(
        self,
        storage: Storage,
        files: Files,
        key: str,
        pieces: Sequence[Piece],
        missing: Sequence[Piece],
        tell: Callable[[Message], None],
    ) -> None:
        """Join a fetch of the same data, or begin one; the last who leaves ends it."""
        while (fetch := self._fetches.get(key)) is not None and fetch.progress.is_stopped.is_set():
            # Whoever wanted it has left, and it is being ended.
            await asyncio.wait([fetch.task])
            await asyncio.sleep(0)
        if fetch is None:
            progress = Progress(sum(piece.entry.size_bytes for piece in missing))
            task = asyncio.create_task(self._fetch_tree(storage, files, key, pieces, missing, progress))
            fetch = self._fetches[key] = _Fetch(task, progress)
            task.add_done_callback(lambda _: self._fetches.pop(key))
        fetch.n_waiting += 1
        try:
            while not (await asyncio.wait([fetch.task], timeout=TELL_EVERY_S))[0]:
                done, total = fetch.progress.done_bytes, fetch.progress.total_bytes
                tell(say("data_staging", storage=storage.name, done_bytes=done, total_bytes=total))
            fetch.task.result()
        finally:
            fetch.n_waiting -= 1
            if not fetch.n_waiting:
                fetch.progress.is_stopped.set()

    async def _fetch_tree(
        self,
        storage: Storage,
        files: Files,
        key: str,
        pieces: Sequence[Piece],
        missing: Sequence[Piece],
        progress: Progress,
    ) -> None:
        def work() -> None:
            if missing:
                self._require_room(progress.total_bytes)
                fetch_all(files, self._cache, missing, progress)
            if not self._cache.tree(key).is_dir():
                self._cache.plant(key, pieces)

        try:
            await self._run(storage, work)
        except Stopped:
            raise EngineUnavailable("data_not_wanted", attempt=storage.name) from None

    def _require_room(self, wanted_bytes: int) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        free_bytes = shutil.disk_usage(self._folder).free - self._settings.least_free_bytes
        if wanted_bytes > free_bytes:
            raise EngineUnavailable("data_no_room", wanted_bytes=wanted_bytes, free_bytes=max(0, free_bytes))

    async def sweep(self, known_attempts: Container[str]) -> None:
        settings = self._settings
        if await asyncio.to_thread(self._folder.is_dir):
            await asyncio.to_thread(self._cache.sweep, known_attempts, settings.kept_s, settings.most_bytes)

    async def close(self) -> None:
        for fetch in list(self._fetches.values()):
            fetch.progress.is_stopped.set()
            fetch.task.cancel()


def _with_code(request: LocalRequest, mounts: Sequence[Mount]) -> Packages | None:
    """Say where the code is now from which a job's packages are read, if it was brought."""
    packages = request.get("packages")
    if packages is None or packages["code"] is not None:
        return packages
    work = {task["work_folder"] for task in request["tasks"]}
    code = next((one for one in mounts if one.get("staged") and one["target"] in work), None)
    return {**packages, "code": (code["source"], code["inner"])} if code else packages


def _failure(storage: Storage, inner: str, error: OSError) -> EngineError:
    """Say whose fault it is: what the job names wrongly, or what may pass."""
    named = {"storage": storage.name, "inner": inner or "/", "error": error.strerror or str(error)}
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return EngineRejected("storage_has_no", storage=storage.name, inner=inner or "/")
    if isinstance(error, io.UnsupportedOperation | PermissionError | IsADirectoryError):
        return EngineRejected("data_refused", **named)
    if error.errno in _FULL:
        return EngineUnavailable("data_disk_full", storage=storage.name)
    return EngineUnavailable("data_not_read", **named)
