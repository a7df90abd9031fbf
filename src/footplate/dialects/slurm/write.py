"""Writes a job as a batch script of Slurm, as far as one can say it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from footplate.dialects.losses import losses
from footplate.dialects.translation import Written
from footplate.domain.errors import InvalidInput
from footplate.domain.interpolate import resolve
from footplate.domain.messages import Message, say
from footplate.domain.resources import MIB
from footplate.domain.spec import DEFAULT_QUEUE, JobSpec, RoleSpec

_SAID = frozenset(
    {"name", "description", "queue", "image", "env", "parameters", "roles", "time_limit", "retry", "code"}
)
_SAID_OF_ROLE = frozenset(
    {"name", "command", "count", "cpus", "memory", "gpus", "gpu_type", "image", "env", "shm"}
)


def write(spec: JobSpec) -> Written:
    """Write the script; raise `InvalidInput` for a job of several roles, which no script can say."""
    if len(spec.roles) > 1:
        raise InvalidInput("roles_inexpressible", "roles", n=len(spec.roles))
    (role,) = spec.roles
    lines = ["#!/bin/bash", *(f"#SBATCH {option}" for option in _options(spec, role)), ""]
    for name, value in {**spec.env, **role.env}.items():
        lines.append(f"export {name}={shlex.quote(resolve(value, spec.parameters))}")
    command = resolve(role.command, spec.parameters)
    lines.append(_as_step(command) if role.count > 1 else command)
    lost = [*losses(spec, _SAID, _SAID_OF_ROLE), *_of_options(spec)]
    return Written("\n".join(lines).rstrip("\n") + "\n", tuple(lost))


def _options(spec: JobSpec, role: RoleSpec) -> Iterator[str]:
    yield f"--job-name={spec.name}"
    if spec.description and "\n" not in spec.description:
        yield f"--comment={shlex.quote(spec.description)}"
    if spec.queue != DEFAULT_QUEUE:
        yield f"--partition={spec.queue}"
    if role.count > 1:
        yield f"--ntasks={role.count}"
    yield f"--cpus-per-task={max(1, -(-role.milli_cpus // 1000))}"
    memory = max(1, role.memory_bytes // MIB)
    yield f"--mem={memory}M" if role.count == 1 else f"--mem-per-cpu={_per_cpu(memory, role)}M"
    if role.gpus:
        kind = f"{role.gpu_type}:" if re.fullmatch(r"[\w.-]+", role.gpu_type) else ""
        yield f"--gpus-per-task={kind}{role.gpus}" if role.count > 1 else f"--gres=gpu:{kind}{role.gpus}"
    if spec.time_limit_s is not None:
        hours, rest = divmod(spec.time_limit_s, 3600)
        yield f"--time={hours}:{rest // 60:02}:{rest % 60:02}"
    if spec.retry:
        yield "--requeue"
    image = role.image or spec.image
    if image:
        yield f"--container-image={image}"


def _per_cpu(memory_mb: int, role: RoleSpec) -> int:
    return max(1, memory_mb // max(1, -(-role.milli_cpus // 1000)))


def _as_step(command: str) -> str:
    if "\n" not in command:
        return (
            f"srun {command}"
            if re.fullmatch(r"[\w./ =-]+", command)
            else f"srun bash -c {shlex.quote(command)}"
        )
    return f"srun bash -e -c {shlex.quote(command)}"


def _of_options(spec: JobSpec) -> Iterator[Message]:
    if spec.code is not None:
        yield say("code_stays_here")
