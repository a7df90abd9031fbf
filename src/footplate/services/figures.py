"""Figures of the platform for its operators: queues, waits, jobs by state, what running jobs use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from footplate.domain.eventkinds import OF_STATE
from footplate.domain.histogram import SLOW_S, Histogram
from footplate.domain.job import Job
from footplate.domain.resources import Resources
from footplate.domain.states import JobState
from footplate.services.access import Caller, require_admin
from footplate.services.platform import Platform
from footplate.store.store import News, Store
from footplate.store.usagefiles import Sample as Used

_ENDS: Mapping[str, str] = {OF_STATE[state]: state.value for state in JobState if state.is_final}

Labels = dict[str, str]
Sample = tuple[Labels, float]


@dataclass(slots=True)
class Waits:
    """How long jobs waited in each queue, from the start of the server on, and how they ended."""

    by_queue: dict[str, Histogram] = field(default_factory=dict)
    ended: Counter[tuple[str, str]] = field(default_factory=Counter)
    _running: set[str] = field(default_factory=set)

    @classmethod
    def over(cls, store: Store) -> Waits:
        """Begin to count."""
        waits = cls()
        store.subscribe(waits.take)
        return waits

    def take(self, news: News) -> None:
        for event in news.events:
            # Most ends come by way of STOPPING, and some jobs never ran.
            if (state := _ENDS.get(event.kind)) is not None:
                self.ended[event.queue, state] += 1
        for job_id, job in news.jobs.items():
            if job is None or job.state is not JobState.RUNNING:
                self._running.discard(job_id)
            elif job_id not in self._running:
                self._running.add(job_id)
                self._note(job)

    def _note(self, job: Job) -> None:
        waits = self.by_queue.setdefault(job.spec.queue, Histogram(SLOW_S))
        waits.note(max(0.0, (job.running_at or job.queued_at) - job.queued_at))


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with a value for each set of labels."""

    name: str
    help: str
    samples: list[Sample]
    kind: str = "gauge"


def read(platform: Platform, caller: Caller) -> list[Figure]:
    """Read all figures of now; for admins."""
    require_admin(caller, "read_figures")
    board = list(platform.store.board.values())
    return [
        *_of_jobs(board, platform.cluster.queues),
        *_of_nodes(platform, board),
        *_used_of_nodes(platform),
        *_of_tasks(platform, board),
    ]


def _of_jobs(board: list[Job], queues: Iterable[str]) -> Iterator[Figure]:
    states = Counter((job.spec.queue, job.state.value) for job in board)
    yield Figure(
        "footplate_jobs",
        "Jobs that are not over, by queue and state.",
        [({"queue": queue, "state": state}, count) for (queue, state), count in sorted(states.items())],
    )
    waiting = [job for job in board if job.state is JobState.QUEUED]
    oldest: dict[str, float] = {}
    for job in waiting:
        oldest[job.spec.queue] = min(job.queued_at, oldest.get(job.spec.queue, job.queued_at))
    # An empty queue has a depth too: without it, a graph would show a gap.
    depth = Counter(dict.fromkeys(queues, 0))
    depth.update(job.spec.queue for job in waiting)
    counted = [({"queue": name}, float(n)) for name, n in sorted(depth.items())]
    yield Figure("footplate_queue_depth", "Jobs that wait.", counted)
    yield Figure(
        "footplate_queue_oldest_seconds",
        "Since when the first waits, in seconds since 1970.",
        [({"queue": name}, at) for name, at in sorted(oldest.items())],
    )


