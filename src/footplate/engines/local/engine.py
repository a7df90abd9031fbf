"""The embedded engine: tasks are processes or containers of this machine that outlive the server."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

from footplate.domain.attempt import Attempt, TaskRun
from footplate.domain.cluster import Node, TaskPlacement
from footplate.domain.environment import BuiltEnvironment
from footplate.domain.errors import (
    EngineError,
    EngineRejected,
    EngineUnavailable,
    NotFound,
    OutcomeUnknown,
    Problem,
)
from footplate.domain.messages import say
from footplate.domain.spec import JobSpec
from footplate.domain.states import TaskState
from footplate.engines.base import (
    Capabilities,
    FindStorage,
    LaunchPlan,
    Notice,
    Observation,
    Request,
    Step,
    Stream,
    TaskPaths,
)
from footplate.engines.local import request as requests
from footplate.engines.local.code import place_files
from footplate.engines.local.confine.choice import Confine, confinement_of
from footplate.engines.local.confine.confinement import confine
from footplate.engines.local.containers.choosing import refuse
from footplate.engines.local.containers.runtime import ContainerRuntime, FindLogin
from footplate.engines.local.data.staging import Staging
from footplate.engines.local.environments import indexes, ownpython
from footplate.engines.local.environments.environments import Environments, led
from footplate.engines.local.environments.refusing import refuse_missing, refuses_packages
from footplate.engines.local.exchange import Answer, LocalRequest, Started, own
from footplate.engines.local.kinds import Kinds
from footplate.engines.local.machine.detect import Machine
from footplate.engines.local.machine.settings import LocalSettings
from footplate.engines.local.observe.nodeusage import read_node
from footplate.engines.local.observe.records import Identity
from footplate.engines.local.observe.seen import observation
from footplate.engines.local.observe.stacks import dump_stacks
from footplate.engines.local.observe.task import Observed, read_end
from footplate.engines.local.observe.usage import locate, read_usage
from footplate.engines.local.observe.watches import TaskKey, Watch, Watches
from footplate.engines.local.places import Places
from footplate.engines.local.ports import is_free
from footplate.engines.local.process.entrances import Entrances
from footplate.engines.local.process.notices import give_notice
from footplate.engines.local.process.processes import boot_id, descendants, open_process
from footplate.engines.local.process.runtime import ProcessRuntime
from footplate.engines.local.process.stopping import conclude, end, prevent_start
from footplate.engines.local.runtime import Runtime
from footplate.engines.streams import connection
from footplate.engines.usage import NodeUsage, Usage

MOST_READ_DIRECTLY = 16


class LocalEngine:
    """Runs tasks on this machine; everything it knows of a task is in the task's folder."""

    def __init__(self, settings: LocalSettings, confine: Confine = confine) -> None:
        self._places = Places(settings.home, settings.storages)
        self._find_code = settings.find_code
        self._inherited = requests.inherited_environment(os.environ, settings.inherited_env)
        self._home_id = settings.home_id
        self._address = settings.address
        self._machine = Machine(settings)
        self._confinement = confinement_of(settings, self._machine, confine)
        if rules := self._confinement.view_rules:
            self._inherited |= ownpython.variables(rules.python, self._inherited["PATH"])
            self._inherited = {**indexes.for_tasks(os.environ, indexes.config_files()), **self._inherited}
        self._processes = ProcessRuntime(
            self._confinement, self._hear_end, settings.mounted_within_s, settings.is_native
        )
        self._step_listeners: list[Callable[[Step], None]] = []
        self._containers = ContainerRuntime(settings, self._tell_step)
        self._environments = Environments(
            settings.home,
            settings.environments,
            lambda request, task: self._processes.run(request, task, self._environments.is_closing),
            lambda request, task: self._containers.run(request, task, self._environments.is_closing),
            indexes.for_builds(os.environ, indexes.config_files()),
            self._tell_step,
        )
        self._staging = Staging(settings.home, settings.data, self._tell_step)
        self._kinds = Kinds()
        self._watches = Watches(self._end)
        self._entrances = Entrances()
        self._listeners: list[Callable[[str], None]] = []
        # When tasks were started that have not been seen at their end yet.
        self._started: dict[TaskKey, float] = {}
        # Tasks of which it was heard that they are over, and that have not been seen at their end yet.
        self._over: set[TaskKey] = set()
        self._launches: dict[str, asyncio.Task[None]] = {}

    @property
    def capabilities(self) -> Capabilities:
        confinement = self._confinement
        return Capabilities(
            no_images=self._containers.why_none(),
            no_mounts=confinement.no_mounts,
            limits=confinement.limits,
            streams=True,
            stages=True,
            views=True,
        )

    def compile(self, plan: LaunchPlan) -> LocalRequest:
        return requests.compile_request(plan, self._places, self._inherited, self._home_id)

    def paths(self, plan: LaunchPlan, task: TaskPlacement) -> TaskPaths:
        return self._places.paths(plan, task)

    def _tasks_of(self, attempt: Attempt) -> Iterator[tuple[TaskKey, Path]]:
        """Go through the tasks of an attempt: their keys and where their claims and ends are recorded."""
        for task in attempt.tasks:
            folder = self._places.run(attempt, task)
            key = TaskKey(attempt.id, task.role, task.index, task.run, False, self._home_id)
            yield self._kinds.complete(key, folder), folder

    def _keys_of(self, request: LocalRequest) -> list[TaskKey]:
        return [requests.key_of(request, task) for task in request["tasks"]]

    def on_change(self, tell: Callable[[str], None]) -> None:
        self._listeners.append(tell)

    def on_step(self, tell: Callable[[Step], None]) -> None:
        self._step_listeners.append(tell)

    def use_logins(self, find: FindLogin) -> None:
        self._containers.use_logins(find)

    async def sweep(self, known_attempts: Container[str]) -> None:
        await self._containers.sweep(known_attempts)

    def use_storages(self, find: FindStorage) -> None:
        self._staging.use_storages(find)

    async def sweep_staged(self, known_attempts: Container[str]) -> None:
        await self._staging.sweep(known_attempts)

    async def environments(self, known_attempts: Container[str]) -> Sequence[BuiltEnvironment]:
        return await self._environments.all(known_attempts)

    async def environment_log(self, environment_id: str) -> str:
        return await self._environments.log_of(environment_id)

    async def remove_environment(self, environment_id: str, known_attempts: Container[str]) -> None:
        await self._environments.remove(environment_id, known_attempts)

    async def sweep_environments(self, known_attempts: Container[str]) -> None:
        await self._environments.sweep(known_attempts)

    def refuses(self, spec: JobSpec, environments: Mapping[str, str]) -> Problem | None:
        return refuses_packages(spec, environments) or self._confinement.refuses(spec, environments)

    def _runtime(self, key: TaskKey) -> Runtime:
        return self._containers if key.in_container else self._processes

    async def launch(self, request: Request) -> None:
        asked = own(request)
        refuse(asked, self._containers.why_none)
        requests.refuse_impossible(asked)
        refuse_missing(asked, self._confinement.hidden)
        if why := self._confinement.refusal(asked):
            raise EngineRejected(why)
        self._kinds.learn(self._keys_of(asked))
        attempt_id = request["attempt_id"]
        while launching := self._launches.get(attempt_id):
            # Another run of a task may have been added since that launch began: launch again after it.
            await asyncio.wait([launching])
        launching = self._launches[attempt_id] = asyncio.create_task(self._launch(asked))
        launching.add_done_callback(lambda _: self._launches.pop(attempt_id))
        await asyncio.shield(launching)

    def abandon(self, attempt_id: str) -> None:
        self._staging.abandon(attempt_id)
        self._environments.abandon(attempt_id)
        self._containers.abandon(attempt_id)

    async def _launch(self, request: LocalRequest) -> None:
        if request["code"] is not None or request["files"]:
            await self._place_files(request)
        request = await self._staging.provide(request)
        if any("kept_for" in mount for mount in request["mounts"]):
            await asyncio.to_thread(self._hand_over, request)
        images = await self._containers.fetch(request)
        if (packages := request["packages"]) is not None:
            request = await self._environments.provide(request, packages, images)
        keys = self._keys_of(request)
        answers = await self._start(request, keys)
        for key, answer in zip(keys, answers, strict=True):
            if "pid" in answer:
                self._watch_new(key, answer)
        if any("exists" in answer for answer in answers):
            await self._observe(
                {key: Path(task["folder"]) for key, task in zip(keys, request["tasks"], strict=True)}
            )
        if errors := [answer["error"] for answer in answers if "error" in answer]:
            kind: type[EngineError] = EngineUnavailable if len(errors) == len(answers) else OutcomeUnknown
            if all(answer.get("is_final") for answer in answers):
                kind = EngineRejected
            raise kind("tasks_not_started", n=len(errors), n_tasks=len(answers), error=errors[0])

    def _hand_over(self, request: LocalRequest) -> None:
        try:
            self._confinement.hand_over(request)
        except OSError as error:
            raise EngineUnavailable("folders_not_made", error=str(error)) from error

    async def _place_files(self, request: LocalRequest) -> None:
        began_at = time.monotonic()
        await asyncio.to_thread(place_files, request, self._find_code)
        if request["code"] is not None:
            seconds = time.monotonic() - began_at
            self._tell_step(Step(request["attempt_id"], "code", say("code_ready"), seconds, is_done=True))

    async def _start(self, request: LocalRequest, keys: Sequence[TaskKey]) -> Sequence[Answer]:
        """Start every task in its runtime; answers in the order of the tasks."""
        answers: dict[TaskKey, Answer] = {}
        tasks = dict(zip(keys, request["tasks"], strict=True))
        for runtime, members in self._by_runtime(tasks):
            answered = await runtime.start(request, [tasks[key] for key in members])
            answers.update(zip(members, answered, strict=True))
        return [answers[key] for key in keys]

    def _by_runtime(self, keys: Collection[TaskKey]) -> list[tuple[Runtime, list[TaskKey]]]:
        sorted_out: dict[int, tuple[Runtime, list[TaskKey]]] = {}
        for key in keys:
            runtime = self._runtime(key)
            sorted_out.setdefault(id(runtime), (runtime, []))[1].append(key)
        return list(sorted_out.values())

    def _watch_new(self, key: TaskKey, answer: Started) -> None:
        self._started[key] = answer["at"]
        identity = Identity(answer["pid"], answer["start_ticks"], boot_id())
        if is_over := self._processes.is_over(identity):
            self._over.add(key)
        pidfd = None if is_over else open_process(identity)
        if pidfd is None:
            # Already over: whoever listens learns it as from any other end.
            asyncio.get_running_loop().call_soon(self._hint, key.attempt_id)
        else:
            self._watches.add(key, identity, answer["at"], pidfd)

    async def observe(self, attempts: Sequence[Attempt]) -> Sequence[Observation]:
        return await self._observe(dict(pair for attempt in attempts for pair in self._tasks_of(attempt)))

    async def _observe(self, folders: Mapping[TaskKey, Path]) -> Sequence[Observation]:
        known = {key: watch for key, folder in folders.items() if (watch := self._find_running(key, folder))}
        unknown = {key: folder for key, folder in folders.items() if key not in known}
        observed = self._read_ends(unknown) if len(unknown) <= MOST_READ_DIRECTLY else {}
        if unseen := {key: folder for key, folder in unknown.items() if key not in observed}:
            for runtime, keys in self._by_runtime(unseen):
                observed |= await runtime.observe({key: unseen[key] for key in keys})
        self._recall(observed)
        for key, one in observed.items():
            if one.identity is not None and one.started_at is not None:
                self._watches.add(key, one.identity, one.started_at, one.pidfd)
        self._containers.tidy(key for key, one in observed.items() if key.in_container and one.state.is_over)
        return [observation(key, observed.get(key), known.get(key)) for key in folders]

    def _read_ends(self, folders: Mapping[TaskKey, Path]) -> dict[TaskKey, Observed]:
        """See those that have ended in order: quicker than to hand them to a thread."""
        observed = {}
        for key, folder in folders.items():
            seen = (
                read_end(folder, True)
                if key.in_container
                else read_end(folder, key in self._over, self._processes.conclude)
            )
            if seen is not None:
                observed[key] = seen
        return observed

    def _recall(self, observed: dict[TaskKey, Observed]) -> None:
        """See as lost what was started by this engine and has removed its own records."""
        for key, one in observed.items():
            started_at = self._started.get(key)
            if one.state.is_over:
                self._over.discard(key)
            if started_at is None:
                continue
            if one.state is TaskState.WAITING:
                detail = say("records_removed")
                observed[key] = Observed(TaskState.LOST, started_at=started_at, detail=detail)
            elif one.state.is_over:
                del self._started[key]

    def _find_running(self, key: TaskKey, folder: Path) -> Watch | None:
        watch = self._watches.find(key)
        if watch is None or not key.in_container:
            return watch
        # A container that is kept after its end lives on.
        return watch if read_end(folder, is_over=True) is None else None

    async def stop(self, attempt: Attempt, grace_s: float, notice: Notice | None = None) -> None:
        folders = dict(self._tasks_of(attempt))
        self._entrances.close(folders.keys())
        await asyncio.to_thread(prevent_start, attempt, folders.values())
        # Once more: a launch that began before the fence has said by then how its tasks run.
        folders = dict(self._tasks_of(attempt))
        self._entrances.close(folders.keys())
        await self._observe(folders)
        if notice is not None and (running := [key for key in folders if self._watches.find(key)]):
            await asyncio.to_thread(self._give_notice, attempt, running, notice)
        ends = [self._stop(runtime, keys, folders, grace_s) for runtime, keys in self._by_runtime(folders)]
        await asyncio.gather(*ends)

    async def _stop(
        self, runtime: Runtime, keys: Sequence[TaskKey], folders: Mapping[TaskKey, Path], grace_s: float
    ) -> None:
        running = [watch for key in keys if (watch := self._watches.find(key))]
        await end(runtime, running, grace_s)
        for key in keys:
            self._started.pop(key, None)
            self._over.discard(key)
        await self._entrances.until_all_are_in(keys)
        left = await runtime.clear({key: folders[key] for key in keys})
        if left:
            names = ", ".join(key.task for key in left)
            raise EngineUnavailable("processes_not_ended", tasks=names)
        await asyncio.to_thread(conclude, {watch.key: folders[watch.key] for watch in running})

    def _give_notice(self, attempt: Attempt, running: Sequence[TaskKey], notice: Notice) -> None:
        for key in running:
            give_notice(self._places.notice(attempt, key.role, key.index), notice)

    async def usage(self, attempts: Sequence[Attempt]) -> Sequence[Usage]:
        running = self._running(attempts)
        return await asyncio.to_thread(self._read_usage, running)

    def _running(self, attempts: Sequence[Attempt]) -> list[Watch]:
        keys = (key for attempt in attempts for key, _ in self._tasks_of(attempt))
        return [watch for key in keys if (watch := self._watches.find(key))]

    def _read_usage(self, running: Sequence[Watch]) -> list[Usage]:
        tasks = [locate(watch, self._confinement.tree) for watch in running]
        return read_usage(tasks, self._machine.card_usage())

    async def node_usage(self) -> Sequence[NodeUsage]:
        cards, name = self._machine.card_usage, self._machine.name
        return [await asyncio.to_thread(lambda: read_node(name, cards()))]

    def exec(
        self,
        request: Request,
        role: str,
        index: int,
        argv: Sequence[str],
        terminal: tuple[int, int] | None = None,
        errors_apart: bool = False,
    ) -> AbstractAsyncContextManager[Stream]:
        asked = own(request)
        for key, task in zip(self._keys_of(asked), asked["tasks"], strict=True):
            if (key.role, key.index) != (role, index):
                continue
            if key.in_container:
                # Whoever is on the way ends with the container.
                self._entrances.require_open(key)
                return self._containers.exec(key, argv, terminal, errors_apart)
            if (packages := asked["packages"]) is not None:
                task = {**task, "environment": led(packages)}
            asked = self._staging.led(asked)
            entering = self._entrances.entering(key)
            return self._processes.exec(asked, task, argv, terminal, entering, errors_apart)
        raise NotFound("task_not_in_attempt", task=f"{role}-{index}", attempt=request["attempt_id"])

    def connect(self, attempt: Attempt, task: TaskRun, port: int) -> AbstractAsyncContextManager[Stream]:  # noqa: ARG002  # all tasks share this machine's ports
        return connection(self._address, port)

    def is_port_free(self, node: str, port: int) -> bool:  # noqa: ARG002  # there is one node
        return is_free(port)

    async def stacks(self, attempt: Attempt) -> Mapping[str, str]:
        running = self._running([attempt])
        return await dump_stacks({watch.key.task: descendants(watch.identity.pid) for watch in running})

    async def nodes(self) -> Sequence[Node]:
        await self._processes.sweep(self._watches.identities())
        node = await self._machine.node(self._watches.attempt_ids())
        return [
            replace(
                node, enforced=tuple(sorted(self._confinement.limits)), unenforced=self._confinement.why_not
            )
        ]

    async def close(self) -> None:
        self._watches.close()
        await self._staging.close()
        await self._environments.close()
        await self._processes.close()
        await self._containers.close()

    def _tell_step(self, step: Step) -> None:
        for tell in self._step_listeners:
            tell(step)

    def _hear_end(self, identity: Identity) -> bool:
        """Learn from what watches over a task that it is over; False where the task is not known yet."""
        watch = self._watches.of(identity)
        if watch is not None:
            self._over.add(watch.key)
            self._watches.end(watch)
        return watch is not None

    def _end(self, watch: Watch) -> None:
        self._hint(watch.key.attempt_id)

    def _hint(self, attempt_id: str) -> None:
        for tell in self._listeners:
            tell(attempt_id)
