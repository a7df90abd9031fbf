"""What `footplate-init` does for one task, step by step, and the descriptors that it needs for that.

`init.c` says what each step is; which ones there are, and in which order, is decided here. It is the order of
`becoming.py`: what needs the server's rights comes first. Runs in the spawner and its children.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from footplate.engines.local.confine import kernel, user_namespaces
from footplate.engines.local.process.ground import FIRST_OWN_FD, Ground

if TYPE_CHECKING:
    # Not for the process itself, which is to start soon and stay small.
    from footplate.engines.local.exchange import TaskOrder


NAME = "footplate-init"
ORDER_FD, NEWS_FD, FIRST_LENT_FD = 3, 4, 5
# What may be in the program's own environment: the C library obeys other variables, and it may be root's.
# The names tell whose it is; the cards are read from there when their use is (`observe/usage.py`).
SAFE = ("FOOTPLATE_", "NVIDIA_VISIBLE_DEVICES")


class Order:
    """Steps as the program reads them; what is lent to it gets a number that it knows."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._lent: list[int] = []

    def add(self, step: str, *arguments: str | int) -> None:
        self._words += [step, str(len(arguments)), *map(str, arguments)]

    def lend(self, fd: int) -> int:
        """Say under which number the program finds a descriptor of ours."""
        number = FIRST_LENT_FD + len(self._lent)
        if number >= FIRST_OWN_FD:
            raise OSError(errno.EMFILE, "a task needs too many descriptors")
        self._lent.append(fd)
        return number

    def lent(self) -> Iterable[tuple[int, int]]:
        """Go through what is lent: our number, the program's."""
        return ((fd, number) for number, fd in enumerate(self._lent, FIRST_LENT_FD))

    def write(self) -> int:
        """Put the steps into memory that a descriptor stands for."""
        text = "\0".join(self._words)
        if text.count("\0") != len(self._words) - 1:
            # It would be taken for the beginning of another word, even of another step.
            raise OSError(errno.EINVAL, "a variable or a word of the command has a zero byte")
        data = os.fsencode(text) + b"\0"
        fd = os.memfd_create(NAME)
        try:
            while data:
                data = data[os.write(fd, data) :]
        except OSError:
            os.close(fd)
            raise
        return fd


def begin(task: TaskOrder, env: Mapping[str, str], ground: Ground, records_fd: int) -> Order:
    """Have a task begun by the program itself, once its folders and its view are there."""
    order = Order()
    order.add("session")
    order.add("oom_score", ground.oom_score.decode())
    if not ground.has_pids:
        order.add("adopt")
    order.add("identify")
    for place, settings in task["groups"]:
        entry = (order.lend(ground.places[place]), ground.entry[place])
        order.add("group", *entry, *(word for setting in settings for word in setting))
    if ground.has_pids:
        for mount in ground.proc.mounts:
            order.add("mount", *mount)
    order.add("claim", order.lend(records_fd), ground.boot_id)
    if task["account"] is not None:
        # No other account can look into what watches over the task, and say so in its place.
        order.add("ends", order.lend(ground.ends_fd))
    # As late as can be: what was used until now is not the task's.
    order.add("enter")
    for place, _ in task["groups"]:
        if place in ground.tops:
            order.add("show", place, ground.tops[place])
    order.add("unshare", kernel.CLONE_NEWCGROUP)
    _give_up_rights(order, task, ground)
    _run(order, task, env, ground.counters(task, ""))
    return order


def watch(task: TaskOrder, env: Mapping[str, str], counters: Iterable[str]) -> Order:
    """Have the program run the command of a task that this process has become already."""
    order = Order()
    order.add("record", order.lend(task["exit_fd"]))
    _run(order, task, env, counters)
    return order


def _give_up_rights(order: Order, task: TaskOrder, ground: Ground) -> None:
    if task["data_bytes"] is not None:
        order.add("limit_data", task["data_bytes"])
    kept = user_namespaces.mask_of(user_namespaces.KEPT_CAPABILITIES)
    if (account := task["account"]) is not None:
        uid, gid, groups = user_namespaces.inner_ids(account)
        order.add("unlock_memory")
        order.add("user", order.lend(task["people_fd"]))
        order.add("groups", *groups)
        order.add("gid", gid)
        order.add("bound", kept)
        order.add("uid", uid)
        order.add("powers", kept if uid == 0 else 0)
    elif os.geteuid() == 0:
        order.add("bound", kept)
        order.add("powers", kept)
    if ground.filter:
        order.add("filter", order.lend(ground.filter_fd))


def _run(order: Order, task: TaskOrder, env: Mapping[str, str], counters: Iterable[str]) -> None:
    order.add("counters", *counters)
    order.add("environment", *(f"{name}={value}" for name, value in {**env, **task["env"]}.items()))
    if words := task.get("words"):
        order.add("words", *words)
    order.add("run", *task["argv"])


def environment(task: TaskOrder, env: Mapping[str, str]) -> dict[str, str]:
    """Pick the variables by which the processes of a task are known, for the program itself."""
    return {name: value for name, value in {**env, **task["env"]}.items() if name.startswith(SAFE)}
