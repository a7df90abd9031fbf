"""Puts down what tasks find when they start: their code, and the files of the strategy."""

from __future__ import annotations

import errno
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.engines.local.exchange import LocalRequest
from footplate.machine.taskfiles import check_folder, unfollowed

FindCode = Callable[[str], Path | None]


def place_files(request: LocalRequest, find_code: FindCode) -> None:
    """Put everything in place; what is there already stays."""
    try:
        for path, text in request["files"].items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            check_folder(Path(path).parent)
            with open(path, "w", opener=unfollowed) as file:  # only this one takes an opener
                file.write(text)
        if request["code"] is not None:
            unpack(_archive(request["code"]["digest"], find_code), Path(request["code"]["folder"]))
        if (code := request["code_folder"]) is not None:
            for task in request["tasks"]:
                place_code(Path(code), Path(task["work_folder"]))
    except OSError as error:
        raise EngineUnavailable("files_not_placed", error=str(error)) from error


def _archive(digest: str, find_code: FindCode) -> Path:
    archive = find_code(digest)
    if archive is None:
        raise EngineRejected("upload_gone", upload=digest[:19])
    return archive


def place_code(source: Path, work_folder: Path) -> None:
    """Copy the code so that the work folder appears with all of it or not at all."""
    if os.path.lexists(work_folder):
        return
    work_folder.parent.mkdir(parents=True, exist_ok=True)
    for folder in (source, work_folder.parent):
        # An earlier attempt may have put a link to what its tasks must not see there.
        check_folder(folder)
    draft = work_folder.with_name(work_folder.name + ".part")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(source, draft, symlinks=True)
    try:
        draft.rename(work_folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        shutil.rmtree(draft)


def _keep_time(file: Path, date_time: tuple[int, int, int, int, int, int]) -> None:
    """Date a file of a zip archive, which tells a time without its zone."""
    with suppress(OSError, ValueError, OverflowError):
        at = datetime(*date_time, tzinfo=UTC).timestamp()
        if file.is_file():
            os.utime(file, (at, at))


# Every member was checked when the archive came in. Debian's Python 3.11.2 has no filters to switch off yet.
_AS_CHECKED: Any = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a checked archive; the folder appears only when all of it is there."""
    if folder.exists():
        return
    partial = folder.with_name(f".{folder.name}-{os.urandom(4).hex()}")
    partial.mkdir(parents=True)
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(partial)  # noqa: S202  # every name was checked when the archive came in
                for entry in packed.infolist():
                    _keep_time(partial / entry.filename, entry.date_time)
        else:
            with tarfile.open(archive) as packed_tar:
                for member in packed_tar:
                    member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
                    member.mode = (member.mode | (0o700 if member.isdir() else 0o600)) & 0o755
                    packed_tar.extract(member, partial, set_attrs=not member.issym(), **_AS_CHECKED)
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
