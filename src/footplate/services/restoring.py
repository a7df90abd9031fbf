"""Makes a home folder from a backup: everything is checked before anything is written.

What is restored is gathered in a folder of its own inside the home and moved to its place at the end. So a
restore that is cut off leaves no home that looks like one, and a server does not start on it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from footplate.domain.errors import Conflict, InvalidInput, NotFound
from footplate.domain.problems import shorten
from footplate.services.backup import CONTENTS, DATABASE, FORMAT, HOME, MANIFEST, OF_PEOPLE, Manifest
from footplate.services.filecopy import Copied, copy_bytes
from footplate.store.copying import copy_in, refuse_unknown, refuse_used
from footplate.store.database import open_engine
from footplate.store.homes import forget_elsewhere

UNFINISHED = ".restoring"
SETTINGS = "settings.toml"
SEEN_BY_TASKS = tuple(f"{HOME}/{name}/" for name in ("jobs", *OF_PEOPLE))
_DATABASE_LINE = re.compile(r"^[ \t]*database_url[ \t]*=.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was found whole."""

    folder: Path
    manifest: Manifest
    contents: tuple[Copied, ...]


def read(folder: Path) -> Backup:
    """Read what a backup says of itself; raise when it is not whole or was made by a later version."""
    try:
        values = json.loads((folder / MANIFEST).read_text())
    except FileNotFoundError:
        unfinished = folder.is_dir() and any((folder / name).exists() for name in (CONTENTS, DATABASE))
        if unfinished:
            raise NotFound("backup_unfinished", folder=str(folder)) from None
        raise NotFound("not_backup", folder=str(folder), file=MANIFEST) from None
    except (OSError, ValueError) as error:
        raise InvalidInput("file_unreadable", file=str(folder / MANIFEST), error=str(error)) from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        made_by = values.get("footplate", "?") if isinstance(values, dict) else "?"
        raise Conflict("backup_of_other_form", folder=str(folder), version=made_by)
    try:
        manifest = Manifest(**values)
    except TypeError as error:
        raise InvalidInput("manifest_wrong", file=str(folder / MANIFEST), error=str(error)) from error
    refuse_unknown(manifest.tables, manifest.footplate)
    return Backup(folder, manifest, tuple(_contents(folder, manifest)))


def _contents(folder: Path, manifest: Manifest) -> Iterator[Copied]:
    try:
        raw = (folder / CONTENTS).read_bytes()
    except OSError as error:
        raise InvalidInput("file_unreadable", file=str(folder / CONTENTS), error=error.strerror) from error
    if hashlib.sha256(raw).hexdigest() != manifest.contents_sha256:
        raise InvalidInput("file_damaged", file=str(folder / CONTENTS))
    for line in raw.splitlines():
        one = Copied(**json.loads(line))
        parts = PurePosixPath(one.path).parts
        if one.path.startswith("/") or ".." in parts or parts[0] not in (HOME, DATABASE):
            raise InvalidInput("contents_lead_out", file=str(folder / CONTENTS), entry=shorten(one.path))
        yield one


def check(backup: Backup) -> None:
    """Compare every file with its digest; raise `InvalidInput` that names those which differ."""
    damaged = []
    for one in backup.contents:
        if one.kind == "file":
            try:
                with (backup.folder / one.path).open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError:
                digest = ""
            if digest != one.sha256:
                damaged.append(one.path)
    if damaged:
        raise InvalidInput(
            "backup_damaged", folder=str(backup.folder), file=damaged[0], more=len(damaged) - 1 or None
        )


def restore(backup: Backup, home: Path, database_url: str = "") -> None:
    """Fill an empty home folder, and an empty database where one is named, from a backup that was checked."""
    refuse_used_home(home)
    engine = open_engine(database_url) if database_url else None
    try:
        if engine is not None:
            refuse_used(engine)
        owner = _Owner(backup, home)
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        home.chmod(0o700)
        with _held(home):
            stage = home / UNFINISHED
            shutil.rmtree(stage, ignore_errors=True)
            stage.mkdir(mode=0o700)
            _gather(backup, stage, owner)
            _name_database(stage / SETTINGS, database_url)
            _let_go(stage / DATABASE, home)
            if engine is not None:
                copy_in(stage / DATABASE, engine)
                (stage / DATABASE).unlink()
            else:
                (stage / DATABASE).rename(stage / "footplate.db")
            for path in (home, home / "lock", *stage.iterdir()):
                owner.take(path)
            os.sync()
            for path in sorted(stage.iterdir()):
                path.rename(home / path.name)
            stage.rmdir()
    finally:
        if engine is not None:
            engine.dispose()


