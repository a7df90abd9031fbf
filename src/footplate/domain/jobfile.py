"""Reads and writes job files, in the long form and in the short one of a job with one role."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from footplate.domain import spec as s
from footplate.domain.errors import Problem
from footplate.domain.interpolate import Unresolved, resolve
from footplate.domain.problems import Json, Problems, Schema, join
from footplate.domain.rolefields import ROLE_BODY
from footplate.domain.specfields import JOB

_SHORT_ROLE = {field.name for field in ROLE_BODY}


def read_job(document: Json) -> s.JobSpec:
    """Read a job document, long or short form; raise `InvalidInput` with every problem found."""
    problems = Problems()
    spread = _spread(document)
    spec = JOB.read(spread, "", problems)
    _check_references(spread, problems)
    problems[:] = place_in(document, problems)
    problems.raise_if_any()
    assert isinstance(spec, s.JobSpec)
    return spec


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
    """Write a job as the document that reads back as the same job."""
    written: dict[str, Any] = JOB.write(spec)
    return written


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