def _of_nodes(platform: Platform, board: list[Job]) -> Iterator[Figure]:
    used: dict[str, Resources] = {}
    for job in board:
        for task in job.tasks:
            if task.node and job.state in (JobState.STARTING, JobState.RUNNING, JobState.STOPPING):
                role = job.spec.role(task.role)
                asked = Resources(role.milli_cpus, role.memory_bytes, role.gpus)
                used[task.node] = used.get(task.node, Resources()) + asked
    for node in platform.cluster.nodes:
        used.setdefault(node.name, Resources())
    for kind, amount in (("cpus", _cpus), ("memory_bytes", _memory_bytes), ("gpus", _gpus)):
        yield Figure(
            f"footplate_node_{kind}",
            f"{kind} of a node: in all, and taken by jobs.",
            [
                ({"node": node.name, "of": word}, amount(part))
                for node in platform.cluster.nodes
                for word, part in (("all", node.capacity), ("taken", used[node.name]))
            ],
        )


def _used_of_nodes(platform: Platform) -> Iterator[Figure]:
    """What all that runs on nodes uses, tasks or not, as of the last sample."""
    newest = [(node.name, platform.usage.newest_of_node(node.name)) for node in platform.cluster.nodes]
    found = [({"node": name}, used) for name, used in newest if used is not None]
    table = (
        ("cpu_seconds_total", "CPU time of a node.", "cpu_s", "counter"),
        ("used_memory_bytes", "Memory used on a node.", "memory_bytes", "gauge"),
        ("read_bytes_total", "Bytes read from the disks of a node.", "read_bytes", "counter"),
        ("written_bytes_total", "Bytes written to the disks of a node.", "written_bytes", "counter"),
        ("received_bytes_total", "Bytes that a node received.", "received_bytes", "counter"),
        ("sent_bytes_total", "Bytes that a node sent.", "sent_bytes", "counter"),
        ("gpu_utilisation", "Mean use of a node's GPUs, 0 to 1.", "gpu_utilisation", "gauge"),
        ("power_watts", "Power that a node's GPUs draw.", "power_w", "gauge"),
    )
    return _sampled("node", found, table)


def _sampled(
    what: str, found: Sequence[tuple[Labels, Used]], table: Iterable[tuple[str, str, str, str]]
) -> Iterator[Figure]:
    """Make a figure of each field of the last samples; what is not known is left out."""
    for name, help_, pick, kind in table:
        samples = [(labels, float(getattr(used, pick))) for labels, used in found]
        yield Figure(f"footplate_{what}_{name}", help_, [one for one in samples if one[1] >= 0], kind)


def _cpus(amount: Resources) -> float:
    return amount.milli_cpus / 1000


def _memory_bytes(amount: Resources) -> float:
    return amount.memory_bytes


def _gpus(amount: Resources) -> float:
    return amount.gpus


def _names_of(job: Job) -> Labels:
    return {"job_id": job.id, "name": job.spec.name, "user": job.owner, "queue": job.spec.queue}


def _of_tasks(platform: Platform, board: list[Job]) -> Iterator[Figure]:
    """What tasks use, as of their last sample: kept in memory while they run."""
    running = [job for job in board if job.state is JobState.RUNNING]
    found = [
        ({**_names_of(job), "task": task}, used)
        for job in running
        for task, used in platform.usage.newest(job.attempt_id).items()
    ]
    table = (
        ("cpu_seconds_total", "CPU time of a task.", "cpu_s", "counter"),
        ("memory_bytes", "Memory of a task.", "memory_bytes", "gauge"),
        ("read_bytes_total", "Bytes that a task read.", "read_bytes", "counter"),
        ("written_bytes_total", "Bytes that a task wrote.", "written_bytes", "counter"),
        ("gpu_utilisation", "Mean use of a task's GPUs, 0 to 1.", "gpu_utilisation", "gauge"),
        ("gpu_memory_bytes", "Memory taken on a task's GPUs.", "gpu_memory_bytes", "gauge"),
        ("power_watts", "Power that a task's GPUs draw.", "power_w", "gauge"),
        ("received_bytes_total", "Bytes received in a task's own network.", "received_bytes", "counter"),
        ("sent_bytes_total", "Bytes sent from a task's own network.", "sent_bytes", "counter"),
    )
    return _sampled("task", found, table)
