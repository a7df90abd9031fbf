"""The options of #SBATCH lines that become fields of a job, apart from its resources."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from footplate.dialects.slurm import amounts
from footplate.dialects.slurm.arrays import indices_of, loop_over
from footplate.dialects.slurm.script import COMPONENTS, Option
from footplate.domain.kinds import show_duration
from footplate.domain.messages import Message, say
from footplate.domain.names import RESERVED_ENV, RESERVED_ENV_NAMES

# Options that only say how sbatch itself behaves.
HARMLESS = frozenset(
    {"parsable", "quiet", "verbose", "test-only", "wait", "no-requeue", "get-user-env", "ignore-pbs"}
)
UNLIMITED = ("0", "UNLIMITED", "INFINITE", "NONE")
ARRAY_INDEX = "SLURM_ARRAY_TASK_ID"
_QUEUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_NAME = re.compile(r"[^A-Za-z0-9._~-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")
_IMAGE = re.compile(r"(?:docker://)?([\w.-]+(?::\d+)?)?#?([\w./:@-]+)")


@dataclass(slots=True)
class Fields:
    """The fields of a job so far, what its commands must do first, and what to tell."""

    values: dict[str, Any]
    first: list[str] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)

    def take(self, option: Option) -> None:
        """Take an option in, or say that there is nothing like it."""
        if option.name in HARMLESS:
            return
        if option.name in COMPONENTS:
            self.notes.append(say("slurm_components"))
            return
        taken = _TAKEN_BY.get(option.name)
        if taken is None or not taken(self, option.value):
            self.notes.append(say("slurm_option_unmapped", option=str(option)))


def as_name(text: str) -> str:
    """A name that a job may have, close to the one given."""
    return _NAME.sub("-", text).strip("-")[:255].strip(".") or "job"


def _name(job: Fields, value: str) -> bool:
    job.values["name"] = as_name(value)
    return True


def _description(job: Fields, value: str) -> bool:
    job.values["description"] = value[:4096]
    return True


def _queue(job: Fields, value: str) -> bool:
    queue = value.partition(",")[0]
    if not _QUEUE.fullmatch(queue):
        return False
    job.values["queue"] = queue
    job.notes.append(say("slurm_partition", queue=queue))
    return True


def _time(job: Fields, value: str) -> bool:
    if value.upper() in UNLIMITED:
        return True
    seconds = amounts.read_seconds(value)
    if seconds:
        job.values["time_limit"] = show_duration(seconds)
    return bool(seconds)


def _deadline(job: Fields, value: str) -> bool:
    found = _INSTANT.fullmatch(value)
    if found:
        job.values["deadline"] = value if found[1] else f"{value}:00"
    return bool(found)


def _retry(job: Fields, _value: str) -> bool:
    job.values["retry"] = 1
    return True


def _image(job: Fields, value: str) -> bool:
    found = _IMAGE.fullmatch(value)
    if not found or value.startswith(("/", ".")):
        return False
    job.values["image"] = "/".join(filter(None, found.groups())) if "#" in value else value.split("://")[-1]
    return True


def _output(job: Fields, _value: str) -> bool:
    job.notes.append(say("slurm_output"))
    return True


def _chdir(job: Fields, value: str) -> bool:
    if not value.startswith("/"):
        job.values["code"] = value
        return bool(value)
    job.first.append(f"cd {shlex.quote(value)}")
    job.notes.append(say("slurm_chdir", folder=value))
    return True


def _export(job: Fields, value: str) -> bool:
    for entry in value.split(","):
        name, equals, given = entry.partition("=")
        is_ours = name.startswith(RESERVED_ENV) or name in RESERVED_ENV_NAMES
        if equals and _VARIABLE.fullmatch(name) and not is_ours:
            job.values.setdefault("env", {})[name] = given
        elif name.upper() not in ("NIL", "NONE"):
            job.notes.append(say("slurm_export", entry=entry))
    return True


def _dependency(job: Fields, value: str) -> bool:
    job.notes.append(say("slurm_dependency", value=value))
    return True


def _array(job: Fields, value: str) -> bool:
    indices = indices_of(value)
    if not indices:
        return False
    job.values["parameters"] = {"array_task_id": indices[0]}
    job.values.setdefault("env", {})[ARRAY_INDEX] = "${{ parameters.array_task_id }}"
    job.notes.append(say("slurm_array", n=len(indices), loop=loop_over(indices)))
    return True


_TAKEN_BY: Mapping[str, Callable[[Fields, str], bool]] = {
    "job-name": _name,
    "comment": _description,
    "partition": _queue,
    "time": _time,
    "deadline": _deadline,
    "requeue": _retry,
    "container-image": _image,
    "output": _output,
    "error": _output,
    "open-mode": _output,
    "chdir": _chdir,
    "workdir": _chdir,
    "export": _export,
    "dependency": _dependency,
    "array": _array,
}
