"""Builders of what the scheduler looks at, so that a test states only what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from footplate.domain.cluster import EngineState, Gpu, Node, Placement, Queue, TaskPlacement
from footplate.domain.resources import GIB, NOTHING, Resources
from footplate.scheduler.snapshot import Pause, PendingJob, RoleShape, RunningJob, Shape, Snapshot


def amount(cpus: float = 0, memory_gb: float = 0, gpus: int = 0) -> Resources:
    return Resources(round(cpus * 1000), round(memory_gb * GIB), gpus)


def node(
    name: str = "a",
    *,
    cpus: float = 64,
    memory_gb: float = 512,
    gpus: int = 0,
    gpu_type: str | Sequence[str] = "",
    in_use_by_others: Iterable[int] = (),
    is_schedulable: bool = True,
    engine: str = "",
) -> Node:
    """Make a node; `gpu_type` may name the type of each card, and then also says how many there are."""
    types = [gpu_type] * gpus if isinstance(gpu_type, str) else gpu_type
    others = set(in_use_by_others)
    cards = tuple(Gpu(n, kind, in_use_by_others=n in others) for n, kind in enumerate(types))
    size = amount(cpus, memory_gb)
    address = f"{name}.example"
    return Node(name, size.milli_cpus, size.memory_bytes, cards, address, is_schedulable, engine)


def queue(
    name: str = "default",
    *,
    share: Resources = NOTHING,
    maximum: Resources | None = None,
    nodes: tuple[str, ...] = (),
    is_open: bool = True,
    engine: str = "",
) -> Queue:
    return Queue(name, share=share, maximum=maximum, nodes=nodes, is_open=is_open, engine=engine)


def role(
    name: str = "main",
    *,
    count: int = 1,
    cpus: float = 1,
    memory_gb: float = 0,
    gpus: int = 0,
    gpu_type: str = "",
) -> RoleShape:
    return RoleShape(name, count, amount(cpus, memory_gb, gpus), gpu_type)


def pending(
    job_id: str = "job",
    *roles: RoleShape,
    queue: str = "default",
    priority: int = 0,
    queued_at: float = 0,
    time_limit_s: float | None = None,
    count: int = 1,
    cpus: float = 1,
    memory_gb: float = 0,
    gpus: int = 0,
    gpu_type: str = "",
    pause: Pause | None = None,
) -> PendingJob:
    """Make a waiting job of one role, or of the roles given."""
    shape: Shape = roles or (role(count=count, cpus=cpus, memory_gb=memory_gb, gpus=gpus, gpu_type=gpu_type),)
    return PendingJob(job_id, "ann", queue, priority, queued_at, shape, time_limit_s, pause)


def running(
    job_id: str = "running",
    *,
    on: str = "a",
    cards: Iterable[int] = (),
    cpus: float = 1,
    memory_gb: float = 0,
    queue: str = "default",
    ends_by: float | None = None,
) -> RunningJob:
    """Make a running job of one task."""
    gpus = tuple(cards)
    task = TaskPlacement("main", 0, on, amount(cpus, memory_gb, len(gpus)), gpus)
    return RunningJob(job_id, queue, 0, Placement((task,)), ends_by)


def snapshot(
    nodes: Iterable[Node] = (),
    pending: Iterable[PendingJob] = (),
    running: Iterable[RunningJob] = (),
    queues: Iterable[Queue] = (),
    engines: Iterable[EngineState] = (),
) -> Snapshot:
    """Make a snapshot; without queues there is one, `default`, that may use everything."""
    return Snapshot(
        tuple(nodes) or (node(),),
        tuple(queues) or (queue(),),
        tuple(running),
        tuple(pending),
        engines=tuple(engines),
    )
