"""The fields of a job file of OpenPAI v2, with the bounds that its server enforces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from footplate.dialects.pai.kinds import Free, Strict
from footplate.domain.errors import Problem, problem
from footplate.domain.fields import Field, ListOf, MapOf, Nullable, Record
from footplate.domain.kinds import AnyJson, Choice, Flag, Integer, Text
from footplate.domain.problems import MISSING, Json, Problems, Schema, join, name_of, shorten
from footplate.domain.rolefields import MAX_TASKS

MOST = 2**31 - 1
_IDENTIFIER = r"[a-zA-Z_][a-zA-Z0-9_]{0,62}"
ROLE_NAME = Strict(63, 1, _IDENTIFIER, "identifier")
_ANY = AnyJson(65_536)
_NAME = Strict(255, 1)
_WORDS = tuple(Field(name, Text(4096), "", "") for name in ("contributor", "description"))
_VERSION = Field("version", Text(255), "", "")
_PROTOCOL = Field("protocolVersion", Text(16), "", "")


def _record(*fields: Field, **more: Any) -> Record:
    return Record(dict, fields, **more)


AUTH = _record(
    Field("username", Text(4096), "", ""),
    Field("password", Text(4096), "", ""),
    Field("registryuri", Text(4096), "", ""),
)
IMAGE = _record(
    Field("name", _NAME, ""),
    Field("type", Choice(("dockerimage",)), ""),
    Field("uri", Strict(512, 1, r"\S{1,512}", "image"), ""),
    Field("auth", Nullable(AUTH), "", None),
    _PROTOCOL,
    _VERSION,
    *_WORDS,
)
KINDS = ("dockerimage", "script", "output", "data")


@dataclass(frozen=True)
class Prerequisite:
    """One of four kinds, by its `type`; those that are no image may have more than is known here."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if not isinstance(value, Mapping):
            return problems.add(path, "not_record", given=name_of(value))
        kind = Choice(KINDS).read(value.get("type"), join(path, "type"), problems)
        if kind == "dockerimage":
            return IMAGE.read(value, path, problems)
        before = len(problems)
        _NAME.read(value.get("name"), join(path, "name"), problems)
        if value.get("uri") is not None:
            wanted = ListOf(Strict(4096), 1000) if kind == "data" else Strict(4096)
            wanted.read(value["uri"], join(path, "uri"), problems)
        if value.get("require") is not None:
            ListOf(Strict(255), 1000).read(value["require"], join(path, "require"), problems)
        _ANY.read(value, path, problems)
        return dict(value) if len(problems) == before else MISSING

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {"type": "object"}


COMPLETION = _record(
    Field("minFailedInstances", Nullable(Integer(-MOST, MOST)), "", None),
    Field("minSucceededInstances", Nullable(Integer(-MOST, MOST)), "", None),
)
RESOURCES = _record(
    Field("cpu", Integer(0, MOST), ""),
    Field("memoryMB", Integer(0, MOST), ""),
    Field("gpu", Integer(0, MOST), ""),
    Field("ports", Nullable(MapOf(Strict(63, 1, _IDENTIFIER, "identifier"), Integer(1, 100), 32)), "", None),
)


@dataclass(frozen=True)
class ContainerOptions:
    """Two options that are known; others are let pass."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        options = Free().read(value, path, problems)
        if isinstance(options, dict):
            if options.get("shmMB") is not None:
                Integer(0, MOST).read(options["shmMB"], join(path, "shmMB"), problems)
            if options.get("infiniband") is not None:
                Flag().read(options["infiniband"], join(path, "infiniband"), problems)
        return options

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {"type": "object"}


COMMANDS = ListOf(Strict(65_536), 1000, 1)
ROLE = _record(
    Field("instances", Integer(1, MAX_TASKS), "", 1),
    Field("completion", Nullable(COMPLETION), "", None),
    Field("taskRetryCount", Integer(-MOST, MOST), "", 0),
    Field("prerequisites", ListOf(Strict(255), 1000), "", ()),
    Field("dockerImage", Strict(255, 1), ""),
    *(Field(name, Nullable(Strict(255)), "", None) for name in ("data", "output", "script")),
    Field("extraContainerOptions", ContainerOptions(), "", {}),
    Field("resourcePerInstance", RESOURCES, ""),
    Field("commands", COMMANDS, ""),
)
DEPLOYMENT_ROLE = _record(
    Field("preCommands", COMMANDS, "", ()),
    Field("postCommands", COMMANDS, "", ()),
)
DEPLOYMENT = _record(
    Field("name", _NAME, ""),
    Field("taskRoles", MapOf(ROLE_NAME, DEPLOYMENT_ROLE, 100), ""),
    *_WORDS,
    _VERSION,
)
DEFAULTS = _record(
    Field("virtualCluster", Nullable(Text(63)), "", None),
    Field("deployment", Nullable(Strict(255)), "", None),
)


@dataclass(frozen=True)
class Roles:
    """At least one role, by name."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        read = MapOf(ROLE_NAME, ROLE, 100).read(value, path, problems)
        if isinstance(value, Mapping) and not value:
            problems.add(path, "too_few_entries", least=1, given=0)
        return read

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {"type": "object"}


@dataclass(frozen=True)
class Two:
    """The number of the protocol, as a number or a text."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        is_two = value in (2, "2") and not isinstance(value, bool)
        return 2 if is_two else problems.add(path, "not_expected", bound=2)

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {}


JOB = _record(
    Field("protocolVersion", Two(), ""),
    Field("name", Strict(255, 1, r"[a-zA-Z0-9_-]{1,255}", "pai_name"), ""),
    Field("type", Choice(("job",)), ""),
    _VERSION,
    *_WORDS,
    Field("prerequisites", ListOf(Prerequisite(), 1000, 1), "", ()),
    *(Field(name, Free(), "", {}) for name in ("parameters", "secrets", "extras")),
    Field("jobRetryCount", Integer(0, MOST), "", 0),
    Field("taskRoles", Roles(), ""),
    Field("deployments", ListOf(DEPLOYMENT, 100, unique="name"), "", ()),
    Field("defaults", DEFAULTS, "", {"virtualCluster": None, "deployment": None}),
)


def references(job: Mapping[str, Any]) -> Iterator[Problem]:
    """Find names that are used twice, and names that stand for nothing."""
    known: dict[tuple[str, str], int] = {}
    for i, one in enumerate(job["prerequisites"]):
        key = (one["type"], one["name"])
        first = known.setdefault(key, i)
        if first != i:
            other = join("prerequisites", first)
            where = join(join("prerequisites", i), "name")
            yield problem(where, "used_twice", given=shorten(one["name"]), other=other)
    names = {name for _, name in known}
    for role, body in job["taskRoles"].items():
        where = join("taskRoles", role)
        for field, kind in {
            "dockerImage": "dockerimage",
            **{k: k for k in ("data", "output", "script")},
        }.items():
            wanted = body[field]
            if wanted is not None and (kind, wanted) not in known:
                yield problem(join(where, field), "prerequisite_unknown", given=shorten(wanted), kind=kind)
        for i, wanted in enumerate(body["prerequisites"]):
            if wanted not in names:
                place = join(join(where, "prerequisites"), i)
                yield problem(place, "prerequisite_unknown", given=shorten(wanted), kind=None)
    chosen = job["defaults"]["deployment"]
    if chosen is not None and chosen not in {one["name"] for one in job["deployments"]}:
        yield problem("defaults.deployment", "deployment_unknown", given=shorten(chosen))
