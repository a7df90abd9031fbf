"""What a path or a pattern names on a storage, as files."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

from footplate.domain.errors import EngineRejected
from footplate.domain.storage import Storage, fixed_part, is_pattern
from footplate.engines.local.data.cache import Piece, pieces_of
from footplate.storages.base import Entry, EntryKind, Files
from footplate.storages.workers import Stopped

MOST_FILES = 200_000


def find(files: Files, storage: Storage, wanted: str, stop: threading.Event) -> tuple[list[Piece], str]:
    """Name the files, by name; say which is meant where it is one alone."""
    wanted = wanted.strip("/")
    if is_pattern(wanted):
        below = fixed_part(wanted)
        shape = _expression(wanted)
        found = [entry for entry in _walk(files, storage, below, stop) if shape.fullmatch(entry.path)]
        if not found:
            raise EngineRejected("data_no_match", storage=storage.name, pattern=wanted)
        return _pieces(storage, found, below), ""
    entry = files.stat(wanted)
    if entry.kind is EntryKind.FILE:
        around = wanted.rpartition("/")[0]
        return _pieces(storage, [entry], around), entry.name
    return _pieces(storage, list(_walk(files, storage, wanted, stop)), wanted), ""


def _pieces(storage: Storage, entries: list[Entry], below: str) -> list[Piece]:
    return sorted(pieces_of(storage, entries, below), key=lambda piece: piece.name)


def _walk(files: Files, storage: Storage, below: str, stop: threading.Event) -> Iterator[Entry]:
    n_files = 0
    for entry in files.walk(below):
        if stop.is_set():
            raise Stopped
        if entry.kind is EntryKind.FILE and _can_be_a_file(entry.path):
            n_files += 1
            if n_files > MOST_FILES:
                raise EngineRejected("data_too_many", storage=storage.name, inner=below, most=MOST_FILES)
            yield entry


def _can_be_a_file(path: str) -> bool:
    """Tell whether a file system can have what a bucket calls so: it may call things `a//b` or `../c`."""
    return all(name not in ("", ".", "..") and "\0" not in name for name in path.split("/"))


_SIGNS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]]*\]|.", re.DOTALL)


def _expression(pattern: str) -> re.Pattern[str]:
    """Read a pattern as a shell does: `*` stays within a folder, `**` does not."""
    try:
        return re.compile("".join(map(_meaning, _TOKEN.findall(pattern))), re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern))


def _meaning(sign: str) -> str:
    if sign in _SIGNS:
        return _SIGNS[sign]
    if len(sign) == 1:
        return re.escape(sign)
    negation, inner = ("^", sign[2:-1]) if sign[1] in "!^" else ("", sign[1:-1])
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner)
    return f"(?!/)[{negation}{escaped}]"
