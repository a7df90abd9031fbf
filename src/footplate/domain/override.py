"""What somebody changes of a job document when they submit it, or submit it again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from footplate.domain.datafields import listed
from footplate.domain.errors import Problem, problem
from footplate.domain.problems import Problems, join
from footplate.domain.rolefields import ROLE_BODY

_MERGED = ("parameters", "env", "secrets")
_OF_ROLE = frozenset(one.name for one in ROLE_BODY)
_REFERENCE = re.compile(r"\$\{\{\s*parameters\.(\w+)\s*\}\}")


def override(document: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Replace fields of a job document, in its long or short form.

    `parameters`, `env` and `secrets` are merged into the document's own, where null takes one out; `data` is
    added by path. Fields of a role go into the only role that there is. Raises `InvalidInput` where there are
    several, and for parameters that the job does not use.
    """
    problems = Problems()
    result = {**document, **_of_role(document, given, problems)}
    for name in _MERGED:
        own, changes = document.get(name) or {}, given.get(name)
        if isinstance(changes, Mapping) and isinstance(own, Mapping):
            merged = {**own, **changes}
            result[name] = {key: value for key, value in merged.items() if changes.get(key, "") is not None}
    own_data, more_data = listed(document.get("data")), listed(given.get("data"))
    if isinstance(more_data, list) and isinstance(own_data, list):
        result["data"] = _add_data(own_data, more_data)
    problems += _unused(result, document.get("parameters"), given.get("parameters"))
    problems.raise_if_any()
    return result


def _of_role(document: Mapping[str, Any], given: Mapping[str, Any], problems: Problems) -> Mapping[str, Any]:
    """Move fields of a role into the role of a document that lists its roles."""
    if "roles" not in document or "roles" in given:
        return given
    fields = {name: value for name, value in given.items() if name in _OF_ROLE}
    match document["roles"]:
        case [Mapping() as role] if fields:
            rest = {name: value for name, value in given.items() if name not in _OF_ROLE}
            return {**rest, "roles": [{**role, **fields}]}
    for name in fields:
        problems.add(name, "set_in_role")
    return given


def _add_data(own: list[Any], given: list[Any]) -> list[Any]:
    replaced = {one.get("path") for one in given if isinstance(one, Mapping)}
    kept = [one for one in own if not (isinstance(one, Mapping) and one.get("path") in replaced)]
    return [*kept, *given]


def _unused(document: Mapping[str, Any], own: Any, given: Any) -> Iterator[Problem]:
    """Find parameters that would have no effect: most likely misspelt."""
    if not isinstance(given, Mapping) or not given:
        return
    text = json.dumps({**document, "parameters": None}, default=str)
    used = set(_REFERENCE.findall(text)) | set(own if isinstance(own, Mapping) else ())
    for name in given:
        if name not in used:
            yield problem(join("parameters", str(name)), "parameter_unused", known=sorted(used))
