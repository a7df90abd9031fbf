"""Opens the files of storages for people: with credentials where they are needed, in threads of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from footplate.domain.errors import EngineRejected
from footplate.domain.job import Job
from footplate.domain.storage import Storage, StorageKind
from footplate.services.vault import Vault
from footplate.storages.base import Files
from footplate.storages.folder import FolderFiles
from footplate.storages.lanes import Lanes
from footplate.storages.listings import Listings
from footplate.store import storage_queries
from footplate.store.people import People
from footplate.store.store import Store

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Opened:
    """A storage as one person sees it."""

    storage: Storage
    files: Files
    lanes: Lanes

    async def run(self, work: Callable[[Files], T]) -> T:
        """Do something that is done at once, if the storage answers."""
        return await self.lanes.of(self.storage.name).run(lambda: work(self.files))

    async def run_long(self, work: Callable[[Files], T]) -> T:
        """Do something that may take long."""
        return await self.lanes.long_of(self.storage.name).run(lambda: work(self.files))


@dataclass(frozen=True, slots=True, kw_only=True)
class Filing:
    """What there is to open storages with; `spool` says where uploads lie that a storage cannot hold."""

    store: Store
    vault: Vault
    people: People
    storages: Mapping[str, Storage]
    spool: Callable[[str], Path]
    lanes: Lanes = field(default_factory=Lanes)
    listings: Listings = field(default_factory=Listings)
    # Connections to storages elsewhere; a storage that was changed is another one.
    _remote: dict[tuple[Storage, bytes | None], Files] = field(default_factory=dict)
    # Uploads into which somebody writes just now.
    busy: set[str] = field(default_factory=set)

    async def open(self, storage: Storage, person: str) -> Opened:
        """Open a storage for somebody who may use it."""
        if storage.kind is not StorageKind.FOLDER:
            return Opened(storage, await self._open_remote(storage), self.lanes)
        if storage.per_user:
            await self.people.ensure(person)
        root = Path(storage.path_for(person, self.people.number_of(person)))
        files = FolderFiles(
            root, is_writable=not storage.read_only, is_own=storage.is_own, listings=self.listings
        )
        return Opened(storage, files, self.lanes)

    async def open_for_job(self, job: Job, name: str) -> tuple[Storage, Files]:
        """Open a storage for a job that may use it; raise `EngineRejected` when it is no longer there."""
        storage = self.storages.get(name)
        if storage is None:
            raise EngineRejected("storage_undeclared", storage=name)
        return storage, (await self.open(storage, job.owner)).files

    async def _open_remote(self, storage: Storage) -> Files:
        from footplate.storages.remote import open_remote

        sealed = await self.store.read(lambda connection: storage_queries.sealed_of(connection, storage.name))
        key = (storage, sealed)
        if key not in self._remote:
            credentials = self.unseal(storage.name, sealed)
            self._remote[key] = open_remote(storage, credentials, self.spool(storage.name))
        return self._remote[key]

    def seal(self, name: str, credentials: Mapping[str, str]) -> bytes:
        return self.vault.seal(json.dumps(dict(credentials)), label_of(name))

    def unseal(self, name: str, sealed: bytes | None) -> dict[str, str]:
        return {} if sealed is None else dict(json.loads(self.vault.unseal(sealed, label_of(name))))

    def forget(self) -> None:
        """Open storages anew: something about them has changed."""
        self._remote.clear()


def label_of(name: str) -> str:
    """What credentials are sealed under: they open for no other storage."""
    return f"storage/{name}"
