"""Data that a job names: `storage:path` in short, where tasks see it by default, and patterns of files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from footplate.domain import spec as s
from footplate.domain.fields import Field, ListOf, Nullable, Record
from footplate.domain.kinds import Duration, Flag, Text
from footplate.domain.names import PATH, FilePath
from footplate.domain.problems import MISSING, Json, Problems, join, shorten
from footplate.domain.storage import fixed_part

# Where jobs of other platforms look for the data of a channel.
DATA_FOLDER = "/opt/ml/input/data"
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def split_place(text: str) -> tuple[str, str]:
    """Read `storage:path`; the storage is empty where none is named."""
    storage, colon, path = text.partition(":")
    return (storage, path.strip("/")) if colon else ("", text)


def default_target(storage: str, source: str) -> str:
    """Where tasks see data that was given no path: below the usual folder, by its own name."""
    named = fixed_part(source).rpartition("/")[2] or storage
    return f"{DATA_FOLDER}/{_ODD.sub('-', named)}"


@dataclass(frozen=True)
class DataRecord(Record):
    """One entry: its fields, or `storage:path` alone."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        read = super().read(_spelt_out(value), path, problems)
        if read is MISSING or read.path:
            return read
        return replace(read, path=default_target(read.storage, read.source))


def _spelt_out(value: Json) -> Json:
    if isinstance(value, str):
        value = {"source": value}
    if not isinstance(value, Mapping) or not isinstance(value.get("source"), str) or value.get("storage"):
        return value
    storage, source = split_place(value["source"])
    return {**value, "storage": storage, "source": source} if storage else value


def _with_path(entry: Json) -> Json:
    """Name where an entry is seen, as far as it can be read, to tell whether two are at one path."""
    if not isinstance(entry, Mapping) or entry.get("path"):
        return entry
    storage, source = entry.get("storage"), entry.get("source", "")
    if not isinstance(storage, str) or not isinstance(source, str):
        return entry
    return {**entry, "path": default_target(storage, source)}


def listed(value: Json) -> Any:
    """Write data as the list that it means; what is none of its forms stays."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [{"source": str(name), "path": target} for name, target in value.items()]
    return value


@dataclass(frozen=True)
class DataList(ListOf):
    """Entries in a list, or as a map from `storage:path` to where tasks see it; one alone needs neither."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, str):
            return super().read([value], path, problems)
        if isinstance(value, Mapping):
            return self._read_map(value, path, problems)
        return super().read(value, path, problems)

    def _refuse_repeats(self, value: Sequence[Json], path: str, problems: Problems) -> None:
        super()._refuse_repeats([_with_path(_spelt_out(entry)) for entry in value], path, problems)

    def _read_map(self, value: Mapping[Any, Json], path: str, problems: Problems) -> Any:
        if len(value) > self.most:
            return problems.add(path, "too_many_entries", most=self.most, given=len(value))
        entries = listed(value)
        read = [self.kind.read(entry, join(path, shorten(entry["source"])), problems) for entry in entries]
        self._refuse_repeats(entries, path, problems)
        return tuple(read)


DATA = DataRecord(
    s.DataMount,
    (
        Field(
            "path",
            FilePath(1024),
            f"Where tasks see the data (default: `{DATA_FOLDER}/` and the name of the source).",
            "",
        ),
        # What else holds of storages, the service checks that knows them: stored jobs must stay readable.
        Field("storage", Text(63), "Storage with the data; `job` for the job's own folders.", ""),
        Field(
            "source",
            PATH,
            "File or folder on that storage, or a pattern such as `train/*.parquet` (default: the whole "
            "storage). `storage:path` names both.",
            "",
        ),
        Field("read_only", Flag(), "Whether tasks may only read it.", True),
    ),
)


@dataclass(frozen=True)
class ResultsRecord(Record):
    """Where results go: its fields, or `storage:path`, or `storage:` alone."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, str):
            storage, folder = split_place(value)
            value = {"storage": storage, "path": folder}
        return super().read(value, path, problems)


RESULTS = ResultsRecord(
    s.Results,
    (
        Field("storage", Text(63), "Storage that keeps the results (default: `home`).", ""),
        Field("path", PATH, "Folder on it, in which the job has one of its own (default: `outputs`).", ""),
        Field(
            "every",
            Nullable(Duration(10, 7 * 86400)),
            "How often they are saved while the job runs (default: only when an attempt ends).",
            None,
            "every_s",
        ),
        Field("checkpoints", Flag(), "Whether checkpoints are saved too.", False),
    ),
)
