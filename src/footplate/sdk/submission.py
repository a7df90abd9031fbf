"""What a submit sends: a job document with what the caller overrides, and the code beside it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from footplate.domain.errors import InvalidInput, Problem, problem
from footplate.domain.problems import join
from footplate.domain.rolefields import ROLE_BODY
from footplate.sdk.packing import Selection, select
from footplate.wire import documents

Source = str | os.PathLike[str] | Mapping[str, Any]

_MERGED = ("parameters", "env", "secrets")
_ONE_ROLE = frozenset(one.name for one in ROLE_BODY)


@dataclass(frozen=True, slots=True)
class Submission:
    """A job document that is complete but for the digest of its code."""

    document: Mapping[str, Any]
    code: Selection | None = None
    # Whether the packages are those that the code was found to ask for.
    uses_found_packages: bool = False


def prepare(source: Source, code_dir: str | os.PathLike[str] | None = None, **overrides: Any) -> Submission:
    """Read a job file (or take a document), apply overrides, choose the code to send.

    `parameters`, `env` and `secrets` are merged into the document's own, `data` is added to it by path;
    every other override replaces a field.
    A `code` that is a text names a folder, relative to the job file; so does a `path` without a storage.
    """
    document, folder = _read(source)
    document = _override(document, {name: value for name, value in overrides.items() if value is not None})
    if code_dir is not None:
        return Submission(document, select(Path(code_dir).expanduser()))
    local = _local_code(document.get("code"))
    if local is None:
        return Submission(document)
    return Submission(document, select(folder / Path(local).expanduser()))


def _local_code(code: Any) -> str | None:
    """Name the folder of this machine that a job file wants sent along."""
    if isinstance(code, str):
        return code
    if not isinstance(code, Mapping) or code.get("storage") or code.get("upload"):
        return None
    path = code.get("path")
    return path if isinstance(path, str) and path else None


def _read(source: Source) -> tuple[dict[str, Any], Path]:
    if isinstance(source, Mapping):
        return dict(source), Path()
    path = Path(source).expanduser()
    try:
        with path.open("rb") as file:
            text = file.read(documents.MAX_BYTES + 1)
    except OSError as error:
        raise InvalidInput("job_file_unreadable", file=str(path), error=error.strerror) from None
    document = documents.load(text, str(path))
    if not isinstance(document, dict):
        raise InvalidInput("job_file_not_mapping", file=str(path))
    return document, path.parent


def _override(document: dict[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    problems = []
    if "roles" in document:
        problems += [problem(name, "set_in_role") for name in overrides if name in _ONE_ROLE]
    result = {**document, **overrides}
    for name in _MERGED:
        given, own = overrides.get(name), document.get(name) or {}
        if given and isinstance(own, Mapping):
            result[name] = {**own, **given}
    if overrides.get("data") and isinstance(document.get("data"), list):
        result["data"] = _add_data(document["data"], overrides["data"])
    problems += _unknown_parameters(
        result, document.get("parameters") or {}, overrides.get("parameters") or {}
    )
    if problems:
        raise InvalidInput(problems)
    return result


def _add_data(own: list[Any], given: list[dict[str, Any]]) -> list[Any]:
    replaced = {one["path"] for one in given}
    kept = [one for one in own if not (isinstance(one, Mapping) and one.get("path") in replaced)]
    return [*kept, *given]


def _unknown_parameters(document: Mapping[str, Any], own: Any, given: Mapping[str, Any]) -> list[Problem]:
    """Find parameters that would have no effect: most likely misspelt."""
    text = json.dumps({**document, "parameters": None}, default=str)
    used = set(re.findall(r"\$\{\{\s*parameters\.(\w+)\s*\}\}", text)) | set(own)
    return [
        problem(join("parameters", name), "parameter_unused", known=sorted(used))
        for name in given
        if name not in used
    ]
