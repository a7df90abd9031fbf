"""Whether a storage has room for more: its quota, and the disk of the server for what the server keeps."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field

from footplate.domain.errors import DiskFull
from footplate.domain.storage import Storage, StorageKind
from footplate.services.filing import Opened
from footplate.services.storageusage import measure
from footplate.storages.base import OnDisk
from footplate.store.disk import Disk

# What a storage holds is measured again after so long; meanwhile what is added is counted.
MEASURED_FOR_S = 60.0


@dataclass(slots=True)
class _Measured:
    at: float
    size_bytes: int


@dataclass(slots=True)
class StorageRoom:
    """Remembers what storages with a quota hold; of a private one, what each person's folder does."""

    disk: Disk
    _measured: dict[tuple[str, str], _Measured] = field(default_factory=dict)
    # Folders of admins that lie on the server's disk too.
    _beside: dict[str, bool] = field(default_factory=dict)

    async def require(self, opened: Opened, n_bytes: int, person: str, here_bytes: int | None = None) -> None:
        """Raise `DiskFull` when so many bytes more are too many.

        `here_bytes` says how many of them the server's own disk takes, where that is not all.
        """
        storage = opened.storage
        await self._learn_disk(opened)
        self.require_disk(storage, person, n_bytes if here_bytes is None else here_bytes)
        if storage.quota_bytes is None:
            return
        known = await self._size(opened, person)
        if known.size_bytes + n_bytes > storage.quota_bytes:
            raise DiskFull(
                "storage_quota_over",
                storage=storage.name,
                taken_bytes=known.size_bytes,
                quota_bytes=storage.quota_bytes,
                wanted_bytes=n_bytes,
            )
        known.size_bytes += n_bytes

    async def _learn_disk(self, opened: Opened) -> None:
        """See whether a folder of an admin lies on the server's disk."""
        name, files = opened.storage.name, opened.files
        if opened.storage.is_own or name in self._beside or not isinstance(files, OnDisk):
            return
        # One that is not there says so when it is written to.
        with suppress(OSError):
            self._beside[name] = await opened.run(lambda _files: files.device()) == self.disk.device()

    def require_disk(self, storage: Storage, person: str, n_bytes: int = 0) -> None:
        """Raise `DiskFull` when the server's disk has no room for what a storage is sent."""
        # What goes elsewhere lies here until it is whole.
        is_here = storage.kind is not StorageKind.FOLDER or self._beside.get(storage.name, False)
        if storage.is_own or is_here:
            self.disk.require_room(person, n_bytes)

    async def _size(self, opened: Opened, person: str) -> _Measured:
        key = (opened.storage.name, person if opened.storage.per_user else "")
        known = self._measured.get(key)
        if known is None or time.monotonic() - known.at > MEASURED_FOR_S:
            used = await opened.run_long(lambda files: measure(files, ""))
            known = self._measured[key] = _Measured(time.monotonic(), used.size_bytes)
        return known

    def forget(self, storage: str) -> None:
        """Measure a storage again when that is next needed: something was deleted, or was not kept."""
        self._beside.pop(storage, None)
        for key in [key for key in self._measured if key[0] == storage]:
            del self._measured[key]
