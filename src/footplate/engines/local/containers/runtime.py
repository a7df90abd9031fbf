"""Tasks as containers: created and started through the engine's socket, watched as processes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Container,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
)
from pathlib import Path
from weakref import WeakValueDictionary

from footplate.domain.errors import EngineError, EngineRejected, EngineUnavailable, NotFound
from footplate.domain.messages import Message, say
from footplate.domain.secret import RegistryLogin
from footplate.domain.states import TaskState
from footplate.engines.base import Step, Stream
from footplate.engines.local.containers import claiming, ending, starting
from footplate.engines.local.containers.api import TIMEOUT_S, ContainerApi, Document
from footplate.engines.local.containers.connection import Connection
from footplate.engines.local.containers.describing import describe, home_label, key_of
from footplate.engines.local.containers.entering import enter, is_entered
from footplate.engines.local.containers.exec import exec_in_container
from footplate.engines.local.containers.folders import make_folders
from footplate.engines.local.containers.images import Images
from footplate.engines.local.containers.listing import containers_with
from footplate.engines.local.containers.losing import explain
from footplate.engines.local.containers.naming import ATTEMPT, HOME, container_name, is_building
from footplate.engines.local.containers.sources import Sources
from footplate.engines.local.containers.tidying import Tidying
from footplate.engines.local.exchange import Answer, LocalRequest, LocalTask
from footplate.engines.local.machine.settings import LocalSettings
from footplate.engines.local.observe.records import Exit, Identity, read_claim
from footplate.engines.local.observe.task import Observed, observe_task
from footplate.engines.local.observe.watches import TaskKey, Watch
from footplate.engines.local.process.errand import run_errand

KILL_AGAIN_AFTER_S = 2.0
SWEEP_WITHIN_S = 30.0
ASK_WITHIN_S = 60.0
# Run in the container. Once the command has begun, everything there is asked to end, the first process first.
ASK_ALL = """
read -r child </proc/1/task/1/children || [ "$child" ] || exit 1
kill -TERM 1
kill -TERM -1
kill -CONT -1
exit 0
"""

log = logging.getLogger(__name__)

FindLogin = Callable[[str, str], Awaitable[RegistryLogin]]


class ContainerRuntime:
    """Runs each task in a container of its own; everything it knows is in the task's folder."""

    def __init__(
        self,
        settings: LocalSettings,
        tell: Callable[[Step], None] = lambda _step: None,
        may_signal: bool | None = None,
    ) -> None:
        self._settings = settings
        self._tell = tell
        # Only root may signal whoever a container runs as.
        self._may_signal = os.geteuid() == 0 if may_signal is None else may_signal
        self._connection = Connection(self._settings.containers.socket)
        self._images = Images(self._settings.home)
        self._tidying = Tidying(self._connection.api, self._lock)
        self._sources = Sources(self._settings.home, self._settings.mounted_within_s)
        # Kept only while somebody holds or awaits them.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._find_login: FindLogin | None = None
        self._fetching: dict[str, asyncio.Task[None]] = {}

    def _lock(self, name: str) -> asyncio.Lock:
        """Hand out the lock under which a container is brought up, claimed or removed."""
        lock = self._locks.get(name)
        if lock is None:
            lock = self._locks[name] = asyncio.Lock()
        return lock

    def why_none(self) -> Message | None:
        return self._connection.why_none()

    def use_logins(self, find: FindLogin) -> None:
        self._find_login = find

    async def fetch(self, request: LocalRequest) -> Mapping[str, str]:
        """See that the images of a request's new tasks are on this machine; say which ids they have."""
        tasks = [task for task in request["tasks"] if task["in_container"]]
        fresh = await asyncio.to_thread(_unclaimed, tasks) if tasks else []
        if not fresh:
            return {}
        api = await self._connection.api()
        wanted = {task["image"]: task["image_credentials"] for task in fresh}
        await self._while_wanted(request["attempt_id"], self._fetch_images(api, request, wanted))
        found = {image: await api.image(image) for image in wanted}
        return {image: str(one["Id"]) for image, one in found.items() if one is not None}

    async def start(self, request: LocalRequest, tasks: Sequence[LocalTask]) -> Sequence[Answer]:
        began_at = time.monotonic()
        settled = await self._start_all(request, tasks)
        if n_started := sum("pid" in answer for answer in settled):
            self._step(request, "container", say("containers_started", n=n_started), began_at, True)
        return settled

    async def _start_all(self, request: LocalRequest, tasks: Sequence[LocalTask]) -> list[Answer]:
        api, info = await self._connection.api(), await self._connection.info()
        await asyncio.to_thread(make_folders, request, tasks, self._settings.containers.user)
        request = await self._sources.resolve(request)
        answers = await asyncio.gather(
            *(self._start(api, info, request, task) for task in tasks), return_exceptions=True
        )
        return _settle(answers)

    def abandon(self, attempt_id: str) -> None:
        if fetching := self._fetching.get(attempt_id):
            fetching.cancel()

    async def _while_wanted(self, attempt_id: str, fetch: Coroutine[None, None, None]) -> None:
        fetching = self._fetching[attempt_id] = asyncio.create_task(fetch)
        try:
            await asyncio.wait([fetching])
        finally:
            del self._fetching[attempt_id]
            fetching.cancel()
        if fetching.cancelled():
            raise EngineUnavailable("images_not_wanted", attempt=attempt_id)
        fetching.result()

    async def _fetch_images(
        self, api: ContainerApi, request: LocalRequest, wanted: Mapping[str, str]
    ) -> None:
        await asyncio.gather(*(self._fetch(api, request, *pair) for pair in wanted.items()))

    async def _fetch(self, api: ContainerApi, request: LocalRequest, image: str, secret: str) -> None:
        began_at = time.monotonic()

        async def find_login() -> RegistryLogin | None:
            find = self._find_login
            return await find(request["attempt_id"], secret) if find and secret else None

        def tell(said: Message) -> None:
            self._step(request, "image", said, began_at, False)

        was_pulled = await self._images.ensure(api, image, find_login, tell)
        said = say("image_pulled" if was_pulled else "image_present", image=image)
        self._step(request, "image", said, began_at, True)

    def _step(self, request: LocalRequest, name: str, said: Message, began_at: float, is_done: bool) -> None:
        self._tell(Step(request["attempt_id"], name, said, time.monotonic() - began_at, is_done))

    async def _start(
        self, api: ContainerApi, info: Document, request: LocalRequest, task: LocalTask
    ) -> Answer:
        key = key_of(request, task)
        name = container_name(key)
        # The engine waits for storages that do not answer.
        within_s = self._sources.within_s if self._sources.has_foreign(request) else TIMEOUT_S
        async with self._sources.room_for(request), self._lock(name):
            image = await api.image(task["image"]) if is_entered(task) else None
            body = await asyncio.to_thread(describe, request, enter(task, image), info, self._settings)
            return await starting.begin(api, name, Path(task["folder"]), body, key.marks_of_run, within_s)

    async def run(self, request: LocalRequest, task: LocalTask, is_closing: asyncio.Event) -> Exit | None:
        """Run a command of the platform's own in an image, and wait for its end."""
        name, folder = container_name(key_of(request, task)), Path(task["folder"])

        async def start() -> Sequence[Answer]:
            if not await asyncio.to_thread(claiming.has_begun, folder):
                # What an earlier try has left works with folders that are gone.
                await ending.remove(await self._connection.api(), name)
            return await self._start_all(request, [task])

        async def end(_identity: Identity, ended: asyncio.Event) -> None:
            while not ended.is_set():
                await self._remove(name)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(ended.wait(), KILL_AGAIN_AFTER_S)

        try:
            return await run_errand(start, end, folder, set(), is_closing)
        finally:
            if not is_closing.is_set():
                await asyncio.shield(self._remove(name))

    async def ask_to_end(self, watches: Collection[Watch]) -> set[Watch]:
        if self._may_signal:
            return await asyncio.to_thread(ending.ask_directly, watches)
        answers = await asyncio.gather(*(self._ask_by_exec(watch.key) for watch in watches))
        return {watch for watch, was_asked in zip(watches, answers, strict=True) if not was_asked}

    async def _ask_by_exec(self, key: TaskKey) -> bool:
        try:
            async with self.exec(key, ["/bin/sh", "-c", ASK_ALL]) as stream, asyncio.timeout(ASK_WITHIN_S):
                return await stream.wait() == 0
        except TimeoutError:
            return False
        except NotFound:
            # It has ended, or is about to be seen to have.
            return True

    @contextlib.asynccontextmanager
    async def exec(
        self,
        key: TaskKey,
        argv: Sequence[str],
        terminal: tuple[int, int] | None = None,
        errors_apart: bool = False,
    ) -> AsyncIterator[Stream]:
        """Run a command in a task's container, which must be there still."""
        api = await self._connection.api()
        async with exec_in_container(api, container_name(key), argv, terminal, errors_apart) as stream:
            yield stream

    async def kill(self, watches: Collection[Watch], for_s: float) -> None:
        if self._may_signal:
            ending.kill_directly(watches)
        if not self._may_signal or for_s > KILL_AGAIN_AFTER_S:
            api = await self._connection.api()
            await asyncio.gather(*(api.kill(container_name(watch.key), "KILL") for watch in watches))

    async def observe(self, tasks: Mapping[TaskKey, Path]) -> Mapping[TaskKey, Observed]:
        begun = await asyncio.to_thread(_begun_unclaimed, tasks)
        await asyncio.gather(*(self._adopt(key, tasks[key]) for key in begun))
        observed = await asyncio.to_thread(_observe_tasks, tasks)
        lost = [key for key, one in observed.items() if one.state is TaskState.LOST]
        explained = await asyncio.gather(*(self._explain(key, tasks[key], observed[key]) for key in lost))
        return {**observed, **dict(zip(lost, explained, strict=True))}

    async def _explain(self, key: TaskKey, folder: Path, observed: Observed) -> Observed:
        """Say of a task that is gone without a record what its container tells."""
        try:
            container = await (await self._connection.api()).container(container_name(key))
        except EngineError:
            return observed
        return await asyncio.to_thread(explain, observed, container, folder) if container else observed

    def tidy(self, keys: Iterable[TaskKey]) -> None:
        """Remove the containers of tasks that have ended, soon; those that are kept stay."""
        self._tidying.add(map(container_name, keys))

    async def _adopt(self, key: TaskKey, folder: Path) -> None:
        """Claim for a container whose server died, or was cut off, before it could."""
        name = container_name(key)
        async with self._lock(name):
            if await asyncio.to_thread(read_claim, folder) is not None:
                return
            # Without its engine the task waits to be found until the engine is back.
            with contextlib.suppress(EngineError):
                await starting.claim(await self._connection.api(), name, folder, key.marks_of_run)

    async def clear(self, tasks: Mapping[TaskKey, Path]) -> Collection[TaskKey]:
        over = await asyncio.to_thread(lambda: {key for key, path in tasks.items() if ending.is_over(path)})
        answers = await asyncio.gather(*(self._remove(container_name(key)) for key in tasks))
        # Without its engine a container may be left that has ended: it is swept later.
        return [key for key, is_gone in zip(tasks, answers, strict=True) if not is_gone and key not in over]

    async def _remove(self, name: str) -> bool:
        async with self._sources.room, self._lock(name):
            try:
                await ending.remove(await self._connection.api(), name)
            except EngineError:
                return False
        self._tidying.remember(name)
        return True

    async def sweep(self, known_attempts: Container[str]) -> None:
        """Remove the containers of this server that belong to none of these attempts."""
        if self.why_none():
            return
        try:
            async with asyncio.timeout(SWEEP_WITHIN_S):
                await self._sweep(await self._connection.api(), known_attempts)
        except (EngineError, TimeoutError) as error:
            log.warning("containers of forgotten jobs, if any, are left for now: %s", error or "no answer")

    async def _sweep(self, api: ContainerApi, known_attempts: Container[str]) -> None:
        for found in await containers_with(api, f"{HOME}={home_label(self._settings)}"):
            if not is_building(found) and found["Labels"].get(ATTEMPT) not in known_attempts:
                await ending.remove(api, found["Id"])

    async def close(self) -> None:
        await self._tidying.close()
        await self._sources.close()
        await self._connection.close()


def _settle(answers: Iterable[Answer | BaseException]) -> list[Answer]:
    """Turn what went wrong with single tasks into answers; what can never go right is raised."""
    settled: list[Answer] = []
    for answer in answers:
        if isinstance(answer, EngineError) and not isinstance(answer, EngineRejected):
            settled.append({"error": answer.said})
        elif isinstance(answer, BaseException):
            raise answer
        else:
            settled.append(answer)
    return settled


def _unclaimed(tasks: Iterable[LocalTask]) -> list[LocalTask]:
    return [task for task in tasks if read_claim(Path(task["folder"])) is None]


def _begun_unclaimed(tasks: Mapping[TaskKey, Path]) -> list[TaskKey]:
    return [key for key, folder in tasks.items() if read_claim(folder) is None and claiming.has_begun(folder)]


def _observe_tasks(tasks: Mapping[TaskKey, Path]) -> dict[TaskKey, Observed]:
    return {key: observe_task(folder, key.marks) for key, folder in tasks.items()}
