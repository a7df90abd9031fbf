"""Tests in a separate process what the kernel allows; it fails where something is refused."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from footplate.engines.local.confine import (
    kernel,
    kernelfiles,
    mounting,
    ownership,
    syscall_filter,
    user_namespaces,
)

if TYPE_CHECKING:
    # Not for the process itself, which is to start soon and stay small.
    from footplate.engines.local.exchange import AccountRange, View

FIRST_ID = 0x78000000
NOTHING: View = {
    "tmp": "",
    "shm_bytes": 65536,
    "covers": [],
    "uncovers": [],
    "keeps": [],
    "mounts": [],
    "hidden": [],
    "own": [],
    "free": [],
    "masks": [],
    "unwritable": [],
    "writable": [],
    "devices": [],
    "account": None,
}


def main(asked: dict[str, Any]) -> None:
    if asked["how"] == "user":
        mounting.leave_user_namespace([])
    else:
        mounting.prepare([], [], [])
    if asked["what"] == "pids":
        _try_pids(asked)
    elif asked["what"] == "accounts":
        _try_accounts(asked)
    else:
        _try_view(asked)


def _try_view(asked: dict[str, Any]) -> None:
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC)
    view: View = {**NOTHING, "tmp": asked["tmp"]}
    mounting.enter_view(view, has_common=asked["how"] == "root")


def _try_accounts(asked: dict[str, Any]) -> None:
    account: AccountRange = {"first": asked["first"], "n": 65536}
    user_namespaces.join(user_namespaces.make_namespace(*user_namespaces.maps_of(account)), account)


def _try_pids(asked: dict[str, Any]) -> None:
    kernel.unshare(kernel.CLONE_NEWPID)
    child = os.fork()
    if child == 0:
        _try_view(asked)
        kernelfiles.Proc().make()
        kernel.unshare(kernel.CLONE_NEWCGROUP)
        if syscall_filter.is_known():
            kernel.set_filter(syscall_filter.build())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    # The child has said why.
    sys.exit(os.waitstatus_to_exitcode(status))


def try_mapping(folder: str) -> None:
    """Try to show a folder with other owners than on disk; raise `OSError` where that cannot be."""
    mounting.prepare([], [], [])
    fd = os.open(folder, os.O_PATH)
    os.close(ownership.mapped(fd, f"0 {FIRST_ID} 1\n", f"0 {FIRST_ID} 1\n"))
