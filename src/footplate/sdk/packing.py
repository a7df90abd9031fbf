"""A code folder as one archive: the same files, of the same times, always give the same bytes."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import stat
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedRandom, BufferedReader
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from footplate.domain.errors import FootplateError, InvalidInput, TooLarge
from footplate.domain.resources import MIB
from footplate.sdk.ignore import Rules, is_asked, is_ignored, read_rules
from footplate.sdk.sensitive import may_hold_secrets

MAX_CODE_BYTES = 200 * MIB
MAX_CODE_FILES = 100_000
# In a patch: lists what is gone, for the server.
REMOVED = ".footplate-removed"
# By which the home folder of a server is known.
HOME_FILES = ("secret", "lock", "jobs")
ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file, folder or link to send; `name` is its path in the archive."""

    name: str
    path: Path
    size_bytes: int = 0
    link_to: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """What will be sent of a folder, and what will not because it cannot."""

    root: Path
    entries: tuple[Entry, ...]
    left_out: tuple[str, ...]
    # Whether the root is an archive, which is sent as it is and unpacked by the server.
    is_archive: bool = False

    @property
    def names(self) -> set[str]:
        """The paths of the files in the folder that tasks will find."""
        return {entry.name for entry in self.entries}

    @property
    def size_bytes(self) -> int:
        return sum(entry.size_bytes for entry in self.entries)

    @property
    def n_files(self) -> int:
        return sum(not entry.path.is_dir() or bool(entry.link_to) for entry in self.entries)


def select(root: Path) -> Selection:
    """Choose the files of a folder (or the one file) that a job needs; refuse more than may be sent."""
    if not root.exists():
        raise InvalidInput("folder_missing", "code", folder=str(root))
    if _is_home(root):
        raise InvalidInput("folder_is_home", "code", folder=str(root))
    if root.is_file() and root.name.lower().endswith(ARCHIVES):
        return _checked(Selection(root, (Entry(root.name, root, root.stat().st_size),), (), is_archive=True))
    if root.is_file():
        return _checked(Selection(root, (Entry(root.name, root, root.stat().st_size),), ()))
    left_out: list[str] = []
    entries = sorted(_walk(root, root, "", (), left_out), key=lambda entry: entry.name)
    return _checked(Selection(root, tuple(entries), tuple(sorted(left_out))))


def _checked(selection: Selection) -> Selection:
    size, n_files = selection.size_bytes, len(selection.entries)
    if size <= MAX_CODE_BYTES and n_files <= MAX_CODE_FILES:
        return selection
    largest = max(selection.entries, key=lambda entry: entry.size_bytes)
    raise TooLarge(
        "code_too_large",
        "code",
        folder=str(selection.root),
        size_bytes=size,
        n_files=n_files,
        most_bytes=MAX_CODE_BYTES,
        most_files=MAX_CODE_FILES,
        largest=largest.name,
        largest_bytes=largest.size_bytes,
    )


def _walk(
    root: Path, folder: Path, base: str, scopes: Sequence[Rules], left_out: list[str]
) -> Iterator[Entry]:
    rules = read_rules(folder, base)
    scopes = (*scopes, rules) if rules else scopes
    try:
        with os.scandir(folder) as scan:
            found = list(scan)
    except OSError as error:
        raise InvalidInput("file_unreadable", "code", file=str(folder), error=error.strerror) from None
    for item in found:
        name, path = base + item.name, Path(item.path)
        is_folder = item.is_dir(follow_symlinks=False)
        if is_ignored(name, is_folder, scopes):
            continue
        if item.is_symlink():
            target = _target_within(root, path)
            if target is None:
                left_out.append(f"{name} (a link that leads out of the folder)")
            else:
                yield Entry(name, path, link_to=target)
        elif is_folder and _is_home(path):
            left_out.append(f"{name} (the home folder of a server, with its secrets)")
        elif is_folder:
            yield Entry(name, path)
            yield from _walk(root, path, name + "/", scopes, left_out)
        elif item.is_file(follow_symlinks=False) and may_hold_secrets(path) and not is_asked(name, scopes):
            left_out.append(f"{name} (may hold secrets; to send it, write !{item.name} in .footplateignore)")
        elif item.is_file(follow_symlinks=False):
            yield Entry(name, path, item.stat(follow_symlinks=False).st_size)
        else:
            left_out.append(f"{name} (neither a file nor a folder)")


def _is_home(folder: Path) -> bool:
    with suppress(PermissionError):
        return all((folder / name).exists() for name in HOME_FILES)
    return False


def _target_within(root: Path, link: Path) -> str | None:
    """Say where a link leads, relative to itself; None when that is outside of the root."""
    target = Path(os.path.normpath(link.parent / link.readlink()))
    if not (target.is_relative_to(root) and link.resolve().is_relative_to(root.resolve())):
        return None
    return os.path.relpath(target, link.parent)


@dataclass(frozen=True, slots=True)
class Archive:
    """A packed selection in a temporary file, which is gone once the archive is left."""

    file: IO[bytes]
    digest: str
    size_bytes: int

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()


def pack(selection: Selection, removed: Sequence[str] = ()) -> Archive:
    """Pack a selection into a tar.gz without owners: it depends on the files and their times alone."""
    if selection.is_archive:
        return _as_it_is(selection.root)
    file = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the archive
    try:
        with (
            gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=4, mtime=0) as zipped,
            tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for entry in selection.entries:
                _add(tar, entry)
            if removed:
                _add_list(tar, removed)
    except OSError as error:
        file.close()
        raise FootplateError("code_not_packed", folder=str(selection.root), error=str(error)) from error
    return _digested(file)


def pack_change(selection: Selection, changed: Sequence[Entry], removed: Sequence[str]) -> Archive:
    """Pack what has changed since an earlier upload, with a list of what is gone."""
    return pack(Selection(selection.root, tuple(changed), ()), removed)


def _as_it_is(path: Path) -> Archive:
    try:
        file = path.open("rb")
        file.seek(0, os.SEEK_END)
    except OSError as error:
        raise FootplateError("code_not_packed", folder=str(path), error=str(error)) from error
    return _digested(file)


def _digested(file: BufferedReader | BufferedRandom) -> Archive:
    """Make an archive of a file that stands at its end."""
    size_bytes = file.tell()
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    return Archive(file, f"sha256:{digest}", size_bytes)


def _add_list(tar: tarfile.TarFile, removed: Sequence[str]) -> None:
    content = json.dumps(list(removed)).encode()
    info = tarfile.TarInfo(REMOVED)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def _add(tar: tarfile.TarFile, entry: Entry) -> None:
    info = tarfile.TarInfo(entry.name)
    found = entry.path.lstat()
    info.mode = stat.S_IMODE(found.st_mode) & 0o777
    # Whole seconds; the time of a folder is that of its last change, which unpacking is too.
    info.mtime = 0 if stat.S_ISDIR(found.st_mode) else max(0, int(found.st_mtime))
    if entry.link_to:
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, entry.link_to, 0o777
        tar.addfile(info)
    elif stat.S_ISDIR(found.st_mode):
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    else:
        info.size = found.st_size
        with entry.path.open("rb") as content:
            tar.addfile(info, content)
