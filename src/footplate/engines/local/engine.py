"""The embedded engine: tasks are processes of this machine that outlive the server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from footplate.domain.cluster import Node
from footplate.domain.errors import EngineUnavailable, OutcomeUnknown
from footplate.domain.spec import JobSpec
from footplate.domain.states import TaskState
from footplate.engines.base import Handle, LaunchPlan, Limit, Observation, Request
from footplate.engines.local import request as requests
from footplate.engines.local.codecopy import place_code
from footplate.engines.local.machine import Machine
from footplate.engines.local.processes import boot_id, kill_marked, open_process
from footplate.engines.local.records import (
    STOPPED_BY_KILL,
    Identity,
    fence,
    read_claim,
    read_exit,
    write_exit,
)
from footplate.engines.local.settings import LocalSettings
from footplate.engines.local.sighting import LEFTOVERS_S, Sight, glance, look
from footplate.engines.local.spawning import SpawnerClient, SpawnerGone
from footplate.engines.local.stopping import end_by_force, end_politely
from footplate.engines.local.watching import TaskKey, Watch, Watches

SPAWN_TIMEOUT_S = 60
SPAWN_TRIES = 3
MOST_GLANCES = 16


class LocalEngine:
    """Runs each task as its own session on this machine; everything it knows is in the task's folder."""

    limits: frozenset[Limit] = frozenset({"gpus"})

    def __init__(self, settings: LocalSettings | None = None) -> None:
        settings = settings or LocalSettings()
        self._inherited = requests.inherited_environment(os.environ, settings.inherited_env)
        self._program = requests.task_program()
        self._machine = Machine(settings)
        self._spawner = SpawnerClient()
        self._watches = Watches(self._hint)
        self._listeners: list[Callable[[str], None]] = []
        self._launches: dict[str, asyncio.Task[None]] = {}

    def compile(self, plan: LaunchPlan) -> Request:
        return requests.compile_request(plan, self._inherited)

    def handle_of(self, request: Request) -> Handle:
        return requests.handle_of(request)

    def on_change(self, tell: Callable[[str], None]) -> None:
        self._listeners.append(tell)

    def refuses(self, spec: JobSpec) -> str | None:
        return requests.refusal(spec)

    async def launch(self, request: Request) -> Handle:
        requests.refuse_impossible(request)
        attempt_id = request["attempt_id"]
        launching = self._launches.get(attempt_id)
        if launching is None:
            launching = self._launches[attempt_id] = asyncio.create_task(self._launch(request))
            launching.add_done_callback(lambda _: self._launches.pop(attempt_id))
        await asyncio.shield(launching)
        return self.handle_of(request)

    async def _launch(self, request: Request) -> None:
        if request["code_folder"] is not None:
            await asyncio.to_thread(_place_code, request)
        answers = await self._spawn(request)
        for task, answer in zip(request["tasks"], answers, strict=True):
            if "pid" in answer:
                self._watch_new((request["attempt_id"], task["role"], task["index"]), answer)
        if any("exists" in answer for answer in answers):
            await self.observe([self.handle_of(request)])
        if errors := [answer["error"] for answer in answers if "error" in answer]:
            kind = EngineUnavailable if len(errors) == len(answers) else OutcomeUnknown
            raise kind(f"{len(errors)} of {len(answers)} tasks could not be started: {errors[0]}")

    async def _spawn(self, request: Request) -> Sequence[Mapping[str, Any]]:
        tasks = [requests.spawn_order(request, task, self._program) for task in request["tasks"]]
        for _ in range(SPAWN_TRIES):
            try:
                async with asyncio.timeout(SPAWN_TIMEOUT_S):
                    return await self._spawner.start(request["env"], tasks)
            except SpawnerGone:
                # A task that was started before the spawner died refuses to be started again.
                continue
            except TimeoutError:
                break
        raise OutcomeUnknown("the process that starts tasks does not answer")

    def _watch_new(self, key: TaskKey, answer: Mapping[str, Any]) -> None:
        identity = Identity(answer["pid"], answer["start_ticks"], boot_id())
        pidfd = open_process(identity)
        if pidfd is None:
            # Already over: whoever listens learns it as from any other end.
            asyncio.get_running_loop().call_soon(self._hint, key[0])
        else:
            self._watches.add(key, identity, answer["at"], pidfd)

    async def observe(self, handles: Sequence[Handle]) -> Sequence[Observation]:
        folders = dict(pair for handle in handles for pair in requests.task_folders(handle))
        known = {key: watch for key in folders if (watch := self._watches.find(key))}
        unknown = {key: folder for key, folder in folders.items() if key not in known}
        sights = _glance_at(unknown) if len(unknown) <= MOST_GLANCES else {}
        if unseen := {key: folder for key, folder in unknown.items() if key not in sights}:
            sights |= await asyncio.to_thread(_look_at, unseen)
        for key, sight in sights.items():
            if sight.identity is not None and sight.started_at is not None:
                self._watches.add(key, sight.identity, sight.started_at, sight.pidfd)
        return [_observation(key, sights.get(key), known.get(key)) for key in folders]

    async def stop(self, handle: Handle, grace_s: float) -> None:
        await asyncio.to_thread(_fence, handle)
        await self.observe([handle])
        keys = [key for key, _ in requests.task_folders(handle)]
        running = [watch for key in keys if (watch := self._watches.find(key))]
        await end_by_force(await end_politely(running, grace_s))
        await asyncio.to_thread(_conclude, handle, {watch.key for watch in running})

    async def nodes(self) -> Sequence[Node]:
        return [await self._machine.node(self._watches.attempt_ids())]

    async def close(self) -> None:
        self._watches.close()
        await self._spawner.close()

    def _hint(self, attempt_id: str) -> None:
        for tell in self._listeners:
            tell(attempt_id)


