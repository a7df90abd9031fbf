"""Sets the owners of a user's job folders, and maps the owners of storages for their tasks.

Where tasks run as other accounts than the server, the modes of files decide, as for everybody on the machine.
Two things are added. What a task may only read it can read, whoever owns it: the operator has named the
folder as a storage. What it may write is written in the name of the folder's owner, unless that is root:
nobody but root may make files of root's. Runs in the spawner and its children.
"""

# Without pathlib this process starts sooner and stays smaller.
# ruff: noqa: PTH101
from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING

from footplate.engines.local.confine import kernel, user_namespaces
from footplate.engines.local.confine.refused import Refused
from footplate.machine import foldertree, taskfiles

if TYPE_CHECKING:
    # Not for the process itself, which is to start soon and stay small.
    from footplate.engines.local.exchange import Account, AccountRange


def give(path: str, account: Account, is_new: bool = False) -> None:
    """Make a folder, and all that is in it, a person's own; quick when it is, or when it is new.

    Only the folder's own name could be a link: tasks cannot write to what is around it.
    """
    uid, gid = user_namespaces.id_outside(account), user_namespaces.group_outside(account)
    if is_new:
        os.chown(path, uid, gid, follow_symlinks=False)
    elif os.lstat(path).st_uid != uid:
        _give_all(path, uid, gid)


def hand_over(path: str, account: Account, is_for_containers: bool) -> None:
    """Make a folder that the server keeps, and all that is in it, an account's; quick when it is.

    In containers root writes there, and whoever comes next could not change what it wrote: until then the
    folder has root's group, by which that is seen.
    """
    uid, gid = user_namespaces.id_outside(account), user_namespaces.group_outside(account)
    status = os.lstat(path)
    if (status.st_uid, status.st_gid) != (uid, gid):
        _give_all(path, uid, gid)
    if is_for_containers:
        os.chown(path, uid, 0, follow_symlinks=False)


def _give_all(path: str, uid: int, gid: int) -> None:
    fd = taskfiles.open_folder(path)
    try:
        for _, folders, files, folder_fd in foldertree.walk(fd):
            for name in (*folders, *files):
                with contextlib.suppress(FileNotFoundError):
                    os.chown(name, uid, gid, dir_fd=folder_fd, follow_symlinks=False)
        # Last of all: whoever is interrupted begins again.
        os.chown(".", uid, gid, dir_fd=fd)
    finally:
        os.close(fd)


def let_through(path: str) -> None:
    """Let other accounts through a folder of ours to what they own in it."""
    mode = stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116
    if mode & 0o055 != 0o055:
        os.chmod(path, mode | 0o055)  # noqa: S103


def bind_as_theirs(fd: int, target: str, account: Account, read_only: bool) -> bool:
    """Mount a storage's folder for an account; False when it is to be mounted as it is.

    Raises `Refused` when it should be writable and is not.
    """
    status = os.fstat(fd)
    if "first" not in account or _is_theirs(status, account):
        return False
    if read_only:
        uid_map, gid_map = _readable(status.st_uid, account), _readable(status.st_gid, account)
        return _try_mapped(fd, target, uid_map, gid_map)
    if status.st_mode & stat.S_IWOTH:
        return False
    owner, group, first = status.st_uid, status.st_gid, account["first"]
    if owner == 0 or not _try_mapped(fd, target, f"{owner} {first} 1\n", f"{group} {first} 1\n"):
        if owner == 0:
            raise Refused("folder_of_root", errno.EACCES, account=str(first))
        raise Refused("folder_not_theirs", errno.EACCES, owner=str(owner), account=str(first))
    return True


def _is_theirs(status: os.stat_result, account: AccountRange) -> bool:
    return account["first"] <= status.st_uid < account["first"] + account["n"]


def _readable(owner: int, account: AccountRange) -> str:
    """Write as whose the files of a folder are shown: as somebody's over whom the task is root."""
    first, n = account["first"], account["n"]
    if owner < n:
        return f"0 {first} {n}\n"
    return f"0 {first} {n - 1}\n{owner} {first + n - 1} 1\n"


def _try_mapped(fd: int, target: str, uid_map: str, gid_map: str) -> bool:
    """Mount with other owners than on disk; False where the file system or the kernel cannot."""
    try:
        tree = mapped(fd, uid_map, gid_map)
    except OSError:
        return False
    try:
        kernel.attach_tree(tree, target)
    finally:
        os.close(tree)
    return True


def mapped(fd: int, uid_map: str, gid_map: str) -> int:
    """Copy the mounts below an open folder with other owners, attached to nothing yet."""
    tree = kernel.clone_tree(fd)
    try:
        namespace_fd = user_namespaces.make_namespace(uid_map, gid_map)
        try:
            flags = kernel.AT_EMPTY_PATH | kernel.AT_RECURSIVE
            kernel.set_mount_attributes(tree, "", flags, kernel.MOUNT_ATTR_IDMAP, namespace_fd)
        finally:
            os.close(namespace_fd)
    except OSError:
        os.close(tree)
        raise
    return tree
