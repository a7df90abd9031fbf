"""What tests do to an engine: launch, observe, wait, restart, clean up."""

from __future__ import annotations

import asyncio
import shutil
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, Protocol, TypeVar

from footplate.domain.attempt import Attempt
from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.resources import Resources
from footplate.domain.spec import CodeRef, JobSpec, RoleSpec
from footplate.domain.states import TaskState
from footplate.domain.storage import Storage, Volume
from footplate.engines.base import Engine, GivesHints, LaunchPlan, Observation, Request
from footplate.engines.local.machine.settings import LocalSettings
from footplate.home.layout import attempt_folder, log_file, task_folder

DEADLINE_S = 60
T = TypeVar("T")


JOB_ID = "0contract001"


class Folders(dict[str, Storage]):
    """Every folder is a storage, by its path; no task can change what lies there."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Storage:
        return Storage(name, name)


def local_settings(home: Path, **more: Any) -> LocalSettings:
    """Settings of a local engine for which every folder is a storage, and every archive an upload."""
    return LocalSettings(home=home, **{"storages": Folders(), "find_code": Path, **more})


def volume(folder: Path, target: str, read_only: bool = True, inner: str = "") -> Volume:
    """Have a folder mounted."""
    return Volume(str(folder), inner, target, read_only)


def upload(folder: Path, read_only: bool = False) -> CodeRef:
    """Pack a folder as the code of a job."""
    archive = shutil.make_archive(str(folder), "tar", folder)
    return CodeRef(upload=archive, read_only=read_only)


def plan(*roles: RoleSpec, attempt: int = 0, **more: Any) -> LaunchPlan:
    """Build a launch of the roles, one port for each task; `gpus` by role, `resources` where they matter."""
    spec = JobSpec("contract", roles, **more.pop("spec", {}))
    names = [(role.name, index) for role in roles for index in range(role.count)]
    gpus: Mapping[str, tuple[int, ...]] = more.pop("gpus", {})
    resources: Resources = more.pop("resources", Resources(1000, 2**30))
    tasks = tuple(
        TaskPlacement(name, index, "here", resources, gpus.get(name, ()), (("main", (40_000 + i,)),))
        for i, (name, index) in enumerate(names)
    )
    job_id, owner = more.pop("job_id", JOB_ID), more.pop("owner", "ann")
    return LaunchPlan(job_id, owner, attempt, spec, Placement(tasks), **more)


class Bench:
    """An engine under test with what tests do to it."""

    def __init__(self, make: Callable[[], Engine], folder: Path, home: Path | None = None) -> None:
        self._make = make
        self.folder = folder
        # Where the engine keeps the files of tasks.
        self.home = home or folder
        self.job_id = f"job{uuid.uuid4().hex[:9]}"
        self.hints: list[str] = []
        self._attempts: dict[str, Attempt] = {}
        self.engine: Engine

    def open(self) -> None:
        self.engine = self._make()
        if isinstance(self.engine, GivesHints):
            self.engine.on_change(self.hints.append)

    async def restart(self) -> None:
        await self.engine.close()
        self.open()

    def compile(self, *roles: RoleSpec | str, **more: Any) -> Any:
        """Make a request, of whichever engine; what comes of it is stopped when the test ends."""
        specs = [RoleSpec(role) if isinstance(role, str) else role for role in roles]
        planned = plan(*specs, **{"job_id": self.job_id, **more})
        self._attempts[planned.attempt_id] = planned.name
        return self.engine.compile(planned)

    def attempt_of(self, request: Request) -> Attempt:
        """Name what a request starts."""
        return self._attempts[request["attempt_id"]]

    async def start(self, request: Request) -> Attempt:
        await self.engine.launch(request)
        return self.attempt_of(request)

    async def launch(self, *roles: RoleSpec | str, **more: Any) -> Attempt:
        return await self.start(self.compile(*roles, **more))

    async def see(self, launched: Attempt) -> list[Observation]:
        return list(await self.engine.observe([launched]))

    async def see_one(self, launched: Attempt) -> Observation:
        (one,) = await self.see(launched)
        return one

    async def until_over(self, launched: Attempt) -> list[Observation]:
        async def find() -> list[Observation] | None:
            seen = await self.see(launched)
            return seen if all(one.state.is_over for one in seen) else None

        return await until(find)

    async def exit_code(self, launched: Attempt) -> int | None:
        (one,) = await self.until_over(launched)
        assert one.state is TaskState.EXITED, one
        return one.exit_code

    async def close(self) -> None:
        try:
            for launched in self._attempts.values():
                await self.engine.stop(launched, grace_s=0)
        finally:
            await self.engine.close()

    def task(self, launched: Attempt, role: str = "main", index: int = 0) -> Path:
        return task_folder(attempt_folder(self.home, launched.job_id, launched.number), role, index)

    def log(self, launched: Attempt, role: str = "main", index: int = 0) -> bytes:
        path = log_file(self.task(launched, role, index))
        return path.read_bytes() if path.exists() else b""

    async def until_logged(self, launched: Attempt, text: bytes, role: str = "main", index: int = 0) -> bytes:
        async def find() -> bytes | None:
            log = self.log(launched, role, index)
            return log if text in log else None

        return await until(find)


async def until(find: Callable[[], Awaitable[T | None]], deadline_s: float = 20) -> T:
    """Look again and again until there is something to see."""
    ends_at = time.monotonic() + deadline_s
    while (seen := await find()) is None:
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
