"""Gives a process its own view of the machine's files, in the process that becomes a task.

Runs in the spawner and its children: standard library only, nothing slow to import. A view is JSON:
`tmp` (the folder that becomes `/tmp`), `covers` (folders that are hidden), `keeps` (what stays visible below
hidden ones), `mounts` (`[source, inner, target, read_only]`), `hidden` (folders that are not the host's in
the view), `own` (the platform's folders, which no mount may touch), `free` (targets that may all the same),
`masks` (devices that lead nowhere), `shm_bytes` (size of `/dev/shm`).
"""

# Without pathlib this process starts sooner and stays smaller.
# ruff: noqa: PTH102, PTH103, PTH116, PTH120, PTH211
from __future__ import annotations

import ctypes
import errno
import os
import stat
from typing import Any

from footplate import taskfiles
from footplate.engines.local import targets
from footplate.engines.local.targets import OLD_ROOT, TMP

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_SLAVE = 32, 4096, 16384, 1 << 19
MNT_DETACH = 2
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SYS_MOUNT_SETATTR = 442
AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = -100, 0x8000, 1
PR_CAPBSET_DROP = 24
# What programs of training jobs may need of root's powers; the rest could undo the limits.
KEPT_CAPABILITIES = frozenset({0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 14, 18, 23, 24, 29, 31})
MAX_CAPABILITY = 63
MOST_ENTRIES = 1000
# What a file system says of a path that will not be there later either; anything else may pass.
LASTING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM)
SHM = "/dev/shm"  # noqa: S108

_libc = ctypes.CDLL(None, use_errno=True)


def prepare(sealed: list[str]) -> None:
    """Do once, as root, what the views of all children have in common: they begin as copies of this one."""
    _check(_libc.unshare(CLONE_NEWNS), "unshare")
    # What the host unmounts leaves the tasks too; nothing goes the other way.
    _mount("none", "/", None, MS_REC | MS_SLAVE, None)
    _seal_all(sealed)
    # Children keep what they need of root's powers until they execute a program.
    drop_powers()


def drop_powers() -> None:
    """Give up, for all programs that are executed from here on, what could undo the limits."""
    for number in range(MAX_CAPABILITY + 1):
        # Beyond the last one that the kernel knows there are none.
        if number not in KEPT_CAPABILITIES and _libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0:
            break


def leave_user() -> None:
    _check(_libc.unshare(CLONE_NEWUSER), "unshare")


def enter_namespace(fd: int) -> None:
    _check(_libc.setns(fd, 0), "setns")


def leave_user_namespace(sealed: list[str]) -> None:
    """Get the right to mount without being root; the same user inside as outside."""
    uid, gid = os.getuid(), os.getgid()
    _check(_libc.unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")
    _mount("none", "/", None, MS_REC | MS_SLAVE, None)
    _seal_all(sealed)


def join_view(pid: int, needs_user: bool) -> None:
    """Enter the namespaces of another process, to see what it sees."""
    for kind in ("user", "mnt") if needs_user else ("mnt",):
        fd = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        enter_namespace(fd)
        os.close(fd)


def leave_mount_namespace() -> None:
    _check(_libc.unshare(CLONE_NEWNS), "unshare")


def enter_view(view: dict[str, Any]) -> None:
    """Arrange the mount namespace of this process, which nobody else is in; raise OSError if that fails."""
    # Opened before anything is hidden: what lies below a cover can be mounted through these only.
    keeps = [(_open(path), path) for path in view["keeps"]]
    mounts = [
        (_open(source, inner), _resolve(target, view), read_only)
        for source, inner, target, read_only in view["mounts"]
    ]
    mounts.sort(key=lambda mount: len(mount[1]))
    _check_apart([target for _, target, _ in mounts])
    # They are built anew, so that something can be put into them.
    shadows = targets.shadows([target for _, target, _ in mounts], view["hidden"])
    # An earlier run of the task may have put a link to something hidden there.
    tmp_fd = taskfiles.open_folder(view["tmp"])
    ours = {_shadow(folder) for folder in shadows}
    _bind(tmp_fd, TMP)
    for folder in view["covers"]:
        _mount_empty(folder)
    _mount("tmpfs", SHM, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=1777,size={view['shm_bytes']}")
    for fd, target in keeps:
        if not os.path.lexists(target):
            _make_like(fd, target)
        _bind(fd, target)
    if mounts:
        ours.update(os.stat(folder).st_dev for folder in view["covers"])
        _put_all(mounts, ours)
    for device in view["masks"]:
        _mount(os.devnull, device, None, MS_BIND, None)
    for folder in shadows:
        _remount_read_only(folder)
    if "/" in shadows:
        _check(_libc.umount2(OLD_ROOT.encode(), MNT_DETACH), "umount2 /")
        if os.listdir(OLD_ROOT):  # noqa: PTH208
            raise OSError("the host's files are still to be seen")


class Unmountable(OSError):
    """What a job wants to have mounted cannot be, however often it is tried."""

    def __str__(self) -> str:
        return str(self.strerror)


def _resolve(target: str, view: dict[str, Any]) -> str:
    try:
        return os.path.realpath(target) if target in view["free"] else targets.resolve(target, view["own"])
    except OSError as error:
        raise Unmountable(error.errno, f"nothing can be mounted at {target}: {error.strerror}") from None


def _check_apart(resolved: list[str]) -> None:
    if both := targets.overlapping(resolved):
        raise Unmountable(errno.EINVAL, f"{both[1]} lies in {both[0]}: each needs a path of its own")


def _put_all(mounts: list[tuple[int, str, bool]], ours: set[int]) -> None:
    """Mount what a job asked for; targets are made only where that does not touch the host."""
    for fd, target, read_only in mounts:
        try:
            _put(fd, target, read_only, ours)
        except OSError as error:
            raise Unmountable(error.errno, f"nothing can be mounted at {target}: {error}") from None


def _put(fd: int, target: str, read_only: bool, ours: set[int]) -> None:
    if not os.path.lexists(target):
        _check_ours(target, ours)
        _make_like(fd, target)
    # Whoever could write there may have put links on the way, to have something else covered.
    target_fd = taskfiles.open_beneath("/", target.lstrip("/"), follows=False)
    try:
        _bind(fd, f"/proc/self/fd/{target_fd}")
    finally:
        os.close(target_fd)
    if read_only:
        seal(target)


def _check_ours(target: str, ours: set[int]) -> None:
    nearest = os.path.dirname(target)
    while not os.path.lexists(nearest):
        nearest = os.path.dirname(nearest)
    if os.stat(nearest).st_dev not in ours and nearest != TMP and not nearest.startswith(TMP + "/"):
        raise OSError(f"it does not exist, and making it would change the host's {nearest}")


def _make_like(fd: int, target: str) -> None:
    """Make a folder or a file, whatever the descriptor stands for, to mount it there."""
    if stat.S_ISDIR(os.fstat(fd).st_mode):
        os.makedirs(target)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o644))


