"""Turns a batch script into a job document, and says what it could not turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from footplate.dialects.slurm.body import for_interpreter, rewrite, with_variables
from footplate.dialects.slurm.fields import ARRAY_INDEX, Fields, as_name
from footplate.dialects.slurm.script import Script, read_script
from footplate.dialects.slurm.shape import OPTIONS, Shape, Spread
from footplate.dialects.translation import Translation
from footplate.domain.kinds import Size
from footplate.domain.messages import Message, say

# As people write job files.
_ORDER = (
    "name",
    "description",
    "queue",
    "image",
    "code",
    "env",
    "parameters",
    "count",
    "cpus",
    "memory",
    "gpus",
    "gpu_type",
    "command",
    "time_limit",
    "deadline",
    "retry",
)
_SIZE = Size(0, 1 << 60)


# What tells of something that is not taken over; all else tells what is different.
_LOSSES = frozenset(
    {
        "slurm_option_unmapped",
        "slurm_value_unreadable",
        "slurm_line_late",
        "slurm_line_unreadable",
        "slurm_components",
        "slurm_export",
        "slurm_dependency",
        "slurm_array",
        "slurm_all_memory",
        "slurm_tool",
        "slurm_variable_unmapped",
    }
)
_NAMELESS = "job"


@dataclass(frozen=True, slots=True)
class Read:
    """A job document, and what somebody should know before it is submitted."""

    document: Mapping[str, Any]
    notes: tuple[Message, ...]


def translate_text(text: str) -> Translation:
    """Translate a batch script as any other job file."""
    read = translate(text, _NAMELESS)
    lost = tuple(note for note in read.notes if note.code in _LOSSES)
    converted = tuple(note for note in read.notes if note.code not in _LOSSES)
    return Translation("sbatch", read.document, text, converted, lost, names_repeat=True)


def translate(text: str, name: str) -> Read:
    """Translate a batch script; `name` is for a job that has none of its own."""
    script = read_script(text)
    # Of an option that is given twice, the last one counts.
    options = {option.name: option for option in script.options}
    fields = Fields({"name": as_name(name), "code": "."})
    for option in options.values():
        if option.name not in OPTIONS:
            fields.take(option)
    body = rewrite(script)
    spread = Spread({name: one.value for name, one in options.items()}, uses_srun=body.n_srun > 0)
    shape = spread.shape()
    known = {ARRAY_INDEX} & fields.values.get("env", {}).keys()
    command = "\n".join([*fields.first, with_variables(body, shape.cpus, shape.gpus.count, known)])
    fields.values |= {**_resources(shape), "command": for_interpreter(script, command).strip() or "true"}
    notes = (*_of_lines(script), *fields.notes, *spread.notes, *body.notes, *_of_all(script, shape))
    document = {field: fields.values[field] for field in _ORDER if field in fields.values}
    return Read(document, _each_once(notes))


def _resources(shape: Shape) -> dict[str, Any]:
    found: dict[str, Any] = {"cpus": shape.cpus}
    if shape.count > 1:
        found["count"] = shape.count
    if shape.memory_bytes is not None:
        found["memory"] = _SIZE.write(shape.memory_bytes)
    if shape.gpus.count:
        found["gpus"] = shape.gpus.count
        if shape.gpus.type:
            found["gpu_type"] = shape.gpus.type
    return found


def _of_lines(script: Script) -> Iterator[Message]:
    for line in script.late:
        yield say("slurm_line_late", line=line)
    for line in script.unreadable:
        yield say("slurm_line_unreadable", line=line)


def _of_all(script: Script, shape: Shape) -> Iterator[Message]:
    """What is different for every script."""
    if not script.options:
        yield say("slurm_no_options")
    if shape.memory_bytes is None:
        yield say("slurm_default_memory")
    yield say("slurm_code")
    if "\n" in script.body.strip():
        yield say("slurm_stops")


def _each_once(notes: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(note for i, note in enumerate(notes) if note not in notes[:i])
