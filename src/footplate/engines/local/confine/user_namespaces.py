"""User namespaces: one per user, shared by all tasks of that user.

Where the server is root, a person's namespace has a range of host accounts of its own, in which the tasks are
root; outside of it they are accounts that nobody else has. Runs in the spawner and its children.
"""

# Without pathlib this process starts sooner and stays smaller.
# ruff: noqa: PTH115, PTH123
from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterable
from typing import TYPE_CHECKING

from footplate.engines.local.confine import kernel

if TYPE_CHECKING:
    # Not for the process itself, which is to start soon and stay small.
    from footplate.engines.local.exchange import Account


# Tasks that run on keep a namespace that is forgotten here.
MOST_PEOPLE = 256
# What root may do over its own files and processes in an ordinary container: chown, dac_override, fowner,
# fsetid, kill, setgid, setuid, setpcap, net_bind_service, net_raw, ipc_lock, sys_chroot, sys_nice,
# sys_resource, audit_write, setfcap. All of it within the namespace only.
KEPT_CAPABILITIES = frozenset({0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 14, 18, 23, 24, 29, 31})
MAX_CAPABILITY = 63


def mask_of(capabilities: Iterable[int]) -> int:
    return sum(1 << number for number in capabilities)


class People:
    """One user namespace an account, made when the first task of that account starts."""

    def __init__(self) -> None:
        self._by_account: dict[int, int] = {}

    def namespace_of(self, account: Account) -> int:
        """Open the namespace of a person's tasks."""
        key = id_outside(account)
        if key not in self._by_account:
            if len(self._by_account) >= MOST_PEOPLE:
                os.close(self._by_account.pop(next(iter(self._by_account))))
            self._by_account[key] = make_namespace(*maps_of(account), owner=ids_outside(account))
        return self._by_account[key]


def id_outside(account: Account) -> int:
    """Say which host account a task's own files have."""
    uid: int = account["first"] if "first" in account else account["uid"]
    return uid


def group_outside(account: Account) -> int:
    gid: int = account["first"] if "first" in account else account["gid"]
    return gid


def ids_outside(account: Account) -> tuple[int, int]:
    return id_outside(account), group_outside(account)


def inner_ids(account: Account) -> tuple[int, int, list[int]]:
    """Say which account and groups a task has in its person's namespace."""
    if "first" in account:
        return 0, 0, []
    return account["uid"], account["gid"], account["groups"]


def maps_of(account: Account) -> tuple[str, str]:
    """Write what accounts and groups inside are outside, as `uid_map` and `gid_map` are written."""
    if "first" in account:
        both = f"0 {account['first']} {account['n']}\n"
        return both, both
    groups = sorted({account["gid"], *account["groups"]})
    return f"{account['uid']} {account['uid']} 1\n", "".join(f"{gid} {gid} 1\n" for gid in groups)


def make_namespace(uid_map: str, gid_map: str, owner: tuple[int, int] | None = None) -> int:
    """Make a user namespace with these accounts; return a descriptor of it.

    The kernel counts some of what is used in a namespace, such as watches of files, for its owner too. If
    that were root, the tasks of one person could use up what root and everybody else has.
    """
    if owner is not None:
        # A root with fewer powers may not look into what is not its own.
        with contextlib.suppress(OSError):
            return _make_namespace(uid_map, gid_map, owner)
    return _make_namespace(uid_map, gid_map, None)


def _make_namespace(uid_map: str, gid_map: str, owner: tuple[int, int] | None) -> int:
    told_fd, child_fd = os.pipe()
    waits_fd, go_fd = os.pipe()
    pid = os.fork()
    if pid == 0:
        _stand_in(child_fd, waits_fd, go_fd, owner)
    os.close(child_fd)
    os.close(waits_fd)
    try:
        # By its own word: this process may count its children otherwise than the /proc that it sees.
        child = os.read(told_fd, 32).decode()
        if not child:
            raise OSError("the kernel gives no user namespace")
        for kind, text in (("uid_map", uid_map), ("gid_map", gid_map)):
            with open(f"/proc/{child}/{kind}", "w") as file:
                file.write(text)
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY)
    finally:
        os.close(told_fd)
        os.close(go_fd)
        # Where the kernel does not reap by itself.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _stand_in(child_fd: int, waits_fd: int, go_fd: int, owner: tuple[int, int] | None) -> None:
    """Be in a new namespace for as long as it takes to open it; never return."""
    try:
        os.close(go_fd)
        if owner is not None:
            # With root's powers: machines may keep namespaces from others.
            kernel.prctl(kernel.PR_SET_SECUREBITS, kernel.SECBIT_NO_SETUID_FIXUP)
            os.setresgid(owner[1], owner[1], owner[1])
            os.setresuid(owner[0], owner[0], owner[0])
        kernel.unshare(kernel.CLONE_NEWUSER)
        os.write(child_fd, os.readlink("/proc/self").encode())
        os.read(waits_fd, 1)
    finally:
        os._exit(0)


def join(namespace_fd: int, account: Account) -> None:
    """Become somebody's account for good, with no more of root's powers than tasks may have."""
    _unlock_memory()
    kernel.setns(namespace_fd, kernel.CLONE_NEWUSER)
    uid, gid, groups = inner_ids(account)
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    drop_powers()
    os.setresuid(uid, uid, uid)


def drop_powers() -> None:
    """Give up, for all programs that are executed from here on, what a task has no use for."""
    for number in range(MAX_CAPABILITY + 1):
        # Beyond the last one that the kernel knows there are none.
        if number not in KEPT_CAPABILITIES and not kernel.drop_from_bounding_set(number):
            break


def _unlock_memory() -> None:
    """Let tasks lock memory, by which network cards read it: a right of root's that is lost otherwise."""
    unlimited = resource.RLIM_INFINITY
    _, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    try:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (unlimited, unlimited))
    except ValueError:
        # A root whose own powers are fewer.
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (hard, hard))
