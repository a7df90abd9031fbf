"""Reads and writes job files, in the long form and in the short one of a job with one role."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from footplate.domain import spec as s
from footplate.domain.errors import InvalidInput, Problem
from footplate.domain.fields import Record
from footplate.domain.foreign import format_of
from footplate.domain.hidden import hide, is_hidden
from footplate.domain.interpolate import Unresolved, resolve
from footplate.domain.problems import Json, Problems, Schema, join, shorten
from footplate.domain.rolefields import ROLE_BODY
from footplate.domain.specfields import JOB
from footplate.domain.typed import settle

# The fields of both forms.
_EITHER_FORM = Record(s.JobSpec, (*ROLE_BODY, *JOB.fields))
_SHORT_ROLE = {field.name for field in ROLE_BODY}
# What an instance type says, and a role with one does not.
OF_A_TYPE = ("cpus", "memory", "gpus", "gpu_type")
_FROM_FRAMEWORK, _FROM_TYPES = "from_framework", "from_types"


def read_job(document: Json) -> s.JobSpec:
    """Read a job document, long or short form; raise `InvalidInput` with every problem found."""
    if foreign := format_of(document):
        raise InvalidInput("job_file_foreign", "", format=foreign)
    problems = Problems()
    spread = _spread(document)
    spec = JOB.read(spread, "", problems)
    _check_references(spread, problems)
    _check_types(spread, problems)
    _check_hidden(spread, problems)
    problems[:] = place_in(document, problems)
    problems.raise_if_any()
    assert isinstance(spec, s.JobSpec)
    return spec


def settle_job(document: Json) -> Json:
    """Make plain data of a document whose words are kept as typed; each means what its field takes it for."""
    return settle(document, _EITHER_FORM)


def _check_types(document: Json, problems: Problems) -> None:
    """Refuse amounts beside an instance type, in the raw document: what was read has defaults too."""
    roles = document.get("roles") if isinstance(document, Mapping) else None
    for i, role in enumerate(roles if isinstance(roles, (list, tuple)) else ()):
        if isinstance(role, Mapping) and isinstance(role.get("type"), str) and role["type"]:
            for name in OF_A_TYPE:
                if role.get(name) is not None:
                    problems.add(join(join("roles", i), name), "beside_type", type=shorten(role["type"]))


def _check_references(document: Json, problems: Problems) -> None:
    """Look for references to parameters that are not set, in the raw document: other faults hide none."""
    if not isinstance(document, Mapping):
        return
    given = document.get("parameters")
    parameters = given if isinstance(given, Mapping) else {}
    _check_texts("env", document.get("env"), parameters, problems)
    roles = document.get("roles")
    for i, role in enumerate(roles if isinstance(roles, (list, tuple)) else ()):
        if isinstance(role, Mapping):
            where = join("roles", i)
            _check_texts(where, {"command": role.get("command")}, parameters, problems)
            _check_texts(join(where, "env"), role.get("env"), parameters, problems)


def _check_hidden(document: Json, problems: Problems) -> None:
    """Refuse what a view shows in the place of a secret: the job would get stars."""
    if not isinstance(document, Mapping):
        return
    roles = document.get("roles")
    named = enumerate(roles if isinstance(roles, list | tuple) else ())
    every = {"": document, **{join("roles", i): role for i, role in named if isinstance(role, Mapping)}}
    for where, holder in every.items():
        for field in ("env", "parameters"):
            values = holder.get(field)
            for name, value in (values if isinstance(values, Mapping) else {}).items():
                if is_hidden(value):
                    problems.add(join(join(where, field), str(name)), "value_hidden")


def _check_texts(path: str, texts: Json, parameters: Mapping[str, Any], problems: Problems) -> None:
    for name, text in (texts if isinstance(texts, Mapping) else {}).items():
        try:
            resolve(text if isinstance(text, str) else "", parameters)
        except Unresolved as unresolved:
            problems.add(join(path, str(name)), unresolved.said)


def _spread(document: Json) -> Json:
    if not isinstance(document, Mapping) or "roles" in document:
        return document
    role = {name: value for name, value in document.items() if name in _SHORT_ROLE}
    rest = {name: value for name, value in document.items() if name not in _SHORT_ROLE}
    return {**rest, "roles": [role]}


def place_in(document: Json, problems: Iterable[Problem]) -> list[Problem]:
    """Name the fields at fault as a document of this form has them, long or short."""
    if not isinstance(document, Mapping) or "roles" in document:
        return list(problems)
    return [Problem(re.sub(r"^roles\[0\]\.", "", one.path), one.said) for one in problems]


def write_job(spec: s.JobSpec) -> dict[str, Any]:
    """Write a job as it was asked for: without what its framework and its instance types have filled in."""
    written: dict[str, Any] = JOB.write(spec)
    for name in spec.from_framework:
        written.pop(name, None)
    for role, body in zip(spec.roles, written["roles"], strict=True):
        for name in role.from_type:
            body.pop(name, None)
    return written


def show_job(spec: s.JobSpec) -> dict[str, Any]:
    """Write a job as the document that people are shown, without values that are secrets by name."""
    return hide(write_job(spec))


def write_whole(spec: s.JobSpec) -> dict[str, Any]:
    """Write a job with all that was filled in, for the store: the catalogues may change, the job does not."""
    written: dict[str, Any] = JOB.write(spec)
    if spec.from_framework:
        written[_FROM_FRAMEWORK] = list(spec.from_framework)
    if any(role.from_type for role in spec.roles):
        written[_FROM_TYPES] = [list(role.from_type) for role in spec.roles]
    return written


def read_whole(document: dict[str, Any]) -> s.JobSpec:
    """Read what `write_whole` wrote; it was checked before it was stored."""
    problems = Problems()
    from_framework = document.pop(_FROM_FRAMEWORK, ())
    from_types = document.pop(_FROM_TYPES, None)
    spec = JOB.read(document, "", problems)
    problems.raise_if_any()
    assert isinstance(spec, s.JobSpec)
    if from_types is None and not from_framework:
        return spec
    roles = zip(spec.roles, from_types or [()] * len(spec.roles), strict=True)
    return replace(
        spec,
        from_framework=tuple(from_framework),
        roles=tuple(replace(role, from_type=tuple(names)) for role, names in roles),
    )


def job_schema() -> Schema:
    """Describe the job file as JSON schema, short form included."""
    schema = JOB.schema()
    properties = dict(schema["properties"])
    for one in ROLE_BODY:
        properties.setdefault(
            one.name, {**one.kind.schema(), "description": one.help + " (A job of one role.)"}
        )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Footplate job",
        **schema,
        "properties": properties,
        "required": ["name"],
        "anyOf": [{"required": ["roles"]}, {"required": ["command"]}],
    }
