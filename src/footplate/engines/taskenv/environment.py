"""Merging the groups of variables; later ones win.

What a user sets replaces any convention and nothing of the platform's own. What is the same for the whole
gang or a whole role is written once, since a gang may have thousands of tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from footplate.domain.cluster import TaskPlacement
from footplate.domain.interpolate import resolve
from footplate.domain.names import RESERVED_ENV, RESERVED_ENV_NAMES
from footplate.domain.spec import RoleSpec
from footplate.engines.taskenv import (
    ffdl,
    frameworks,
    mlflow,
    pai,
    platform,
    redirect,
    slurm,
    tfconfig,
    tione,
    uai,
)
from footplate.engines.taskenv.devices import devices
from footplate.engines.taskenv.gang import Environment, Gang, Group

GangPart = Callable[[Gang], Environment]
RolePart = Callable[[Gang, RoleSpec], Environment]
TaskPart = Callable[[Gang, TaskPlacement, int], Environment]


CONVENTIONS: Mapping[str, Callable[[Gang], Group]] = {
    "torch": frameworks.pytorch,
    "tensorflow": tfconfig.tensorflow,
    "jax": frameworks.jax,
    "ray": frameworks.ray,
    "slurm": slurm.slurm,
}

DIALECT_GANG: tuple[GangPart, ...] = (ffdl.gang, tione.gang, uai.gang)
DIALECT_ROLE: tuple[RolePart, ...] = (ffdl.role,)
DIALECT_TASK: tuple[TaskPart, ...] = (ffdl.task, tione.task, uai.task, mlflow.task, platform.desktop)
PLATFORM_GANG: tuple[GangPart, ...] = (pai.gang, platform.job, platform.offers, platform.members)
PLATFORM_ROLE: tuple[RolePart, ...] = (pai.role, platform.role, redirect.role)
PLATFORM_TASK: tuple[TaskPart, ...] = (pai.task, platform.identity, platform.ports, devices)


class Environments:
    """The variables of a whole gang: what all tasks share, and what each lays over it."""

    def __init__(self, gang: Gang, groups: Collection[Group] | None = None) -> None:
        self._gang = gang
        self._groups = groups if groups is not None else conventions(gang)
        self._shared: Environment = {}
        for group in self._groups:
            self._shared.update(group.shared)
        self._for_all = len(gang.members) == len(gang.tasks)
        self._roles: dict[str, tuple[Environment, Environment]] = {}

    def gang(self, more: Mapping[str, str] | None = None) -> Environment:
        """Say what every task of the gang has in common; `more` is what a strategy adds."""
        merged = platform.defaults(self._gang)
        for part in DIALECT_GANG:
            merged.update(part(self._gang))
        if self._for_all:
            merged.update(self._shared)
        merged.update(more or {})
        for part in PLATFORM_GANG:
            merged.update(part(self._gang))
        return merged

    def own(self, task: TaskPlacement, rank: int) -> Environment:
        """Say what one task has for itself, to be laid over the gang's."""
        before_user, after_user = self._of_role(task.role)
        merged = dict(before_user)
        for part in DIALECT_TASK:
            merged.update(part(self._gang, task, rank))
        member_rank = self._gang.member_ranks.get((task.role, task.index))
        if member_rank is not None:
            if not self._for_all:
                merged.update(self._shared)
            for group in self._groups:
                merged.update(group.own(task, member_rank))
        merged.update(after_user)
        for part in PLATFORM_TASK:
            merged.update(part(self._gang, task, rank))
        return merged

    def _of_role(self, name: str) -> tuple[Environment, Environment]:
        """Write what a role's tasks share: what users may replace, then the users' and the platform's."""
        known = self._roles.get(name)
        if known is None:
            role = self._gang.roles[name]
            before: Environment = {}
            for part in DIALECT_ROLE:
                before.update(part(self._gang, role))
            after = _user(self._gang, role)
            for part in PLATFORM_ROLE:
                after.update(part(self._gang, role))
            known = self._roles[name] = (before, after)
        return known


def conventions(gang: Gang, names: Iterable[str] = CONVENTIONS) -> list[Group]:
    """Write the variables of the named frameworks; none for a gang of which nobody takes part."""
    return [CONVENTIONS[name](gang) for name in names] if gang.members else []


def _user(gang: Gang, role: RoleSpec) -> Environment:
    spec = gang.plan.spec
    texts: Mapping[str, str] = {**spec.env, **role.env} if spec.env else role.env
    return {
        name: resolve(text, spec.parameters)
        for name, text in texts.items()
        if name not in RESERVED_ENV_NAMES and not name.startswith(RESERVED_ENV)
    }