def _place_code(request: Request) -> None:
    try:
        for task in request["tasks"]:
            place_code(Path(request["code_folder"]), Path(task["work_folder"]))
    except OSError as error:
        raise EngineUnavailable(f"the job's code could not be copied: {error}") from error


def _glance_at(folders: Mapping[TaskKey, Path]) -> dict[TaskKey, Sight]:
    """See those that have ended in order: two small files each, quicker to read than to hand to a thread."""
    return {key: sight for key, folder in folders.items() if (sight := glance(folder))}


def _look_at(folders: Mapping[TaskKey, Path]) -> dict[TaskKey, Sight]:
    return {key: look(folder, _marks(key)) for key, folder in folders.items()}


def _observation(key: TaskKey, sight: Sight | None, watch: Watch | None) -> Observation:
    if sight is None:
        return Observation(*key, TaskState.RUNNING, started_at=watch.started_at if watch else None)
    return Observation(*key, sight.state, sight.exit_code, sight.started_at, sight.finished_at, sight.detail)


def _fence(handle: Handle) -> None:
    try:
        for _, folder in requests.task_folders(handle):
            fence(folder)
    except OSError as error:
        raise EngineUnavailable(f"{handle['attempt_id']} cannot be kept from starting: {error}") from error


def _conclude(handle: Handle, stopped: Collection[TaskKey]) -> None:
    """End what a task left behind whose shim is gone too, and give it the exit code it lacks."""
    for key, folder in requests.task_folders(handle):
        claim = read_claim(folder)
        if read_exit(folder) is not None or claim is None or claim.identity is None:
            continue
        if not kill_marked(_marks(key), LEFTOVERS_S):
            raise EngineUnavailable(f"some processes of {key[1]}-{key[2]} cannot be ended")
        if key in stopped:
            write_exit(folder, STOPPED_BY_KILL)


def _marks(key: TaskKey) -> tuple[str, ...]:
    attempt_id, role, index = key
    return (f"FOOTPLATE_ATTEMPT_ID={attempt_id}", f"FOOTPLATE_TASK={role}-{index}")
