"""Detects tasks that make no progress: hangs, and idle jobs that hold resources."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from footplate.control.context import Context
from footplate.domain.attempt import attempt_of
from footplate.domain.errors import FootplateError
from footplate.domain.events import Event, HangSeen, Hung, ProgressSeen, StopAsked
from footplate.domain.job import Job, Task
from footplate.domain.kinds import show_instant
from footplate.domain.messages import say
from footplate.domain.spec import HangPolicy
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState
from footplate.engines.base import DumpsStacks, Engine, ReadsUsage
from footplate.engines.usage import Usage
from footplate.store import transitions
from footplate.store.logs import Logs
from footplate.store.writer import Transaction

log = logging.getLogger(__name__)

# Less than this share of one CPU, and nothing of a card, counts as idle.
IDLE_CPU = 0.05
IDLE_CARD = 0.01
MOST_NAMED = 100
MOST_OF_A_STACK = 16 * 1024
MOST_OF_ALL_STACKS = 256 * 1024

# A task by job, attempt, role and index, and which run of it: one that is started again begins anew.
Key = tuple[str, int, str, int, int]


@dataclass(slots=True)
class Mark:
    """The last sample of a task, and when it last made progress; by elapsed time."""

    at: float
    active_at: float
    cpu_s: float
    log_bytes: int
    n_points: int = 0
    # Whether it was seen to do something, and not only taken to since it was not looked at before.
    has_acted: bool = False


class Progress:
    """Watches the tasks of jobs that want to be watched, and remembers when each was last active."""

    def __init__(self, context: Context, name: str, engine: Engine) -> None:
        self._context = context
        self._name = name
        self._engine = engine
        self._marks: dict[Key, Mark] = {}
        self._told: set[tuple[str, int]] = set()
        # Two at once would both tell of the same hang.
        self._one_at_a_time = asyncio.Lock()

    async def watch(self) -> None:
        async with self._one_at_a_time:
            await self._watch()

    async def _watch(self) -> None:
        engine = self._engine
        jobs = [job for job in list(self._context.store.board.values()) if self._is_watched(job)]
        self._forget_others(jobs)
        if not jobs or not isinstance(engine, ReadsUsage):
            return
        usage = {
            (one.attempt_id, one.role, one.index): one
            for one in await engine.usage([attempt_of(job) for job in jobs])
        }
        sizes = await asyncio.to_thread(_log_sizes, self._context.logs, jobs)
        at = self._context.clock.elapsed()
        for job in jobs:
            for task in _running_tasks(job):
                used = usage.get((job.attempt_id, task.role, task.index))
                n_points = self._context.metrics.n_points(job.attempt_id, task.name)
                self._mark(_key(job, task), used, sizes[_key(job, task)], n_points, at)
                self._note_use(job, task)
            await self._judge(job, at)

    def _is_watched(self, job: Job) -> bool:
        wants = job.spec.hang is not None or self._idle_limit(job) is not None or self._is_told_of(job)
        is_ours = self._context.engines.name_of(job) == self._name
        return wants and job.state is JobState.RUNNING and is_ours

    def _is_told_of(self, job: Job) -> bool:
        """Whether somebody wants to be told when it makes no progress: by its file, or by a rule."""
        rules = self._context.alerts.rules_for(job.owner, job.spec.queue)
        return any(alert.on == "no_progress" for alert in job.spec.alerts) or any(
            "no_progress" in rule.on for rule in rules
        )

    def idle_s(self, job: Job) -> float | None:
        """For how long a running job has made no progress in the task that is idle longest."""
        marks = [self._marks.get(_key(job, task)) for task in _running_tasks(job)]
        at = self._context.clock.elapsed()
        return max((at - mark.active_at for mark in marks if mark is not None), default=None)

    def _idle_limit(self, job: Job) -> float | None:
        """What a job says itself, or what the platform says of interactive ones."""
        if job.spec.idle_limit_s is not None:
            return job.spec.idle_limit_s
        return self._context.tuned.idle_limit_s if job.spec.services else None

    def _forget_others(self, jobs: Iterable[Job]) -> None:
        attempts = {(job.id, job.attempt) for job in jobs}
        runs = {_key(job, task) for job in jobs for task in job.tasks}
        self._marks = {key: mark for key, mark in self._marks.items() if key in runs}
        self._told &= attempts

    def _mark(self, key: Key, used: Usage | None, log_bytes: int, n_points: int, at: float) -> None:
        before = self._marks.get(key)
        if before is None or used is None:
            # What a task uses that cannot be read may be anything: nobody calls it idle.
            self._marks[key] = Mark(at, at, 0.0 if used is None else used.cpu_s, log_bytes, n_points)
            return
        cpu_s = used.cpu_s
        spent = (cpu_s - before.cpu_s) / max(at - before.at, 0.001)
        busy_cards = any(card.utilisation > IDLE_CARD for card in used.cards)
        has_told = log_bytes != before.log_bytes or n_points != before.n_points
        if spent > IDLE_CPU or busy_cards or has_told:
            before.active_at, before.has_acted = at, True
        before.at, before.cpu_s = at, cpu_s
        before.log_bytes, before.n_points = log_bytes, n_points

    def _note_use(self, job: Job, task: Task) -> None:
        """Count what somebody does in a service of the job, which its tasks may hardly notice."""
        mark, used_at = self._marks[_key(job, task)], self._context.activity.last(job.id)
        if used_at is not None and used_at > mark.active_at:
            mark.active_at, mark.has_acted = used_at, True

    async def _judge(self, job: Job, at: float) -> None:
        idle = {task.name: at - self._marks[_key(job, task)].active_at for task in _running_tasks(job)}
        if not idle:
            return
        now = self._context.clock.now()
        limit_s = self._idle_limit(job)
        if limit_s is not None and min(idle.values()) >= limit_s:
            await self._reclaim(job, limit_s, now)
        elif job.spec.hang is not None:
            await self._judge_hang(job, idle, now)

    async def _reclaim(self, job: Job, limit_s: float, now: float) -> None:
        reason = Reason(ReasonCode.IDLE, say("idle", idle_limit_s=limit_s))
        await self._context.store.apply_all([(job.id, StopAsked(now, reason))])

    async def _judge_hang(self, job: Job, idle: Mapping[str, float], now: float) -> None:
        policy = job.spec.hang
        assert policy is not None
        hung = [name for name, idle_s in idle.items() if idle_s >= policy.after_s]
        is_hung = len(hung) == len(idle) if policy.tasks == "all" else bool(hung)
        attempt = (job.id, job.attempt)
        if not is_hung:
            self._told.discard(attempt)
            if job.reason.code is ReasonCode.HANG and self._moves_again(job, policy):
                await self._context.store.apply_all([(job.id, ProgressSeen(now, job.attempt))])
        elif attempt not in self._told:
            # A server that was started meanwhile has told it in its life before.
            if job.reason.code is not ReasonCode.HANG:
                await self._tell_hang(job, hung, now - max(idle[name] for name in hung), now)
            # Only then: what could not be written is tried again the next time.
            self._told.add(attempt)

    def _moves_again(self, job: Job, policy: HangPolicy) -> bool:
        """Whether those that hung were seen to do something; after a restart nobody knows that at first."""
        acted = {task.name for task in _running_tasks(job) if self._marks[_key(job, task)].has_acted}
        hung = {task.name for task in _running_tasks(job)} & set(job.reason.details.get("tasks", ()))
        return bool(acted) if policy.tasks == "all" else hung <= acted

    async def _tell_hang(self, job: Job, hung: Sequence[str], since: float, now: float) -> None:
        policy = job.spec.hang
        assert policy is not None
        stacks = await self._stacks(job)
        action, tasks = policy.action, list(hung[:MOST_NAMED])
        said = say("hung", tasks=tasks, after_s=policy.after_s)
        event: Event = Hung(now, job.attempt, said)
        if policy.action == "notify":
            event = HangSeen(now, job.attempt, _why_hung(tasks, since, bool(stacks)))
        store = self._context.store

        def unit(tx: Transaction) -> None:
            if job.id in store.board:
                tx.record(job, "hang", now, said, action=action, stacks=stacks)
                transitions.apply(tx, store.board, job.id, event)

        await store.write(unit)

    async def _stacks(self, job: Job) -> dict[str, str]:
        engine = self._engine
        if not isinstance(engine, DumpsStacks):
            return {}
        try:
            found = await engine.stacks(attempt_of(job))
        except (FootplateError, OSError):
            log.exception("the stacks of job %s cannot be read", job.id)
            return {}
        return _bounded(found)


def _why_hung(tasks: list[str], since: float, has_stacks: bool) -> Reason:
    code = "hung_since_with_stacks" if has_stacks else "hung_since"
    return Reason(
        ReasonCode.HANG, say(code, tasks=tasks, since=show_instant(since)), {"has_stacks": has_stacks}
    )


def _bounded(stacks: Mapping[str, str]) -> dict[str, str]:
    kept: dict[str, str] = {}
    left = MOST_OF_ALL_STACKS
    for task, text in stacks.items():
        cut = text if len(text) <= MOST_OF_A_STACK else text[:MOST_OF_A_STACK] + "\n(cut)"
        if len(cut) > left:
            break
        kept[task] = cut
        left -= len(cut)
    return kept


def _running_tasks(job: Job) -> list[Task]:
    return [task for task in job.tasks if task.state is TaskState.RUNNING]


def _key(job: Job, task: Task) -> Key:
    return job.id, job.attempt, task.role, task.index, task.run


def _log_sizes(logs: Logs, jobs: Sequence[Job]) -> dict[Key, int]:
    return {
        _key(job, task): logs.open(job.attempt_id, task.name).size
        for job in jobs
        for task in _running_tasks(job)
    }
