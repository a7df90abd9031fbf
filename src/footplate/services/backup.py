"""A copy of a home folder, made while its server runs: settings, keys, database, code, and what jobs left.

A backup is a folder. Its list, `contents.jsonl`, has a line for everything in it; `backup.json` is written
last, when all the rest is on the disk: without it, a backup is not whole and nobody takes it for one.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from footplate import __version__
from footplate.domain.errors import Conflict, InvalidInput, NotFound
from footplate.services.filecopy import Copied, copy_tree, copy_within
from footplate.storages.paths import is_hidden
from footplate.store.copying import copy_out

FORMAT = 1
MANIFEST, CONTENTS, DATABASE, HOME = "backup.json", "contents.jsonl", "database.sqlite", "home"
# What a server keeps in its home folder beside the folders of code and jobs. The home's identity is not among
# them: a copy is another home, and must not take the tasks of the first for its own.
KEPT = ("settings.toml", "secret", "guarded-images.json", "ssh_host_key", "experiments")
# Files of people: on storages that the server keeps, and what is HOME for their tasks.
OF_PEOPLE = ("storages", "people")
NOTHING, LOGS, FILES = "nothing", "logs", "files"
# Below `jobs/`: two levels to a job, its attempt, its task, and a run of the task; how their names begin.
WAY_TO_LOGS = {1: "", 2: "", 3: "attempt-", 4: "", 5: "run-"}
LOG_DEPTHS = (5, 6)
CURVES = "metrics"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup is: who made it, from what, and the digest of its list of contents.

    The `owner` of the home, by numbers, is whom the server's own files belong to.
    """

    format: int
    footplate: str
    made_at: float
    tables: str
    database_kind: str
    of_jobs: str
    n_files: int
    size_bytes: int
    n_left_out: int
    contents_sha256: str
    owner: tuple[int, int] = (0, 0)
    has_storages: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """A home folder with its database, and the files of certificates that its settings name."""

    home: Path
    engine: sa.Engine
    tls_files: tuple[Path, ...] = ()


def make(
    source: Source, folder: Path, now: float, of_jobs: str = NOTHING, with_storages: bool = False
) -> Manifest:
    """Back a home up into a new or empty folder; what is half made is removed again."""
    if not (source.home / "secret").exists():
        raise NotFound("not_home_folder", folder=str(source.home))
    _refuse_used(folder, source.home)
    is_new = not folder.exists()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        folder.chmod(0o700)
        return _fill(source, folder, now, of_jobs, with_storages)
    except BaseException:
        _empty(folder)
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise


def _refuse_used(folder: Path, home: Path) -> None:
    if folder.resolve().is_relative_to(home.resolve()):
        raise InvalidInput("backup_in_home", folder=str(folder))
    if folder.exists() and any(folder.iterdir()):
        if (folder / MANIFEST).exists():
            raise Conflict("backup_exists", folder=str(folder))
        raise Conflict("backup_folder_not_empty", folder=str(folder))


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _fill(source: Source, folder: Path, now: float, of_jobs: str, with_storages: bool) -> Manifest:
    # The database first: all that its rows speak of is on the disk by then, and nothing of it changes.
    tables = copy_out(source.engine, folder / DATABASE)
    hasher, n_files, size_bytes, n_left_out = hashlib.sha256(), 0, 0, 0
    with _create(folder / CONTENTS) as out:
        for copied in _copies(source, folder, of_jobs, with_storages):
            if copied.kind == "left out":
                n_left_out += 1
                continue
            line = (json.dumps(asdict(copied)) + "\n").encode()
            hasher.update(line)
            out.write(line)
            n_files += copied.kind == "file"
            size_bytes += copied.size_bytes
    os.sync()
    manifest = Manifest(
        FORMAT,
        __version__,
        now,
        tables,
        source.engine.dialect.name,
        of_jobs,
        n_files,
        size_bytes,
        n_left_out,
        hasher.hexdigest(),
        _owner(source.home),
        with_storages,
    )
    _write_last(folder, asdict(manifest))
    return manifest


def _owner(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_uid, found.st_gid


def _copies(source: Source, folder: Path, of_jobs: str, with_storages: bool) -> Iterator[Copied]:
    (folder / HOME).mkdir(mode=0o700)
    yield _measured(folder / DATABASE, DATABASE)
    for name in KEPT:
        yield from copy_within(source.home, name, folder / HOME, HOME)
    for path in source.tls_files:
        # Others lie where whoever renews them puts them, and are no part of the home.
        if path.is_relative_to(source.home):
            yield from copy_within(source.home, str(path.relative_to(source.home)), folder / HOME, HOME)
    for name in ("blobs", "models"):
        yield from copy_tree(source.home, name, folder / HOME, HOME, _is_code)
    for name in OF_PEOPLE if with_storages else ():
        yield from copy_tree(source.home, name, folder / HOME, HOME, _is_whole)
    if of_jobs == FILES:
        yield from copy_tree(source.home, "jobs", folder / HOME, HOME, _is_over)
    elif of_jobs == LOGS:
        yield from copy_tree(source.home, "jobs", folder / HOME, HOME, _is_record)


def _is_code(path: tuple[str, ...], _is_folder: bool, _beside: frozenset[str]) -> bool:
    return not path[-1].startswith(".")


def _is_whole(path: tuple[str, ...], _is_folder: bool, _beside: frozenset[str]) -> bool:
    """All but uploads that are under way, and what programs make again by themselves."""
    return not is_hidden(path[-1]) and (path[0] != "people" or path[2:] != (".cache",))


def _is_over(path: tuple[str, ...], _is_folder: bool, beside: frozenset[str]) -> bool:
    """All files of jobs, but not who runs a task: a copy of the home must not take it for its own."""
    return path[-1] != "pid" or len(path) - 1 not in LOG_DEPTHS or "exit" in beside


def _is_record(path: tuple[str, ...], is_folder: bool, beside: frozenset[str]) -> bool:
    """What tasks and the platform wrote about the tasks: logs, samples, curves, how they ended."""
    depth = len(path) - 1
    if path[3:4] == (CURVES,):
        return True
    if is_folder:
        return depth in WAY_TO_LOGS and path[-1].startswith(WAY_TO_LOGS[depth])
    return depth in LOG_DEPTHS and _is_over(path, is_folder, beside)


def _measured(path: Path, name: str) -> Copied:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Copied("file", name, path.stat().st_size, digest, 0o600)


def _create(path: Path) -> Any:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _write_last(folder: Path, manifest: Mapping[str, Any]) -> None:
    half = folder / f".{MANIFEST}"
    with _create(half) as out:
        out.write(json.dumps(manifest, indent=2).encode() + b"\n")
        out.flush()
        os.fsync(out.fileno())
    half.replace(folder / MANIFEST)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
