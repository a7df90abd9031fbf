"""What an engine needs to start every task of a launch: variables, files and commands."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Mapping, Sequence

from footplate.domain.cluster import TaskPlacement
from footplate.domain.interpolate import resolve
from footplate.domain.messages import Message, say
from footplate.engines.base import LaunchPlan, TaskPaths
from footplate.engines.strategies import registry
from footplate.engines.strategies.base import Strategy
from footplate.engines.strategies.builtin import Everything
from footplate.engines.taskenv import redirect
from footplate.engines.taskenv.environment import Environments
from footplate.engines.taskenv.gang import Environment, FindPaths, Gang, gather

# What a shell answers for a program that is there and cannot be run.
CANNOT_RUN = 126

log = logging.getLogger(__name__)


class Prepared:
    """A launch made ready: all of it is a function of the plan, so that a repeated launch is the same."""

    def __init__(self, gang: Gang, strategy: Strategy) -> None:
        self._gang = gang
        self._strategy = strategy
        self._environments = Environments(gang, list(strategy.groups(gang)) if gang.members else [])
        self._places = {(task.role, task.index): task for task in gang.tasks}
        self._commands: dict[str, str] = {}
        self.gang_env: Environment = self._environments.gang(strategy.variables(gang))
        # By path below `TaskPaths.strategy`; written before any task starts.
        self.files: Mapping[str, str] = {**redirect.files(gang), **strategy.files(gang)}

    @property
    def tasks(self) -> Sequence[TaskPlacement]:
        """The tasks in the order of their ranks."""
        return self._gang.tasks

    @property
    def shared_paths(self) -> TaskPaths:
        return self._gang.shared_paths

    def paths(self, task: TaskPlacement) -> TaskPaths:
        return self._gang.paths(task)

    def own_env(self, task: TaskPlacement, rank: int) -> Environment:
        """Say what one task has for itself, to be laid over `gang_env`."""
        return self._environments.own(task, rank)

    def command(self, role: str, index: int) -> str:
        """Write the shell text that one task runs."""
        if role not in self._commands:
            spec = self._gang.plan.spec
            self._commands[role] = resolve(self._gang.roles[role].command, spec.parameters)
        return self._strategy.command(self._gang, self._places[role, index], self._commands[role])


class Refused(Prepared):
    """A launch that nothing can start: each task says why and fails."""

    def __init__(self, gang: Gang, why: Message) -> None:
        super().__init__(gang, Everything())
        self._text = f"echo {shlex.quote(f'footplate: {why}')} >&2\nexit {CANNOT_RUN}"

    def command(self, role: str, index: int) -> str:
        return self._text


def prepare(plan: LaunchPlan, paths: FindPaths) -> Prepared:
    """Make a launch ready by the strategy that its job names, with paths as the engine's tasks see them.

    Where the strategy is gone or fails, the tasks of the launch say so and fail.
    """
    name = plan.spec.strategy
    if not name:
        return Prepared(gather(plan, paths), Everything())
    strategy = registry.find(name)
    if strategy is None:
        return Refused(gather(plan, paths), registry.unknown(name) or say("strategy_gone", strategy=name))
    try:
        return _prepared(plan, paths, strategy)
    except Exception as error:  # other people's code may fail in any way
        log.warning("strategy %s failed to prepare %s", name, plan.attempt_id, exc_info=True)
        fault = f"{type(error).__name__}: {error}"
        return Refused(gather(plan, paths), say("strategy_failed", strategy=name, error=fault))


def _prepared(plan: LaunchPlan, paths: FindPaths, strategy: Strategy) -> Prepared:
    prepared = Prepared(gather(plan, paths, lambda role: strategy.takes_part(plan.spec, role)), strategy)
    for task in prepared.tasks:
        # A plug-in that fails on one task must not leave the others running.
        prepared.own_env(task, 0)
        prepared.command(task.role, task.index)
    return prepared
