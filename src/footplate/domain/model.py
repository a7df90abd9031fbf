"""Trained models: what is registered of them, how a version is named, and what two versions differ in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from footplate.domain.errors import InvalidInput

# Names of other systems fit in; `:`, `@` and `/` stand between a name and a version.
MODEL_NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}"
ALIAS = r"[A-Za-z][A-Za-z0-9._-]{0,62}"
# The highest version that is there has this alias, always.
LATEST = "latest"
_REFERENCE = re.compile(rf"(?P<name>{MODEL_NAME})(?::v?(?P<number>[0-9]{{1,9}})|@(?P<alias>{ALIAS}))?")


@dataclass(frozen=True, slots=True)
class InferenceEnvironment:
    """What a model can be served in; the name is what other systems call its ID."""

    name: str
    image: str
    framework: str = ""
    version: str = ""
    description: str = ""
    position: int = 0
    created_at: float = 0.0
    updated_at: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a version; its content is kept once, under its digest."""

    path: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a version comes from: a job's files, a storage, or an upload."""

    kind: str = "upload"
    job_id: str = ""
    job_name: str = ""
    # Which of the job's folders, or which storage.
    place: str = ""
    path: str = ""
    # What the job was given: code by its digest, data as its configuration says, parameters.
    code: str = ""
    data: tuple[Mapping[str, Any], ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class About:
    """What people say of a version."""

    description: str = ""
    framework: str = ""
    format: str = ""
    # A name of the catalogue, and the image behind it; or just an image of one's own.
    environment: str = ""
    image: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a model; its files never change."""

    model_id: str
    number: int
    about: About
    origin: Origin
    created_by: str
    created_at: float
    files: tuple[ModelFile, ...] = ()
    n_files: int = 0
    size_bytes: int = 0
    deleted_at: float | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """A name with versions. Names are unique among one owner's; one in the trash gives its name back."""

    id: str
    name: str
    owner: str
    # The queue whose admins may change it: that of the job that it came from first.
    queue: str = ""
    is_shared: bool = False
    description: str = ""
    tags: tuple[str, ...] = ()
    aliases: Mapping[str, int] = field(default_factory=dict)
    last_number: int = 0
    created_at: float = 0.0
    updated_at: float = 0.0
    deleted_at: float | None = None

    def aliases_of(self, number: int) -> list[str]:
        return sorted(alias for alias, of in self.aliases.items() if of == number)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model by name, and which of its versions: by number, by alias, or neither."""

    name: str
    number: int | None = None
    alias: str = ""


def read_reference(text: str) -> Wanted:
    """Read `NAME`, `NAME:3` or `NAME@production`."""
    found = _REFERENCE.fullmatch(text)
    if found is None:
        raise InvalidInput("not_model_reference", "model", given=text[:200])
    number = found["number"]
    return Wanted(found["name"], None if number is None else int(number), found["alias"] or "")


@dataclass(frozen=True, slots=True)
class Difference:
    """What one thing is in two versions; None where one lacks it."""

    first: Any
    second: Any


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two versions differ in, by name; and how many files are the same in both."""

    fields: Mapping[str, Difference]
    metrics: Mapping[str, Difference]
    parameters: Mapping[str, Difference]
    files: Mapping[str, Difference]
    n_same_files: int


_COMPARED = ("description", "framework", "format", "environment", "image", "tags")


def compare(first: Version, second: Version) -> Comparison:
    """Compare two versions; metrics are told whole, of all else only what differs."""
    files = [{one.path: one for one in version.files} for version in (first, second)]
    both = files[0].keys() & files[1].keys()
    return Comparison(
        _differences(_facts(first), _facts(second)),
        _pairs(first.about.metrics, second.about.metrics),
        _differences(first.origin.parameters, second.origin.parameters),
        _differences(files[0], files[1]),
        sum(files[0][path] == files[1][path] for path in both),
    )


def _facts(version: Version) -> dict[str, Any]:
    about = {name: getattr(version.about, name) for name in _COMPARED}
    return {**about, "code": version.origin.code, "data": version.origin.data, "job": version.origin.job_id}


def _pairs(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Difference]:
    return {name: Difference(first.get(name), second.get(name)) for name in sorted({*first, *second})}


def _differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Difference]:
    return {name: one for name, one in _pairs(first, second).items() if one.first != one.second}
