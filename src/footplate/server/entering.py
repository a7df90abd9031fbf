"""Switches a service that systemd started as root to its account, in a control group of its own.

Where control groups are of v2, a group that hands on controllers may hold no process itself. systemd before
254 starts a service in the group of its unit and nowhere else; while tasks of an earlier start are still in
groups below that one, the kernel refuses. So each start takes a new group beside the units, which stays as
long as its tasks do.
"""

from __future__ import annotations

import logging
import os
import pwd
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from footplate.domain.errors import InvalidInput

log = logging.getLogger(__name__)

TOP = Path("/sys/fs/cgroup")
SERVERS = "footplate-servers"
WANTED = ("cpu", "memory", "pids", "io")
# What the kernel says may be given to whom a group is delegated.
GIVEN = ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads")


def become(account: str) -> None:
    """Give up root's rights for those of an account; raise `InvalidInput` when that cannot be."""
    if os.geteuid() != 0:
        raise InvalidInput("account_needs_root", "--account")
    try:
        entry = pwd.getpwnam(account)
    except KeyError:
        raise InvalidInput("account_unknown", "--account", account=account) from None
    try:
        take_group(entry.pw_uid, entry.pw_gid)
    except OSError as error:
        log.warning("no control group of its own for this server: %s", error)
    os.initgroups(account, entry.pw_gid)
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)
    os.environ.update(HOME=entry.pw_dir, USER=account, LOGNAME=account)


def take_group(uid: int, gid: int, top: Path = TOP, wanted: Sequence[str] = WANTED) -> Path | None:
    """Move this process into a new group, given to an account; None where groups are not of v2."""
    if not (top / "cgroup.controllers").exists():
        return None
    servers = top / SERVERS
    servers.mkdir(exist_ok=True)
    for folder in (top, servers):
        for controller in wanted:
            # One that the kernel does not have is told by whoever needs it.
            with suppress(OSError):
                (folder / "cgroup.subtree_control").write_text(f"+{controller}")
    _tidy(servers)
    mine = servers / f"server-{os.getpid()}"
    mine.mkdir(exist_ok=True)
    (mine / "cgroup.procs").write_text(str(os.getpid()))
    for path in (mine, *(mine / name for name in GIVEN)):
        with suppress(FileNotFoundError):
            os.chown(path, uid, gid)
    return mine


def _tidy(servers: Path) -> None:
    """Remove the groups of earlier starts in which nothing runs any more."""
    for group in servers.glob("server-*"):
        with suppress(OSError):
            if not re.search(r"^populated 1$", (group / "cgroup.events").read_text(), re.MULTILINE):
                for folder, _, _ in os.walk(group, topdown=False):
                    Path(folder).rmdir()
