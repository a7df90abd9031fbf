"""Mounts the view of a task, in the process that becomes the task.

Runs in the spawner and its children: standard library only, nothing slow to import. A view is JSON:
`tmp` (the folder that becomes `/tmp`), `covers` (folders that are hidden), `uncovers` (those of them that are
covered for all tasks already), `keeps` (what stays visible below hidden ones), `mounts` (`[source, inner,
target, read_only]`), `hidden` (folders that are not the host's in the view), `own` (the platform's folders,
which no mount may touch), `free` (targets that may all the same), `masks` (sockets that lead nowhere),
`unwritable` and `writable` (kept folders that can only be read, and those among them that cannot), `devices`
(of the cards that the task was given), `shm_bytes` (size of `/dev/shm`), `account` (as whom the task runs,
where that is not the server's own account).
"""

# Without pathlib this process starts sooner and stays smaller.
# ruff: noqa: PTH102, PTH103, PTH112, PTH116, PTH120, PTH211
from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING

from footplate.engines.local.confine import kernel, kernelfiles, ownership, targets
from footplate.engines.local.confine.kernel import (
    AT_FDCWD,
    AT_RECURSIVE,
    MOUNT_ATTR_RDONLY,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    MS_SLAVE,
    mount,
)
from footplate.engines.local.confine.refused import Refused, Unmountable, said_of
from footplate.engines.local.confine.targets import OLD_ROOT, TMP, VAR_TMP
from footplate.machine import taskfiles

if TYPE_CHECKING:
    # Not for the process itself, which is to start soon and stay small.
    from footplate.engines.local.exchange import Account, View


MOST_ENTRIES = 1000
# What a file system says of a path that will not be there later either; anything else may pass.
LASTING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM)
# Folders that a process of another account can enter, however the server's own files are made.
FOR_ALL = 0o755


def prepare(sealed: list[str], covers: list[str], keeps: list[str]) -> None:
    """Do once, as root, what the views of all children have in common: they begin as copies of this one."""
    kernel.unshare(kernel.CLONE_NEWNS)
    # Whatever the server's own is: other accounts must get through what is made here.
    os.umask(0o022)
    _leave_host(sealed)
    with _Opened() as opened:
        _cover(covers, [(opened.keep(_open_own(path)), path) for path in keeps])
    for folder in covers:
        _remount_read_only(folder)
    kernelfiles.make_common_devices()


def leave_user_namespace(sealed: list[str]) -> None:
    """Get the right to mount without being root; the same user inside as outside."""
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")
    _leave_host(sealed)


def _leave_host(sealed: list[str]) -> None:
    # What the host unmounts leaves the tasks too; nothing goes the other way.
    mount("none", "/", None, MS_REC | MS_SLAVE)
    _seal_all(sealed)


def enter_view(view: View, has_common: bool = False) -> None:
    """Arrange the mount namespace of this process, which nobody else is in; raise OSError if that fails.

    `has_common` says whether `prepare` was done: then `/dev` has all that tasks without cards see.
    """
    if has_common and view["devices"]:
        # Below it is the host's, which has the cards.
        kernel.unmount("/dev")
        has_common = False
    for folder in view["uncovers"]:
        kernel.unmount(folder)
    with _Opened() as opened:
        _arrange(view, has_common, opened)


class _Opened(contextlib.ExitStack):
    """Descriptors that are closed at the end: the spawner lives on."""

    def keep(self, fd: int) -> int:
        self.callback(os.close, fd)
        return fd


def _arrange(view: View, has_common: bool, opened: _Opened) -> None:
    # Opened before anything is hidden: what lies below a cover can be mounted through these only.
    keeps = [(opened.keep(_open_own(path)), path) for path in view["keeps"]]
    writable = [(opened.keep(_open_own(path)), path) for path in view["writable"]]
    mounts = [
        (opened.keep(_open(source, inner)), _resolve(target, view), read_only)
        for source, inner, target, read_only in view["mounts"]
    ]
    mounts.sort(key=lambda mount: len(mount[1]))
    _check_apart([target for _, target, _ in mounts])
    # They are built anew, so that something can be put into them.
    shadows = targets.shadows([target for _, target, _ in mounts], view["hidden"])
    # An earlier run of the task may have put a link to something hidden there.
    tmp_fd = opened.keep(os.open(view["tmp"], os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW))
    ours = {_shadow(folder) for folder in shadows}
    _bind(tmp_fd, TMP)
    if os.path.isdir(VAR_TMP):
        _bind(tmp_fd, VAR_TMP)
    _cover(view["covers"], keeps)
    _seal_own(view["unwritable"], writable)
    kernelfiles.make_devices(view["devices"], view["shm_bytes"], has_common)
    if mounts:
        ours.update(os.stat(folder).st_dev for folder in view["covers"])
        _put_all(mounts, ours, view["account"])
    for device in view["masks"]:
        mount(os.devnull, device, None, MS_BIND)
    for folder in (*shadows, *view["covers"]):
        _remount_read_only(folder)
    if "/" in shadows:
        kernel.unmount(OLD_ROOT)
        if os.listdir(OLD_ROOT):  # noqa: PTH208
            raise Refused("host_still_seen")


def _cover(folders: list[str], keeps: list[tuple[int, str]]) -> None:
    """Hide folders but for what is kept of them."""
    for folder in folders:
        _mount_empty(folder)
    for fd, target in keeps:
        if not os.path.lexists(target):
            _make_like(fd, target)
        _bind(fd, target)


