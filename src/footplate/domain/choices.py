"""Instance types and frameworks: what admins offer by name, and what a job that names them gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from footplate.domain.errors import InvalidInput, Problem, problem
from footplate.domain.jobfile import OF_A_TYPE
from footplate.domain.resources import Resources
from footplate.domain.spec import DEFAULT_SHM_BYTES, EnvironmentSpec, JobSpec, RoleSpec


@dataclass(frozen=True, slots=True)
class InstanceType:
    """A size of one task; those with a lower `position` are listed first."""

    name: str
    milli_cpus: int
    memory_bytes: int
    gpus: int = 0
    gpu_type: str = ""
    # None leaves shared memory to the job.
    shm_bytes: int | None = None
    description: str = ""
    position: int = 0
    created_at: float = 0.0
    updated_at: float = 0.0

    @property
    def resources(self) -> Resources:
        return Resources(self.milli_cpus, self.memory_bytes, self.gpus)


@dataclass(frozen=True, slots=True)
class Framework:
    """One version of a framework: what it runs in, and the strategies it offers; without any, all."""

    name: str
    version: str
    image: str = ""
    environment: EnvironmentSpec | None = None
    # What a job gets that names no strategy.
    strategy: str = ""
    strategies: tuple[str, ...] = ()
    description: str = ""
    position: int = 0
    created_at: float = 0.0
    updated_at: float = 0.0

    @property
    def label(self) -> str:
        return f"{self.name}:{self.version}"


def resolve(spec: JobSpec, types: Mapping[str, InstanceType], frameworks: Sequence[Framework]) -> JobSpec:
    """Fill in what a job's instance types and framework say; raise `InvalidInput` for those not listed.

    Frameworks come in the order in which they are listed: of several versions, the first is the default.
    """
    problems = [*_bad_types(spec.roles, types), *_bad_framework(spec, frameworks)]
    if problems:
        raise InvalidInput(problems)
    sized = replace(spec, roles=tuple(_sized(role, types) for role in spec.roles))
    return _with(sized, _find(spec.framework, frameworks)) if spec.framework else sized


def _bad_types(roles: Iterable[RoleSpec], types: Mapping[str, InstanceType]) -> Iterator[Problem]:
    for number, role in enumerate(roles):
        if not role.instance_type:
            continue
        place = f"roles[{number}]"
        known = types.get(role.instance_type)
        if not types:
            yield problem(f"{place}.type", "no_types", given=role.instance_type)
        elif known is None:
            yield problem(f"{place}.type", "type_not_listed", given=role.instance_type, known=list(types))
        elif DEFAULT_SHM_BYTES != _shm(role, known) > known.memory_bytes:
            yield problem(f"{place}.shm", "more_than_memory", memory_bytes=known.memory_bytes)


def _bad_framework(spec: JobSpec, frameworks: Sequence[Framework]) -> Iterator[Problem]:
    if not spec.framework:
        return
    found = _find(spec.framework, frameworks)
    if not frameworks:
        yield problem("framework", "no_frameworks", given=spec.framework)
    elif found is None:
        known = [one.label for one in frameworks]
        yield problem("framework", "framework_not_listed", given=spec.framework, known=known)
    elif spec.strategy and found.strategies and spec.strategy not in found.strategies:
        offered = list(found.strategies)
        yield problem(
            "strategy", "strategy_not_offered", given=spec.strategy, framework=found.label, known=offered
        )


def _find(wanted: str, frameworks: Sequence[Framework]) -> Framework | None:
    """Find a framework by its name, or by name and version."""
    return next((one for one in frameworks if wanted in (one.label, one.name)), None)


def _sized(role: RoleSpec, types: Mapping[str, InstanceType]) -> RoleSpec:
    """Give a role the size of its type; shared memory only where the role asks for none of its own."""
    if not role.instance_type:
        return role
    known = types[role.instance_type]
    shm_bytes = _shm(role, known)
    return replace(
        role,
        milli_cpus=known.milli_cpus,
        memory_bytes=known.memory_bytes,
        gpus=known.gpus,
        gpu_type=known.gpu_type,
        shm_bytes=shm_bytes,
        from_type=OF_A_TYPE if shm_bytes == role.shm_bytes else (*OF_A_TYPE, "shm"),
    )


def _shm(role: RoleSpec, known: InstanceType) -> int:
    if known.shm_bytes is None or role.shm_bytes != DEFAULT_SHM_BYTES:
        return role.shm_bytes
    return known.shm_bytes


def _with(spec: JobSpec, known: Framework | None) -> JobSpec:
    """Fill in what the job leaves open, and pin the version."""
    assert known is not None
    offered = {"image": known.image, "environment": known.environment, "strategy": known.strategy}
    given: dict[str, Any] = {
        name: value for name, value in offered.items() if value and not getattr(spec, name)
    }
    return replace(spec, framework=known.label, from_framework=tuple(given), **given)