def refuse_used_home(home: Path) -> None:
    """Raise `Conflict` unless a home folder is empty; what a restore left that was cut off does not count."""
    if not home.exists():
        return
    if not home.is_dir():
        raise InvalidInput("not_folder", folder=str(home))
    found = {path.name for path in home.iterdir()} - {"lock"}
    if found and UNFINISHED not in found:
        raise Conflict("home_not_empty", home=str(home))


def refuse_unfinished(home: Path) -> None:
    """Raise `Conflict` for a home into which a restore was begun and not ended."""
    if (home / UNFINISHED).exists():
        raise Conflict("restore_cut_off", home=str(home))


class _Owner:
    """Whom restored files belong to, where root restores them: whoever has the home folder, if it is there.

    Files of tasks that belonged to others stay theirs, by number. Who is not root gets all.
    """

    def __init__(self, backup: Backup, home: Path) -> None:
        self._before = tuple(backup.manifest.owner)
        found = home.stat() if home.exists() else None
        self._now = (found.st_uid, found.st_gid) if found else self._before

    def take(self, path: Path) -> None:
        self._change(path, self._now)

    def give_back(self, path: Path, told: Copied) -> None:
        was = (told.uid, told.gid)
        self._change(path, self._now if was == self._before else was)

    def _change(self, path: Path, owner: tuple[int, ...]) -> None:
        if os.geteuid() == 0:
            with suppress(OSError):
                os.chown(path, owner[0], owner[1], follow_symlinks=False)


@contextmanager
def _held(home: Path) -> Iterator[None]:
    """Keep servers, and other restores, from a home."""
    descriptor = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict("home_locked", home=str(home)) from None
        yield
    finally:
        os.close(descriptor)


def _gather(backup: Backup, stage: Path, owner: _Owner) -> None:
    """Copy what the backup has; links come last, so that nothing is written through one."""
    _copy_file(
        backup.folder / DATABASE, stage / DATABASE, next(o for o in backup.contents if o.path == DATABASE)
    )
    below = [
        (one, stage / one.path.removeprefix(f"{HOME}/")) for one in backup.contents if one.path != DATABASE
    ]
    for one, path in below:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if one.kind == "folder":
            path.mkdir(mode=0o700, exist_ok=True)
        elif one.kind == "file":
            _copy_file(backup.folder / one.path, path, one)
    for one, path in below:
        if one.kind == "link":
            path.symlink_to(one.target)
            owner.give_back(path, one)
    # Backwards: a folder that its owner may not write to is closed after what is in it.
    for one, path in reversed(below):
        if one.kind != "link":
            owner.give_back(path, one)
            # What tasks do not see is for the server alone. No file may run as its owner: it may be ours now.
            path.chmod(one.mode & (0o777 if one.path.startswith(SEEN_BY_TASKS) else 0o700))


def _copy_file(source: Path, to: Path, told: Copied) -> None:
    descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        digest = copy_bytes(descriptor, to, told.size_bytes)
    finally:
        os.close(descriptor)
    if digest != told.sha256:
        raise InvalidInput("backup_changed", file=told.path)


def _let_go(database: Path, home: Path) -> None:
    """Make what is restored elsewhere a platform of its own: the original's tasks are none of its."""
    engine = open_engine(f"sqlite:///{database}")
    try:
        forget_elsewhere(engine, home)
    finally:
        engine.dispose()


def _name_database(settings: Path, url: str) -> None:
    """Have the restored settings name the database that was restored, no longer that of the original."""
    try:
        text = settings.read_text()
    except FileNotFoundError:
        text = ""
    line = f"database_url = {json.dumps(url)}" if url else ""
    head, table, rest = text.partition("\n[")
    if text.startswith("["):
        head, table, rest = "", "", text
    old = _DATABASE_LINE.search(head)
    if old and (not url or old[0].strip() != line):
        head = head[: old.start()] + line + head[old.end() :]
    elif url and not old:
        head = f"{line}\n{head}"
    if head + table + rest != text:
        settings.write_text(head + table + rest)
        settings.chmod(0o600)


def settings_url(backup: Backup) -> str:
    """The database that the settings of the backup name."""
    try:
        found = tomllib.loads((backup.folder / HOME / SETTINGS).read_text())
    except (OSError, tomllib.TOMLDecodeError):
        return ""
    return str(found.get("database_url", ""))
