"""Machines, queues, and where a job's tasks are put."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from footplate.domain.image import ChosenImage
from footplate.domain.messages import Message
from footplate.domain.resources import NOTHING, Resources, total
from footplate.domain.retention import Kept

# The ports of each node that are given out to tasks which do not ask for certain ones.
GIVEN_PORTS = range(20_000, 30_000)


@dataclass(frozen=True, slots=True)
class Gpu:
    """One card; `in_use_by_others` marks cards taken by processes that are not ours."""

    index: int
    type: str = ""
    memory_bytes: int = 0
    uuid: str = ""
    in_use_by_others: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """A machine and its resources."""

    name: str
    milli_cpus: int
    memory_bytes: int
    gpus: tuple[Gpu, ...] = ()
    address: str = "127.0.0.1"
    is_schedulable: bool = True
    # Which engine runs tasks there; no gang straddles two.
    engine: str = ""
    # What tasks are really held to there, and why not to the rest.
    enforced: tuple[str, ...] = ()
    unenforced: Message | None = None
    # The admin who drained it, if one did.
    drained_by: str = ""

    @property
    def capacity(self) -> Resources:
        return Resources(self.milli_cpus, self.memory_bytes, len(self.gpus))


@dataclass(frozen=True, slots=True)
class EngineState:
    """An engine as the scheduler sees it; `away` says why nothing can be started there now."""

    name: str
    places_itself: bool = False
    away: Message | None = None


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """An engine as people see it."""

    name: str
    is_default: bool
    places_itself: bool
    chooses: tuple[str, ...]
    limits: tuple[str, ...]
    runs_images: bool
    runs_commands: bool
    away: Message | None


@dataclass(frozen=True, slots=True)
class Queue:
    """A share of the machines; `maximum` None is unlimited, `nodes` empty means all.

    `environments` are pairs of an image's name and the local folder that stands in for it. `engine` names the
    one that runs its jobs; empty means any. In a queue that `is_shared`,
    everybody may look into the jobs that do not say otherwise.
    """

    name: str
    description: str = ""
    share: Resources = NOTHING
    maximum: Resources | None = None
    nodes: tuple[str, ...] = ()
    is_open: bool = True
    environments: tuple[tuple[str, str], ...] = ()
    engine: str = ""
    is_shared: bool = False
    # How long it keeps what jobs leave, where it says otherwise than the platform.
    retention: Kept = ()

    def may_use(self, node: Node) -> bool:
        """Tell whether jobs of the queue may run on a node."""
        return self.engine in ("", node.engine) and (not self.nodes or node.name in self.nodes)


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """What an engine has chosen for a task by itself, as far as it has: None is as it was planned."""

    node: str | None = None
    address: str | None = None
    gpus: tuple[int, ...] | None = None
    ports: tuple[tuple[str, tuple[int, ...]], ...] | None = None

    def changes(self) -> dict[str, Any]:
        """Name what was chosen, as fields of a task and of its placement."""
        chosen = {"node": self.node, "address": self.address, "gpus": self.gpus, "ports": self.ports}
        return {name: value for name, value in chosen.items() if value is not None}


@dataclass(frozen=True, slots=True)
class TaskPlacement:
    """One task's place: node, cards, and the ports it was given, by label.

    What `is_given_back` counts no more: the task is over, and others of its gang are kept. The node is empty
    until an engine that places by itself has chosen one.
    """

    role: str
    index: int
    node: str
    resources: Resources
    gpus: tuple[int, ...] = ()
    ports: tuple[tuple[str, tuple[int, ...]], ...] = ()
    address: str = "127.0.0.1"
    is_given_back: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a whole gang runs, and in what; placements of older versions say nothing about images."""

    tasks: tuple[TaskPlacement, ...]
    images: tuple[ChosenImage, ...] = ()
    # The engine of its nodes; empty means the server's default.
    engine: str = ""

    def found_at(self, role: str, index: int, where: Whereabouts) -> Placement:
        """The placement with what an engine has chosen for one task."""
        tasks = (
            replace(task, **where.changes()) if (task.role, task.index) == (role, index) else task
            for task in self.tasks
        )
        return replace(self, tasks=tuple(tasks))

    @property
    def is_open(self) -> bool:
        """Whether its engine has still to choose the nodes."""
        return any(not task.node for task in self.tasks)

    @property
    def held(self) -> Placement:
        """The resources that are still held."""
        if not any(task.is_given_back for task in self.tasks):
            return self
        return replace(self, tasks=tuple(task for task in self.tasks if not task.is_given_back))

    @property
    def resources(self) -> Resources:
        return total(task.resources for task in self.tasks if not task.is_given_back)
