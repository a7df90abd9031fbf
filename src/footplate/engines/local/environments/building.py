"""Builds environments: one build of each at a time, for all launches that wait for it."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from footplate.domain.environment import BuiltEnvironment
from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.domain.messages import Message, say
from footplate.domain.redact import redact
from footplate.engines.local.environments import shelf
from footplate.engines.local.environments.imagebuild import container_of
from footplate.engines.local.environments.indexes import passwords
from footplate.engines.local.environments.order import Order
from footplate.engines.local.environments.processbuild import process_of
from footplate.engines.local.environments.settings import EnvironmentSettings
from footplate.engines.local.environments.shelf import Place
from footplate.engines.local.exchange import LocalRequest, LocalTask, ProcessRequest, ProcessTask
from footplate.engines.local.observe.records import Exit
from footplate.machine.taskfiles import unfollowed

LOOK_EVERY_S = 0.5
TAIL_BYTES = 4096
MOST_LOG_BYTES = 256 * 1024
MOST_LINES = 15
MOST_LINE = 200
# Which interpreter and folder it works with, which is ours to know.
UV_SAYS_WHERE = "Using Python "

# Run a task of a request to its end: confined as its owner's tasks are, or in a container.
Run = Callable[[ProcessRequest, ProcessTask], Awaitable[Exit | None]]
RunInImage = Callable[[LocalRequest, LocalTask], Awaitable[Exit | None]]


@dataclass(slots=True)
class _Build:
    """One build under way, and who waits for it."""

    task: asyncio.Task[None]
    order: Order
    began_at: float
    waiting: dict[str, Callable[[Message], None]] = field(default_factory=dict)


class Builds:
    """The builds that are under way; `variables` say where packages come from."""

    def __init__(
        self, run: Run, run_in_image: RunInImage, variables: Mapping[str, str], settings: EnvironmentSettings
    ) -> None:
        self._run = run
        self._run_in_image = run_in_image
        self._variables = variables
        self._hidden = passwords(variables)
        self._settings = settings
        self.is_closing = asyncio.Event()
        self._under_way: dict[Path, _Build] = {}

    @property
    def places(self) -> set[Path]:
        """The environments that are being built."""
        return set(self._under_way)

    def described(self) -> list[BuiltEnvironment]:
        """The environments that are being built, and for whom."""
        return [_describe(build) for build in self._under_way.values()]

    def log_of(self, place: Place) -> str:
        """What a build has printed, of a long one the end; nothing in it is secret."""
        text = _tail(place.log, MOST_LOG_BYTES)
        lines = (line for line in _printable(text) if not line.startswith(UV_SAYS_WHERE))
        return "\n".join(redact(line, self._hidden) for line in lines)

    async def build(self, order: Order, attempt_id: str, tell: Callable[[Message], None]) -> None:
        """Wait until an environment is built; the last who stops waiting ends the build."""
        target = order.place.target
        while (build := self._under_way.get(target)) and build.task.cancelling():
            # Nobody waited for it any more; what comes after it begins anew.
            await asyncio.wait([build.task])
        if build is None:
            task = asyncio.create_task(self._build(order), name=f"footplate-environment-{order.place.key}")
            build = self._under_way[target] = _Build(task, order, time.time())
            task.add_done_callback(lambda _: self._under_way.pop(target, None))
        build.waiting[attempt_id] = tell
        try:
            await asyncio.shield(build.task)
        finally:
            build.waiting.pop(attempt_id, None)
            if not build.waiting and not build.task.done():
                build.task.cancel()
                await asyncio.wait([build.task])

    async def _build(self, order: Order) -> None:
        await asyncio.to_thread(_prepare, order)
        try:
            await self._require_success(order, await self._run_to_end(order))
        except BaseException:
            if not self.is_closing.is_set():
                await asyncio.shield(asyncio.to_thread(shelf.remove, order.place))
            raise
        await asyncio.to_thread(shelf.complete, order.place, order.owner, order.inputs)

    async def _run_to_end(self, order: Order) -> Exit | None:
        """Run a build, tell what it is at, and end one that takes too long or too much of the disk."""
        running = asyncio.ensure_future(self._begin(order))
        began_at, told = time.monotonic(), None
        try:
            while not running.done():
                line = await asyncio.to_thread(self._last_line, order)
                if line != told:
                    self._tell(order, line)
                    told = line
                await asyncio.to_thread(self._check_bounds, order, began_at)
                await asyncio.wait([running], timeout=LOOK_EVERY_S)
            return running.result()
        finally:
            running.cancel()
            await asyncio.wait([running])

    def _begin(self, order: Order) -> Awaitable[Exit | None]:
        if order.inputs.image:
            return self._run_in_image(*container_of(order, self._variables))
        return self._run(*process_of(order, self._variables))

    def _tell(self, order: Order, line: str) -> None:
        said = say("environment_building", what=order.inputs.what, line=line or None)
        for tell in list(self._under_way[order.place.target].waiting.values()):
            tell(said)

    def _check_bounds(self, order: Order, began_at: float) -> None:
        what, within_s = order.inputs.what, self._settings.built_within_s
        if time.monotonic() - began_at > within_s:
            line = self._last_line(order)
            raise EngineRejected("environment_too_slow", what=what, seconds=within_s, line=line)
        free_bytes = shutil.disk_usage(order.place.records).free
        if free_bytes < self._settings.least_free_bytes:
            raise EngineRejected("environment_disk_full", what=what, free_bytes=free_bytes)

    async def _require_success(self, order: Order, ended: Exit | None) -> None:
        what = order.inputs.what
        if ended is None:
            # Killed from outside, as with the machine: nobody knows whether it would have gone well.
            raise EngineUnavailable("environment_killed", what=what)
        if ended.n_oom_kills and ended.code and ended.limit_bytes:
            raise EngineRejected("environment_out_of_memory", what=what, limit_bytes=ended.limit_bytes)
        if ended.code:
            lines = await asyncio.to_thread(self._last_lines, order)
            error = "\n".join(lines) or f"exit code {ended.code}"
            raise EngineRejected("environment_not_built", what=what, error=error)

    def _last_line(self, order: Order) -> str:
        return (self._last_lines(order) or [""])[-1][:MOST_LINE]

    def _last_lines(self, order: Order) -> list[str]:
        return [redact(line, self._hidden) for line in last_lines(order.place.log)]

    async def close(self) -> None:
        """Stop waiting; what builds goes on."""
        self.is_closing.set()
        tasks = [build.task for build in self._under_way.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _describe(build: _Build) -> BuiltEnvironment:
    order = build.order
    return BuiltEnvironment(
        id=order.place.key,
        owner=order.owner,
        kind=order.inputs.kind,
        what=order.inputs.what,
        python=order.inputs.python,
        size_bytes=0,
        built_at=build.began_at,
        used_at=build.began_at,
        attempts=tuple(sorted(build.waiting)),
        image=order.inputs.image.name if order.inputs.image else "",
        is_building=True,
    )


def _prepare(order: Order) -> None:
    """Begin anew, unless a build that an earlier server began can still be waited for."""
    try:
        if not shelf.goes_on(order.place):
            shelf.lay_out(order.place, order.inputs)
    except OSError as error:
        raise EngineUnavailable("environment_not_built", what=order.inputs.what, error=str(error)) from error


def last_lines(log: Path) -> list[str]:
    """Read the last words of a build."""
    lines = _printable(_tail(log, TAIL_BYTES))
    return [line for line in lines if line and not line.startswith(UV_SAYS_WHERE)][-MOST_LINES:]


def _tail(log: Path, most_bytes: int) -> str:
    """Read the end of what a build has written itself: any bytes."""
    try:
        with open(log, "rb", opener=unfollowed) as file:  # only this one takes an opener
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - most_bytes))
            return file.read(most_bytes).decode(errors="replace")
    except OSError:
        return ""


def _printable(text: str) -> list[str]:
    return ["".join(char for char in line if char.isprintable()).rstrip() for line in text.splitlines()]
