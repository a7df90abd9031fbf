"""The fields of a job file that name its Python packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from footplate.domain import spec as s
from footplate.domain.fields import Field, ListOf, Record
from footplate.domain.kinds import Text
from footplate.domain.names import FilePath
from footplate.domain.problems import MISSING, Json, Problems, Schema, join

SOURCES = ("requirements", "pyproject", "conda", "path")
REQUIREMENT = Text(512, 1, r"[A-Za-z0-9][^\r\n]*", "requirement")


@dataclass(frozen=True)
class FileOrList:
    """The name of a file, or a list of what such a file would have."""

    file: Text
    entries: ListOf

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        kind = self.file if isinstance(value, str) else self.entries
        return kind.read(value, path, problems)

    def write(self, value: Any) -> Json:
        return value if isinstance(value, str) else self.entries.write(value)

    def schema(self) -> Schema:
        return {"anyOf": [self.file.schema(), self.entries.schema()]}


def _check(environment: Mapping[str, Any], path: str, problems: Problems) -> None:
    if any(environment[name] is MISSING for name in SOURCES):
        return
    given = [name for name in SOURCES if environment[name]]
    if len(given) != 1:
        problems.add(path, "environment_of_one_kind", given=given or None)
    elif environment["python"] and given[0] not in ("requirements", "pyproject"):
        problems.add(join(path, "python"), "python_without_packages", kind=given[0])


FILE = FilePath(1024)
ENVIRONMENT = Record(
    s.EnvironmentSpec,
    (
        Field(
            "requirements",
            FileOrList(FILE, ListOf(REQUIREMENT, 1000)),
            "Requirements file of the code, or a list of requirements such as `numpy>=2`.",
            "",
        ),
        Field(
            "pyproject",
            FILE,
            "The `pyproject.toml` of the code, for its dependencies; as locked, if `uv.lock` is beside it.",
            "",
        ),
        Field("conda", FILE, "Conda file of the code; needs micromamba or conda on the node.", ""),
        Field("path", FilePath(1024), "Folder of an environment that exists, as tasks see it.", ""),
        Field(
            "python",
            Text(16, 0, r"(3\.\d{1,2}(\.\d{1,2})?)?", "python_version"),
            "Python version, such as 3.12 (default: the node's, or that of the image).",
            "",
        ),
    ),
    checks=(_check,),
    short="requirements",
    takes_list=True,
)
