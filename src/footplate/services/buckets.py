"""Which storage a bucket of another system's client stands for.

A bucket is the storage of its name. One that no storage is called like is a folder of the caller's own
`home`: scripts that come from a cloud run before an admin has made anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from footplate.domain.errors import InvalidInput, NotFound
from footplate.domain.storage import Access, Storage
from footplate.services.access import Caller
from footplate.services.fileaccess import access_of, open_for, told
from footplate.services.platform import Platform
from footplate.services.storages import all_usable
from footplate.storages.base import EntryKind
from footplate.storages.paths import clean, join

HOME = "home"
FOLDER = "buckets"
MOST_LISTED = 1000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
# What COS adds to a name: the number of an account.
_ACCOUNT = re.compile(r"-[0-9]{8,12}$")


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket by its name, and where its files are."""

    name: str
    storage: str
    folder: str = ""

    def path(self, key: str) -> str:
        """The path of a key on the storage."""
        return join(self.folder, clean(key, "key")) if clean(key, "key") else self.folder


def locate(platform: Platform, caller: Caller, name: str) -> Bucket:
    """Say where a bucket is; one of a storage that the caller may not use looks as if it did not exist."""
    if not _NAME.fullmatch(name):
        raise InvalidInput("not_bucket_name", "bucket")
    storage = _storage(platform, name)
    if storage is not None:
        if access_of(caller, storage) is Access.NONE:
            raise NotFound("storage_not_visible", storage=name)
        return Bucket(name, storage.name)
    home = platform.storages.get(HOME)
    if home is None or access_of(caller, home) is Access.NONE:
        raise NotFound("storage_not_visible", storage=name)
    return Bucket(name, HOME, f"{FOLDER}/{name}")


def named(storage: str, path: str) -> tuple[str, str]:
    """Name a place on a storage as bucket and key, as a client of a cloud does."""
    if storage == HOME and path.startswith(f"{FOLDER}/"):
        bucket, _, key = path.removeprefix(f"{FOLDER}/").partition("/")
        return bucket, key
    return storage, path


def _storage(platform: Platform, name: str) -> Storage | None:
    return platform.storages.get(name) or platform.storages.get(_ACCOUNT.sub("", name))


async def all_of(platform: Platform, caller: Caller) -> list[str]:
    """Name the buckets of a caller: the storages, and what lies in the folder of buckets."""
    names = [storage.name for storage, _ in all_usable(platform, caller) if _NAME.fullmatch(storage.name)]
    return sorted({*names, *await _own(platform, caller)})


async def _own(platform: Platform, caller: Caller) -> list[str]:
    try:
        opened = await open_for(platform, caller, HOME, Access.READ)
        with told(HOME, FOLDER):
            page = await opened.run(lambda files: files.page(FOLDER, "", MOST_LISTED))
    except NotFound:
        return []
    return [one.name for one in page.entries if one.kind is EntryKind.FOLDER and _NAME.fullmatch(one.name)]
