"""The effect `StopTasks`: end the tasks of an attempt, all of them or all but those that are kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from footplate.control.context import Context
from footplate.control.retrying import keep_trying
from footplate.control.watch import events_from
from footplate.control.work import LAUNCH, STOP, STOP_OTHERS, STOP_SOONER, JobWork
from footplate.domain.attempt import Attempt, attempt_of
from footplate.domain.errors import EngineUnavailable
from footplate.domain.events import Event, OthersGone, StopTasks, TasksGone
from footplate.domain.job import Job
from footplate.domain.kinds import show_instant
from footplate.domain.messages import Message, say
from footplate.engines.base import Notice, Observation


class Stops:
    """Stops attempts, and insists until everything has ended."""

    def __init__(self, context: Context, work: JobWork) -> None:
        self._context = context
        self._work = work
        self._delayed: set[tuple[str, int]] = set()

    def stop(self, job: Job, effect: StopTasks) -> None:
        grace_s, keep = effect.grace_s, effect.keep
        if keep:
            self._work.begin(STOP_OTHERS, job, lambda: self._stop_others(job, grace_s, keep))
        elif self._work.is_under_way(STOP, job):
            self._work.begin(STOP_SOONER, job, lambda: self._stop_sooner(job, grace_s))
        else:
            self._work.begin(STOP, job, lambda: self._stop(job, grace_s))

    async def _stop(self, job: Job, grace_s: float) -> None:
        await self._work.until_done(job, LAUNCH, STOP_OTHERS)
        seen = await keep_trying(f"stopping job {job.id}", lambda: self._end(job, attempt_of(job), grace_s))
        await keep_trying(
            f"noting the end of job {job.id}",
            lambda: self._tell_end(job, seen, self._gone(job)),
        )

    async def _stop_sooner(self, job: Job, grace_s: float) -> None:
        """Shorten the grace of a stop that is under way, which then finds that all have ended."""
        await self._work.until_done(job, LAUNCH)
        await self._context.engines.of(job).stop(attempt_of(job), grace_s)

    async def _stop_others(self, job: Job, grace_s: float, keep: Collection[tuple[str, int]]) -> None:
        """End all tasks but those whose environment is kept."""
        await self._work.until_done(job, LAUNCH)
        others = [(task.role, task.index) for task in job.tasks if (task.role, task.index) not in keep]
        if others:
            attempt = attempt_of(job).only(others)
            seen = await keep_trying(f"stopping job {job.id}", lambda: self._end(job, attempt, grace_s))
            gone = OthersGone(self._context.clock.now(), job.attempt)
            await keep_trying(f"noting ends in job {job.id}", lambda: self._tell_end(job, seen, gone))

    def _gone(self, job: Job) -> TasksGone:
        return TasksGone(self._context.clock.now(), job.attempt, self._context.tuned.pauses)

    async def _end(self, job: Job, attempt: Attempt, grace_s: float) -> Sequence[Observation]:
        notice = _notice(job, self._context.clock.now(), grace_s)
        try:
            engine = self._context.engines.of(job)
            await engine.stop(attempt, grace_s, notice)
        except EngineUnavailable as error:
            await self._tell_delay(job, error.said)
            raise
        self._delayed.discard((job.id, job.attempt))
        return await engine.observe([attempt])

    async def _tell_delay(self, job: Job, why: Message) -> None:
        """Say once in the job's events why it does not end."""
        if (job.id, job.attempt) not in self._delayed:
            now, said = self._context.clock.now(), say("end_delayed", why=why)
            await self._context.store.write(lambda tx: tx.record(job, "end_delayed", now, said))
            self._delayed.add((job.id, job.attempt))

    async def _tell_end(self, job: Job, seen: Sequence[Observation], then: Event) -> None:
        current = self._context.store.board.get(job.id, job)
        moves = [*events_from(current, seen, self._context.clock.now()), then]
        await self._context.store.apply_all((job.id, event) for event in moves)


def _notice(job: Job, now: float, grace_s: float) -> Notice:
    will_run_again = job.next is not None and not job.next.state.is_final
    return Notice(job.reason.code.value, job.reason.message, show_instant(now), grace_s, will_run_again)
