"""One rehearsed job from submit to its end: the core decides as on the platform, processes carry it out."""

from __future__ import annotations

import getpass
import queue
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from footplate.domain.advance import advance
from footplate.domain.cluster import Placement
from footplate.domain.events import (
    Event,
    LaunchTasks,
    Placed,
    StopAsked,
    StopTasks,
    TaskExited,
    TasksGone,
    TaskStarted,
)
from footplate.domain.ids import job_id
from footplate.domain.job import Job, submit
from footplate.domain.messages import say
from footplate.domain.overdue import overdue
from footplate.domain.spec import JobSpec
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState
from footplate.engines.base import LaunchPlan
from footplate.engines.local.containers.choosing import enter
from footplate.engines.local.request import task_program
from footplate.engines.strategies import prepare
from footplate.rehearsal.folders import Folders
from footplate.rehearsal.machine import surroundings
from footplate.rehearsal.processes import Exit, Key, Print, Processes

# How long to wait for the next end before time limits are looked at.
TURN_S = 0.2
Tell = Callable[[Job], None]


class Rehearsal:
    """Runs a job; `tell` hears of every new state."""

    def __init__(
        self, spec: JobSpec, placement: Placement, folders: Folders, show: Print, tell: Tell
    ) -> None:
        # What is kept after a failure is kept for whoever enters it, which needs the platform.
        spec = replace(spec, keep_on_failure_s=None)
        now = time.time()
        self.job = submit(job_id(now, random.getrandbits(20)), getpass.getuser(), spec, now)
        self._placement = placement
        self._folders = folders
        self._processes = Processes(show)
        self._tell = tell
        self._kill_at: float | None = None

    def run(self) -> Job:
        """Run to the end. Ctrl-C asks the tasks to stop, a second one kills them."""
        try:
            while not self.job.state.is_final:
                try:
                    self._turn()
                except KeyboardInterrupt:
                    self._interrupt()
        finally:
            self._processes.end()
        return self.job

    def _turn(self) -> None:
        now = time.time()
        if self.job.state is JobState.QUEUED and now >= (self.job.not_before or 0.0):
            self._apply(Placed(now, self.job.attempt, self._placement))
        if self.job.state in (JobState.STARTING, JobState.RUNNING):
            self._launch()
        if (event := overdue(self.job, now)) is not None:
            self._apply(event)
        if self._kill_at is not None and now >= self._kill_at:
            self._processes.end()
        if self.job.state is JobState.STOPPING and self._processes.are_gone:
            self._kill_at = None
            self._apply(TasksGone(time.time(), self.job.attempt))
        if not self.job.state.is_final:
            self._await_end()

    def _await_end(self) -> None:
        try:
            ended = self._processes.exits.get(timeout=TURN_S)
        except queue.Empty:
            return
        self._processes.forget(ended.key)
        self._note(ended)

    def _note(self, ended: Exit) -> None:
        attempt, role, index, run = ended.key
        if self.job.state in (JobState.STARTING, JobState.RUNNING):
            self._apply(TaskExited(ended.at, attempt, role, index, ended.exit_code, run=run))

    def _interrupt(self) -> None:
        if self.job.state is JobState.STOPPING:
            self._processes.end()
            return
        reason = Reason(ReasonCode.STOPPED_BY_USER, say("stopped_by", by=self.job.owner))
        self._apply(StopAsked(time.time(), reason, self.job.owner))

    def _apply(self, event: Event) -> None:
        before = self.job.state, self.job.attempt
        outcome = advance(self.job, event)
        self.job = outcome.job
        if (self.job.state, self.job.attempt) != before:
            self._tell(self.job)
        for effect in outcome.effects:
            if isinstance(effect, StopTasks):
                self._processes.ask_to_end()
                self._kill_at = time.time() + effect.grace_s
            elif isinstance(effect, LaunchTasks):
                self._launch()

    def _launch(self) -> None:
        """Start every task that is due; those that pause before their next run come later."""
        pausing, attempt = self.job.pausing(time.time()), self.job.attempt
        due: dict[tuple[str, int], Key] = {
            (task.role, task.index): (attempt, task.role, task.index, task.run)
            for task in self.job.tasks
            if task.state is TaskState.STARTING and (task.role, task.index) not in pausing
        }
        if due:
            self._start(due)
        for _, role, index, run in due.values():
            self._apply(TaskStarted(time.time(), attempt, role, index, run))

    def _start(self, due: Mapping[tuple[str, int], Key]) -> None:
        job = self.job
        plan = LaunchPlan(job.id, job.owner, job.attempt, job.spec, self._placement, runs=job.runs)
        prepared = prepare(plan, self._folders.paths)
        self._folders.prepare(prepared)
        outer = surroundings(tuple(job.spec.secrets))
        environment = job.spec.environment.path if job.spec.environment else ""
        for rank, task in enumerate(prepared.tasks):
            if key := due.get((task.role, task.index)):
                variables = {**outer, **prepared.gang_env, **prepared.own_env(task, rank)}
                entered = enter(environment or None, variables, outer)
                work = prepared.paths(task).work
                argv = [*task_program(), prepared.command(task.role, task.index)]
                self._processes.start(key, argv, {**entered, "PWD": work}, work)
