"""Opens paths below a folder so that nothing on the way can lead out of it, whoever changes it meanwhile.

The kernel itself resolves the path (`openat2` with `RESOLVE_BENEATH`): links are followed as long as they
stay below the folder, and `..` or an absolute link that leads out is refused with EXDEV. Where the kernel, or
a filter around this process, does not offer that, the path is walked name by name and no link is followed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat

_OPENAT2 = 437  # the same on all machines
_NO_MAGICLINKS, _BENEATH = 0x02, 0x08
_RENAME_NOREPLACE = 1
# Renames elsewhere in the tree make the kernel unsure; it then asks to try again.
_MOST_TRIES = 64
_PLACE = os.O_PATH | os.O_CLOEXEC

_libc = ctypes.CDLL(None, use_errno=True)


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class LeadsOut(PermissionError):
    """A path leads out of the folder below which it must stay."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EXDEV, "it leads out of its folder", path)


def open_beneath(folder_fd: int, path: str, flags: int, mode: int = 0) -> int:
    """Open a path below an open folder; raise `LeadsOut` when a link or `..` leaves the folder."""
    for _ in range(_MOST_TRIES):
        fd, number = _openat2(folder_fd, path or ".", flags | os.O_CLOEXEC, mode)
        if fd >= 0:
            return fd
        if number != errno.EAGAIN:
            break
    if number in (errno.ENOSYS, errno.EPERM):
        return walk_beneath(folder_fd, path, flags, mode)
    raise LeadsOut(path) if number == errno.EXDEV else OSError(number, os.strerror(number), path)


def _openat2(folder_fd: int, path: str, flags: int, mode: int) -> tuple[int, int]:
    how = _How(flags, mode, _BENEATH | _NO_MAGICLINKS)
    size = ctypes.c_size_t(ctypes.sizeof(how))
    fd = _libc.syscall(
        ctypes.c_long(_OPENAT2), ctypes.c_int(folder_fd), os.fsencode(path), ctypes.byref(how), size
    )
    return fd, ctypes.get_errno()


def walk_beneath(folder_fd: int, path: str, flags: int, mode: int = 0) -> int:
    """Open a path name by name, following no link at all."""
    names = [name for name in path.split("/") if name not in ("", ".")]
    if ".." in names:
        raise LeadsOut(path)
    fd = os.open(".", _PLACE | os.O_DIRECTORY, dir_fd=folder_fd)
    for number, name in enumerate(names):
        outer, is_last = fd, number == len(names) - 1
        try:
            fd = _step(outer, name, flags if is_last else os.O_PATH | os.O_DIRECTORY, mode, path)
        finally:
            os.close(outer)
    if names:
        return fd
    try:
        return os.open(".", flags | os.O_CLOEXEC, dir_fd=fd)
    finally:
        os.close(fd)


def _step(outer: int, name: str, flags: int, mode: int, path: str) -> int:
    try:
        fd = os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=outer)
    except OSError as error:
        if error.errno == errno.ELOOP or _is_link(outer, name):
            raise LeadsOut(path) from None
        raise
    if flags & os.O_PATH and stat.S_ISLNK(os.fstat(fd).st_mode):
        os.close(fd)
        raise LeadsOut(path)
    return fd


def _is_link(outer: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=outer, follow_symlinks=False).st_mode)
    except OSError:
        return False


def rename(source: str, source_fd: int, target: str, target_fd: int, replaces: bool) -> None:
    """Rename between open folders; without `replaces`, raise `FileExistsError` when the name is taken."""
    if replaces:
        os.rename(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd)
        return
    old, new = os.fsencode(source), os.fsencode(target)
    if _libc.renameat2(source_fd, old, target_fd, new, _RENAME_NOREPLACE) == 0:
        return
    number = ctypes.get_errno()
    if number not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(number, os.strerror(number), target)
    _rename_to_free(source, source_fd, target, target_fd)


def _rename_to_free(source: str, source_fd: int, target: str, target_fd: int) -> None:
    """Rename where the file system cannot refuse to replace (NFS): a plain file by a link, which can."""
    if stat.S_ISREG(os.stat(source, dir_fd=source_fd, follow_symlinks=False).st_mode):
        os.link(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd, follow_symlinks=False)
        os.unlink(source, dir_fd=source_fd)
        return
    try:
        os.stat(target, dir_fd=target_fd, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd)
        return
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
