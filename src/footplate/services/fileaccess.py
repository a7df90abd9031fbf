"""Which storages a caller may use, and how what files answer is told to people."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator
from contextlib import contextmanager

from footplate.domain.errors import Conflict, Denied, DiskFull, InvalidInput, NotFound, StorageAway
from footplate.domain.storage import Access, Storage, StorageKind
from footplate.machine.beneath import LeadsOut
from footplate.services.access import RANKS, Caller
from footplate.services.filing import Opened
from footplate.services.platform import Platform
from footplate.storages.paths import MOST_BYTES, MOST_NAME_BYTES


def access_of(caller: Caller, storage: Storage) -> Access:
    """What a caller may do; platform admins may use every storage, but see only their own private folder."""
    if caller.is_admin and not storage.per_user:
        is_fixed = storage.read_only or storage.kind is StorageKind.HTTP
        return Access.READ if is_fixed else Access.WRITE
    return storage.access_of(
        caller.name, {name: caller.rank_in(name) >= RANKS["member"] for name in caller.roles}
    )


async def open_for(platform: Platform, caller: Caller, name: str, least: Access) -> Opened:
    """Open a storage; one that the caller may not use looks as if it did not exist."""
    storage = platform.storages.get(name)
    access = Access.NONE if storage is None else access_of(caller, storage)
    if storage is None or access is Access.NONE:
        raise NotFound("storage_not_visible", storage=name[:64])
    if access < least:
        raise Denied("storage_not_writable", storage=name, user=caller.name)
    with told(name, ""):
        return await platform.filing.open(storage, caller.name)


@contextmanager
def told(storage: str, path: str) -> Iterator[None]:
    """Say what a file system has refused in our own words."""
    named = {"storage": storage, "path": path}
    try:
        yield
    except io.UnsupportedOperation as error:
        raise Conflict("storage_cannot", storage=storage, error=str(error)) from error
    except FileNotFoundError as error:
        raise NotFound("file_not_there", **named) from error
    except FileExistsError as error:
        raise Conflict("file_exists", **named) from error
    except IsADirectoryError as error:
        raise Conflict("file_is_folder", **named) from error
    except NotADirectoryError as error:
        raise Conflict("file_no_folder", **named) from error
    except LeadsOut as error:
        raise Denied("file_leads_out", **named) from error
    except PermissionError as error:
        raise Denied("file_not_permitted", **named, error=error.strerror or str(error)) from error
    except OSError as error:
        raise _translated(error, storage, path) from error


def _translated(error: OSError, storage: str, path: str) -> Exception:
    if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
        return Conflict("folder_not_empty", storage=storage, path=path)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull("storage_full", storage=storage)
    if error.errno == errno.ENAMETOOLONG:
        return InvalidInput("path_too_long", "path", most=MOST_NAME_BYTES, most_bytes=MOST_BYTES)
    if error.errno in (errno.EROFS, errno.ELOOP, errno.EBUSY, errno.EXDEV, errno.EINVAL, errno.ETXTBSY):
        return Denied("file_not_permitted", storage=storage, path=path, error=error.strerror)
    return StorageAway("storage_unusable", storage=storage, inner=path, error=error.strerror or str(error))
