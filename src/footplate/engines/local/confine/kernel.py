"""System calls that Python does not wrap: namespaces, mounts, capabilities, system-call filters.

Runs in the spawner and its children: standard library only, nothing slow to import.
"""

from __future__ import annotations

import ctypes
import os

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWIPC = 0x00020000, 0x02000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID = 0x10000000, 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_SLAVE = 32, 4096, 16384, 1 << 19
MNT_DETACH = 2
MOUNT_ATTR_RDONLY, MOUNT_ATTR_IDMAP = 0x1, 0x00100000
AT_FDCWD, AT_EMPTY_PATH, AT_RECURSIVE = -100, 0x1000, 0x8000
OPEN_TREE_CLONE = 1
MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_SYMLINKS = 0x04, 0x10
# These are the same on all machines.
SYS_OPEN_TREE, SYS_MOVE_MOUNT, SYS_MOUNT_SETATTR = 428, 429, 442
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 22, 24
PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP = 28, 0x4
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
SECCOMP_MODE_FILTER = 2

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("n_instructions", ctypes.c_ushort), ("first", ctypes.c_char_p))


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), "unshare")


def setns(fd: int, flags: int = 0) -> None:
    _check(_libc.setns(fd, flags), "setns")


def prctl(number: int, *arguments: int) -> None:
    words = [ctypes.c_ulong(argument) for argument in (*arguments, 0, 0, 0, 0)[:4]]
    _check(_libc.prctl(number, *words), "prctl")


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [word.encode() if word is not None else None for word in (source, target, kind, options)]
    result = _libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3])
    _check(result, f"mounting {target}")


def unmount(target: str, flags: int = MNT_DETACH) -> None:
    _check(_libc.umount2(target.encode(), flags), f"unmounting {target}")


def pivot_root(new: str, old: str) -> None:
    number = SYS_PIVOT_ROOT[os.uname().machine]
    _check(_libc.syscall(number, new.encode(), old.encode()), "pivot_root")


def set_mount_attributes(fd: int, path: str, flags: int, attributes: int, namespace_fd: int = 0) -> None:
    """Change mounts: `attributes` are set, and owners of files mapped as in a user namespace where asked."""
    words = (ctypes.c_uint64 * 4)(attributes, 0, 0, namespace_fd)
    arguments = (fd, path.encode(), flags, ctypes.byref(words), ctypes.c_size_t(ctypes.sizeof(words)))
    _check(_libc.syscall(SYS_MOUNT_SETATTR, *arguments), f"changing the mount {path}")


def clone_tree(fd: int) -> int:
    """Copy the mounts below an open place, attached to nothing yet."""
    flags = OPEN_TREE_CLONE | AT_RECURSIVE | AT_EMPTY_PATH | os.O_CLOEXEC
    tree: int = _libc.syscall(SYS_OPEN_TREE, fd, b"", flags)
    _check(tree, "open_tree")
    return tree


def attach_tree(tree: int, target: str) -> None:
    flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS
    arguments = (tree, b"", AT_FDCWD, target.encode(), flags)
    _check(_libc.syscall(SYS_MOVE_MOUNT, *arguments), f"mounting {target}")


def drop_from_bounding_set(capability: int) -> bool:
    """Give a capability up for good; False beyond the last one that the kernel knows."""
    return bool(_libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) >= 0)


def set_filter(program: bytes) -> None:
    """Have the kernel refuse what a BPF program refuses, to this process and all its children."""
    whole = _Program(len(program) // 8, program)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    _check(_libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(whole), 0, 0), "seccomp")


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
