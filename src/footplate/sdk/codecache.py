"""What was last sent of a code folder, so that a later submit sends no more than what has changed since.

A file counts as unchanged if its size, times, inode and mode are what they were, as for git. One that was
changed just before it was sent is sent again: its time may not tell of a later change.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from footplate.sdk.packing import Entry, Selection

FRESH_S = 2.0


@dataclass(frozen=True, slots=True)
class Sent:
    """An upload, and how each of its entries looked then."""

    digest: str
    marks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """What must be sent to make a folder of an earlier upload."""

    changed: tuple[Entry, ...]
    removed: tuple[str, ...]

    @property
    def is_none(self) -> bool:
        return not self.changed and not self.removed


def recall(server: str, selection: Selection) -> Sent | None:
    """What was last sent of a folder to a server."""
    if selection.is_archive:
        return None
    try:
        read = json.loads(_file(server, selection).read_text())
        return Sent(str(read["digest"]), dict(read["marks"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def marks_of(selection: Selection) -> dict[str, str]:
    """How the entries of a folder look now; taken before they are read."""
    return {entry.name: _mark(entry) for entry in selection.entries}


def change_since(sent: Sent, selection: Selection, marks: Mapping[str, str]) -> Change:
    changed = tuple(entry for entry in selection.entries if sent.marks.get(entry.name) != marks[entry.name])
    return Change(changed, tuple(sorted(sent.marks.keys() - marks.keys())))


def note(server: str, selection: Selection, digest: str, marks: Mapping[str, str]) -> None:
    """Remember an upload; a machine that cannot is only slower the next time."""
    if selection.is_archive:
        return
    file = _file(server, selection)
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = file.with_name(f"{file.name}.{os.getpid()}")
        draft.write_text(json.dumps({"digest": digest, "marks": dict(marks)}))
        draft.replace(file)


def _mark(entry: Entry) -> str:
    found = entry.path.lstat()
    if entry.path.is_dir() and not entry.link_to:
        return f"folder {found.st_mode:o}"
    if found.st_ctime > time.time() - FRESH_S:
        # Unlike any other: it will be sent again.
        return f"fresh {time.monotonic_ns()}"
    facts = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_mode)
    return f"{entry.link_to} {' '.join(map(str, facts))}"


def _file(server: str, selection: Selection) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    key = hashlib.sha256(f"{server}\0{selection.root.resolve()}".encode()).hexdigest()[:32]
    return Path(base).expanduser() / "footplate" / "code" / f"{key}.json"
