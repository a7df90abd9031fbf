"""The storages as they are now: those of the settings, and those that admins keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa

from footplate.domain.storage import Storage, StorageKind
from footplate.home.layout import parts_folder, storage_folder
from footplate.store import group_queries, storage_queries


class Storages(Mapping[str, Storage]):
    """Filled at start, and again after each change of a storage or a group.

    One of the settings hides a stored one of its name.
    """

    def __init__(self, home: Path, declared: Mapping[str, Storage]) -> None:
        self._home = home
        self._declared = dict(declared)
        self._known = dict(declared)

    def load(self, connection: sa.Connection) -> None:
        stored = storage_queries.all_storages(connection)
        members = group_queries.users_of_storages(connection)
        known = {**self._declared}
        known |= {one.name: self._located(one) for one in stored if one.name not in self._declared}
        self._known = {
            name: replace(one, members=tuple(members.get(name, ()))) for name, one in known.items()
        }

    def _located(self, storage: Storage) -> Storage:
        if storage.kind is not StorageKind.FOLDER or storage.path:
            return storage
        return replace(storage, path=str(storage_folder(self._home, storage.name)), is_own=True)

    def spool(self, name: str) -> Path:
        """Where uploads to a storage lie until they are whole, if it is none of this machine's folders."""
        return parts_folder(self._home, name)

    def __getitem__(self, name: str) -> Storage:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