def _seal_own(folders: list[str], writable: list[tuple[int, str]]) -> None:
    """Keep a job's folders from being changed, but for those that are its own to change."""
    for folder in folders:
        _remount_read_only(folder)
    for fd, target in writable:
        _bind(fd, target)


def _resolve(target: str, view: View) -> str:
    try:
        return os.path.realpath(target) if target in view["free"] else targets.resolve(target, view["own"])
    except OSError as error:
        raise Unmountable("target_unusable", error.errno, target=target, error=said_of(error)) from None


def _check_apart(resolved: list[str]) -> None:
    if both := targets.overlapping(resolved):
        raise Unmountable("mounts_overlap", errno.EINVAL, inner=both[1], outer=both[0])


def _put_all(mounts: list[tuple[int, str, bool]], ours: set[int], account: Account | None) -> None:
    """Mount what a job asked for; targets are made only where that does not touch the host."""
    for fd, target, read_only in mounts:
        try:
            _put(fd, target, read_only, ours, account)
        except OSError as error:
            raise Unmountable("target_unusable", error.errno, target=target, error=said_of(error)) from None


def _put(fd: int, target: str, read_only: bool, ours: set[int], account: Account | None) -> None:
    if not os.path.lexists(target):
        _check_ours(target, ours)
        _make_like(fd, target)
    # Whoever could write there may have put links on the way, to have something else covered.
    target_fd = taskfiles.open_beneath("/", target.lstrip("/"), follows=False)
    place = f"/proc/self/fd/{target_fd}"
    try:
        if account is None or not ownership.bind_as_theirs(fd, place, account, read_only):
            _bind(fd, place)
    finally:
        os.close(target_fd)
    if read_only:
        seal(target)


def _check_ours(target: str, ours: set[int]) -> None:
    nearest = os.path.dirname(target)
    while not os.path.lexists(nearest):
        nearest = os.path.dirname(nearest)
    if os.stat(nearest).st_dev not in ours and nearest != TMP and not nearest.startswith(TMP + "/"):
        raise Refused("target_missing", folder=nearest)


def _make_like(fd: int, target: str) -> None:
    """Make a folder or a file, whatever the descriptor stands for, to mount it there."""
    if stat.S_ISDIR(os.fstat(fd).st_mode):
        os.makedirs(target, FOR_ALL)
    else:
        os.makedirs(os.path.dirname(target), FOR_ALL, exist_ok=True)
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o644))


def _mount_empty(folder: str) -> None:
    mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=555,size=1m")


def _seal_all(trees: list[str]) -> None:
    for tree in trees:
        if not os.path.ismount(tree):
            mount(tree, tree, None, MS_BIND | MS_REC)
        seal(tree)


def seal(tree: str) -> None:
    """Make a tree of mounts unwritable."""
    try:
        kernel.set_mount_attributes(AT_FDCWD, tree, AT_RECURSIVE, MOUNT_ATTR_RDONLY)
    except OSError:
        # Kernels before 5.12: the mount itself, not what is mounted below it.
        _remount_read_only(tree)


def _open_own(path: str) -> int:
    """Open a folder of the platform, on the way to which no task can have put anything."""
    return os.open(path, os.O_PATH)


def _open(source: str, inner: str = "") -> int:
    try:
        return taskfiles.open_beneath(source, inner)
    except OSError as error:
        where = f"{source}/{inner}" if inner else source
        kind = Unmountable if error.errno in LASTING else Refused
        raise kind("not_mountable", error.errno, place=where, error=said_of(error)) from None


def _shadow(folder: str) -> int:
    """Put a folder of our own in a folder's place, with all that is in it; return the new device."""
    if folder == "/":
        return _shadow_root()
    fd = os.open(folder, os.O_PATH)
    entries = _entries(folder)
    _mount_empty(folder)
    for entry in entries:
        _mirror(fd, folder, entry)
    os.close(fd)
    return os.stat(folder).st_dev


def _shadow_root() -> int:
    """Build a new root over `/tmp`, the one folder that every machine has and we can do without meanwhile."""
    if os.uname().machine not in kernel.SYS_PIVOT_ROOT:
        raise Refused("root_unmountable", machine=os.uname().machine)
    root = os.open("/", os.O_PATH)
    entries = [entry for entry in _entries("/") if entry.name != "tmp"]
    _mount_empty(TMP)
    for entry in entries:
        _mirror(root, TMP, entry)
    # The task's own folder comes there.
    os.mkdir(TMP + TMP)
    os.mkdir(TMP + OLD_ROOT)
    kernel.pivot_root(TMP, TMP + OLD_ROOT)
    os.chdir("/")
    os.close(root)
    return os.stat("/").st_dev


def _entries(folder: str) -> list[os.DirEntry[str]]:
    entries = list(os.scandir(folder))
    if len(entries) > MOST_ENTRIES:
        raise Refused("folder_too_full", folder=folder, n=len(entries))
    return entries


def _mirror(fd: int, folder: str, entry: os.DirEntry[str]) -> None:
    target = f"{folder}/{entry.name}"
    if entry.is_symlink():
        os.symlink(os.readlink(entry.name, dir_fd=fd), target)
        return
    if entry.is_dir():
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o644))
    mount(f"/proc/self/fd/{fd}/{entry.name}", target, None, MS_BIND | MS_REC)


def _bind(fd: int, target: str) -> None:
    mount(f"/proc/self/fd/{fd}", target, None, MS_BIND | MS_REC)


def _remount_read_only(folder: str) -> None:
    """Make one mount unwritable, with the flags it has: a user namespace may not take those away."""
    flags = os.statvfs(folder).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("none", folder, None, MS_REMOUNT | MS_BIND | MS_RDONLY | flags)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
