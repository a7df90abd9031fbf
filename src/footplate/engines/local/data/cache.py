"""Copies of stored files on this machine, by what they are copies of.

`files` has each file once, under a key of its storage, path and tag. `trees` has what jobs see: folders of
hard links to those files, under a key of all that is in them, so that equal data is one tree. `attempts` says
which attempt uses which trees. A file or a tree is there whole or not at all: each gets its name last.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from footplate.domain.storage import Storage
from footplate.machine.foldertree import remove_tree
from footplate.storages.base import Entry

PART = ".part"


@dataclass(frozen=True, slots=True)
class Piece:
    """A file of a storage, and what it is called in a tree."""

    entry: Entry
    name: str
    key: str


def pieces_of(storage: Storage, entries: Iterable[Entry], below: str) -> list[Piece]:
    """Name files by the storage that they come from, and by where they lie below a folder of it."""
    place = (storage.name, storage.kind.value, storage.endpoint, storage.bucket, storage.prefix, storage.path)
    skipped = len(below) + 1 if below else 0
    return [Piece(entry, entry.path[skipped:], _key(*place, *_facts(entry))) for entry in entries]


def _facts(entry: Entry) -> tuple[str, ...]:
    return entry.path, entry.tag, str(entry.size_bytes), str(entry.modified_at)


def tree_key(pieces: Sequence[Piece]) -> str:
    return _key(*(text for piece in pieces for text in (piece.name, piece.key)))


def _key(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Use:
    """A tree that tasks see at a path; `inner` is the file that is meant, where it is one."""

    tree: str
    inner: str = ""


class Cache:
    """The folder of the copies; whatever is held now no sweep takes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def holding(self, keys: Collection[str]) -> Iterator[None]:
        with self._lock:
            self._held.update(keys)
        try:
            yield
        finally:
            with self._lock:
                self._held.subtract(keys)
                for key in keys:
                    if not self._held[key]:
                        del self._held[key]

    def file(self, key: str) -> Path:
        return self._folder / "files" / key[:2] / key

    def tree(self, key: str) -> Path:
        return self._folder / "trees" / key

    def has(self, piece: Piece) -> bool:
        try:
            return self.file(piece.key).stat().st_size == piece.entry.size_bytes
        except OSError:
            return False

    def part_of(self, key: str) -> Path:
        """Name a file to write a copy into, before it is whole."""
        file = self.file(key)
        file.parent.mkdir(parents=True, exist_ok=True)
        return file.with_name(f"{key}-{os.urandom(6).hex()}{PART}")

    def keep(self, part: Path, key: str) -> None:
        part.chmod(0o644)
        part.replace(self.file(key))

    def plant(self, key: str, pieces: Iterable[Piece]) -> Path:
        """Make a tree of copies that are all here."""
        tree = self.tree(key)
        draft = tree.with_name(f"{key}-{os.urandom(6).hex()}{PART}")
        draft.mkdir(parents=True)
        made = {draft}
        try:
            for piece in pieces:
                target = draft / piece.name
                if target.parent not in made:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    made.add(target.parent)
                os.link(self.file(piece.key), target)
            with suppress(FileExistsError):
                _rename_new(draft, tree)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return tree

    # Which attempts use what

    def note(self, attempt_id: str, uses: Mapping[str, Use]) -> None:
        """Write down what an attempt sees, by target."""
        for use in uses.values():
            os.utime(self.tree(use.tree))
        record = self._record(attempt_id)
        record.parent.mkdir(parents=True, exist_ok=True)
        draft = record.with_name(f"{record.name}{PART}")
        draft.write_text(json.dumps({target: [use.tree, use.inner] for target, use in uses.items()}))
        draft.replace(record)

    def noted(self, attempt_id: str) -> dict[str, Use]:
        """What an attempt sees, if all of it is still here; else nothing."""
        try:
            read = json.loads(self._record(attempt_id).read_text())
        except (OSError, ValueError):
            return {}
        uses = {target: Use(*use) for target, use in read.items()}
        return uses if all(self.tree(use.tree).is_dir() for use in uses.values()) else {}

    def _record(self, attempt_id: str) -> Path:
        return self._folder / "attempts" / attempt_id

    # What goes

    def sweep(self, known_attempts: Container[str], kept_s: float, most_bytes: int) -> int:
        """Remove what was not used for long, and the oldest while all take more; return the bytes freed."""
        used = self._used_trees(known_attempts)
        idle = sorted((one.stat().st_mtime, one.name) for one in self._idle(used))
        before = time.time() - kept_s
        freed = sum(self._remove_unlinked(file) for file, _ in self._files())
        # Looked at once: to measure everything again for each tree takes a time that grows as its square.
        found = list(self._files())
        files = {status.st_ino: file for file, status in found}
        size = sum(status.st_size for _, status in found)
        for used_at, name in idle:
            if used_at < before or size > most_bytes:
                gone = self._fell(name, used_at, files)
                size -= gone
                freed += gone
        return freed

    def _used_trees(self, known_attempts: Container[str]) -> set[str]:
        used: set[str] = set()
        for record in self._listed("attempts"):
            if record.name in known_attempts or record.name.endswith(PART):
                used.update(use.tree for use in self.noted(record.name).values())
            else:
                record.unlink(missing_ok=True)
        return used

    def _idle(self, used: Container[str]) -> list[Path]:
        return [one for one in self._listed("trees") if one.name not in used]

    def _is_held(self, name: str) -> bool:
        return name.partition("-")[0] in self._held

    def _fell(self, name: str, used_at: float, files: Mapping[int, Path]) -> int:
        """Remove a tree, unless somebody has begun to use it meanwhile, and files that were in it alone."""
        tree, gone = self.tree(name), self.tree(f"{name.partition('-')[0]}-{os.urandom(6).hex()}{PART}")
        with self._lock:
            try:
                if self._is_held(name) or tree.stat().st_mtime != used_at:
                    return 0
                tree.rename(gone)
            except FileNotFoundError:
                return 0
        inodes = list(_inodes_in(gone))
        remove_tree(gone)
        return sum(self._remove_unlinked(files[inode]) for inode in inodes if inode in files)

    def _listed(self, name: str) -> list[Path]:
        try:
            return list((self._folder / name).iterdir())
        except FileNotFoundError:
            return []

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        for folder in self._listed("files"):
            for file in folder.iterdir():
                with suppress(FileNotFoundError):
                    yield file, file.stat()

    def _remove_unlinked(self, file: Path) -> int:
        """Remove a file that is in no tree, unless it is being used; return how many bytes it had."""
        with self._lock:
            try:
                status = file.stat()
                if status.st_nlink > 1 or self._is_held(file.name):
                    return 0
                file.unlink()
            except FileNotFoundError:
                return 0
            return status.st_size


def _inodes_in(tree: Path) -> Iterator[int]:
    for place, _, names in os.walk(tree):
        for name in names:
            with suppress(FileNotFoundError):
                yield os.lstat(f"{place}/{name}").st_ino


def _rename_new(draft: Path, tree: Path) -> None:
    try:
        draft.rename(tree)
    except OSError:
        # Somebody else has planted the same.
        if not tree.is_dir():
            raise
