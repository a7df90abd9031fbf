"""Makes new code of code that is there already and of what has changed since."""

from __future__ import annotations

import gzip
import json
import tarfile
from pathlib import Path
from typing import IO

from footplate.domain.errors import InvalidInput, TooLarge

# The entry of a patch that lists what is gone, as JSON.
REMOVED = ".footplate-removed"
MOST_REMOVED_BYTES = 16 * 1024**2


def compose(base: Path, patch: Path, out: IO[bytes], most_bytes: int) -> None:
    """Write an archive: what the base has and the patch neither has nor removes, then what the patch has.

    Both were checked. Raises `InvalidInput` for a base that is no tar, and for a patch that is none.
    """
    try:
        with tarfile.open(patch) as changes:
            members = changes.getmembers()
            gone = _removed(changes, members) | {member.name for member in members}
            with (
                gzip.GzipFile(filename="", mode="wb", fileobj=out, compresslevel=1, mtime=0) as zipped,
                tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
            ):
                with tarfile.open(base) as before:
                    _copy(before, tar, gone, out, most_bytes)
                _copy(changes, tar, {REMOVED}, out, most_bytes)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise InvalidInput("not_archive", "code", error=str(error)) from error


def _copy(
    source: tarfile.TarFile, target: tarfile.TarFile, without: set[str], out: IO[bytes], most: int
) -> None:
    for member in source:
        if member.name in without:
            continue
        target.addfile(member, source.extractfile(member) if member.isreg() else None)
        if out.tell() > most:
            raise TooLarge("archive_too_large", "code", most_bytes=most)


def _removed(changes: tarfile.TarFile, members: list[tarfile.TarInfo]) -> set[str]:
    listed = next((member for member in members if member.name == REMOVED and member.isreg()), None)
    if listed is None:
        return set()
    if listed.size > MOST_REMOVED_BYTES:
        raise TooLarge("archive_too_large", "code", most_bytes=MOST_REMOVED_BYTES)
    content = changes.extractfile(listed)
    assert content is not None
    try:
        names = json.loads(content.read())
    except ValueError as error:
        raise InvalidInput("not_archive", "code", error=str(error)) from error
    if not isinstance(names, list):
        raise InvalidInput("not_archive", "code", error=REMOVED)
    return {str(name) for name in names}