def _mount_empty(folder: str) -> None:
    _mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=555,size=1m")


def _seal_all(trees: list[str]) -> None:
    for tree in trees:
        if not os.path.ismount(tree):
            _mount(tree, tree, None, MS_BIND | MS_REC, None)
        seal(tree)


def seal(tree: str) -> None:
    """Make a tree of mounts unwritable."""
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY, 0, 0, 0)
    arguments = (AT_FDCWD, tree.encode(), AT_RECURSIVE, ctypes.byref(attributes), ctypes.sizeof(attributes))
    if _libc.syscall(SYS_MOUNT_SETATTR, *arguments) < 0:
        # Kernels before 5.12: the mount itself, not what is mounted below it.
        _remount_read_only(tree)


def _open(source: str, inner: str = "") -> int:
    try:
        return taskfiles.open_beneath(source, inner)
    except OSError as error:
        where = f"{source}/{inner}" if inner else source
        message = f"{where} cannot be mounted for the task: {error.strerror}"
        raise (Unmountable if error.errno in LASTING else OSError)(error.errno, message) from None


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
    number = SYS_PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise OSError(f"nothing can be put into / on {os.uname().machine}: make the folder there")
    root = os.open("/", os.O_PATH)
    entries = [entry for entry in _entries("/") if entry.name != "tmp"]
    _mount_empty(TMP)
    for entry in entries:
        _mirror(root, TMP, entry)
    # The task's own folder comes there.
    os.mkdir(TMP + TMP)
    os.mkdir(TMP + OLD_ROOT)
    _check(_libc.syscall(number, TMP.encode(), (TMP + OLD_ROOT).encode()), "pivot_root")
    os.chdir("/")
    os.close(root)
    return os.stat("/").st_dev


def _entries(folder: str) -> list[os.DirEntry[str]]:
    entries = list(os.scandir(folder))
    if len(entries) > MOST_ENTRIES:
        raise OSError(f"{folder} has {len(entries)} entries, too many to add one: make the folder there")
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
    _mount(f"/proc/self/fd/{fd}/{entry.name}", target, None, MS_BIND | MS_REC, None)


def _bind(fd: int, target: str) -> None:
    _mount(f"/proc/self/fd/{fd}", target, None, MS_BIND | MS_REC, None)


def _remount_read_only(folder: str) -> None:
    """Make one mount unwritable, with the flags it has: a user namespace may not take those away."""
    flags = os.statvfs(folder).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
    _mount("none", folder, None, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, None)


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None) -> None:
    words = [word.encode() if word is not None else None for word in (source, target, kind, options)]
    result = _libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3])
    _check(result, f"mounting {target}")


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
