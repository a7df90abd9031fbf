"""What tests do to an engine: launch, look, wait, restart, clean up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, Protocol, TypeVar

from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.layout import log_file, task_folder
from footplate.domain.resources import Resources
from footplate.domain.spec import JobSpec, RoleSpec
from footplate.domain.states import TaskState
from footplate.engines.base import Engine, GivesHints, Handle, LaunchPlan, Observation, Request

DEADLINE_S = 60
T = TypeVar("T")


def plan(folder: Path, *roles: RoleSpec, attempt: int = 0, **more: Any) -> LaunchPlan:
    """Build a launch of the roles, one port for each task; `gpus` by role, `resources` where they matter."""
    spec = JobSpec("contract", roles, **more.pop("spec", {}))
    names = [(role.name, index) for role in roles for index in range(role.count)]
    gpus: Mapping[str, tuple[int, ...]] = more.pop("gpus", {})
    resources: Resources = more.pop("resources", Resources(1000, 2**30))
    tasks = tuple(
        TaskPlacement(name, index, "here", resources, gpus.get(name, ()), (("main", (40_000 + i,)),))
        for i, (name, index) in enumerate(names)
    )
    job_id = more.pop("job_id", f"job{abs(hash(folder)) % 10**8}")
    owner = more.pop("owner", "ann")
    return LaunchPlan(job_id, owner, attempt, spec, Placement(tasks), folder / f"attempt-{attempt}", **more)


class Bench:
    """An engine under test with what tests do to it."""

    def __init__(self, make: Callable[[], Engine], folder: Path) -> None:
        self._make = make
        self.folder = folder
        self.hints: list[str] = []
        self._handles: list[Handle] = []
        self.engine: Engine

    def open(self) -> None:
        self.engine = self._make()
        if isinstance(self.engine, GivesHints):
            self.engine.on_change(self.hints.append)

    async def restart(self) -> None:
        await self.engine.close()
        self.open()

    def compile(self, *roles: RoleSpec | str, **more: Any) -> Request:
        """Make a request; what comes of it is stopped when the test ends."""
        specs = [RoleSpec(role) if isinstance(role, str) else role for role in roles]
        request = self.engine.compile(plan(self.folder, *specs, **more))
        self._handles.append(self.engine.handle_of(request))
        return request

    async def launch(self, *roles: RoleSpec | str, **more: Any) -> Handle:
        return await self.engine.launch(self.compile(*roles, **more))

    async def see(self, handle: Handle) -> list[Observation]:
        return list(await self.engine.observe([handle]))

    async def see_one(self, handle: Handle) -> Observation:
        (one,) = await self.see(handle)
        return one

    async def until_over(self, handle: Handle) -> list[Observation]:
        async def look() -> list[Observation] | None:
            seen = await self.see(handle)
            return seen if all(one.state.is_over for one in seen) else None

        return await until(look)

    async def exit_code(self, handle: Handle) -> int | None:
        (one,) = await self.until_over(handle)
        assert one.state is TaskState.EXITED, one
        return one.exit_code

    async def close(self) -> None:
        try:
            for handle in self._handles:
                await self.engine.stop(handle, grace_s=0)
        finally:
            await self.engine.close()

    def task(self, handle: Handle, role: str = "main", index: int = 0) -> Path:
        return task_folder(Path(handle["folder"]), role, index)

    def log(self, handle: Handle, role: str = "main", index: int = 0) -> bytes:
        path = log_file(self.task(handle, role, index))
        return path.read_bytes() if path.exists() else b""

    async def until_logged(self, handle: Handle, text: bytes, role: str = "main", index: int = 0) -> bytes:
        async def look() -> bytes | None:
            log = self.log(handle, role, index)
            return log if text in log else None

        return await until(look)


async def until(look: Callable[[], Awaitable[T | None]], deadline_s: float = 20) -> T:
    """Look again and again until there is something to see."""
    ends_at = time.monotonic() + deadline_s
    while (seen := await look()) is None:
        assert time.monotonic() < ends_at, "it did not happen in time"
        await asyncio.sleep(0.005)
    return seen


class RunsLoop(Protocol):
    def run_loop(self, main: Coroutine[Any, Any, None]) -> None: ...


Test = Callable[[Any, Bench], Coroutine[Any, Any, None]]


def on_loop(test: Test) -> Callable[[Any, Bench], None]:
    """Run a test coroutine on the event loop of its class and clean up after it."""

    @wraps(test)
    def run(self: RunsLoop, bench: Bench) -> None:
        async def main() -> None:
            bench.open()
            try:
                async with asyncio.timeout(DEADLINE_S):
                    await test(self, bench)
            finally:
                await bench.close()

        self.run_loop(main())

    return run
