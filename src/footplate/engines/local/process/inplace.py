"""Starts a task from within the spawner: no copy of this process has to be made and taken down for it.

The spawner itself enters the view of the task, starts `footplate-init` there as the first process of a new
PID namespace, and goes back. Only for root, and only where nothing can hang that is not the platform's own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from footplate.engines.local.confine import mounting
from footplate.engines.local.process import becoming, steps
from footplate.engines.local.process.ground import Ground

if TYPE_CHECKING:
    # Not for the process itself, which is to start soon and stay small.
    from footplate.engines.local.exchange import TaskOrder


# More tasks than these are begun by processes of their own, on as many processors as there are.
MOST_TASKS = 4


def can_start(task: TaskOrder, n_tasks: int, ground: Ground) -> bool:
    if not ground.native or ground.view != "root" or n_tasks > MOST_TASKS:
        return False
    view = task["view"]
    if view is None or "of" in view or view["mounts"]:
        return False
    return not task["joins"] and "streams" not in task


def start(task: TaskOrder, env: dict[str, str], ground: Ground, news_fd: int) -> int:
    """Start a task; return the number of its process, which tells through `news_fd` what became of it."""
    view = task["view"]
    assert view is not None
    assert "of" not in view
    with contextlib.ExitStack() as opened:
        becoming.make_folders(task)
        records_fd = _held(opened, os.open(task["folder"], os.O_PATH | os.O_DIRECTORY))
        log_fd = _held(opened, becoming.open_log(task))
        order = steps.begin(task, env, ground, records_fd)
        order_fd = _held(opened, order.write())
        lent = [(log_fd, 1), (log_fd, 2), (order_fd, steps.ORDER_FD), (news_fd, steps.NEWS_FD), *order.lent()]
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            *((os.POSIX_SPAWN_DUP2, fd, number) for fd, number in lent),
        ]
        with _elsewhere(ground):
            mounting.enter_view(view, has_common=True)
            os.chdir(task["work_folder"])
            known_by = steps.environment(task, env)
            return os.posix_spawn(ground.native, [steps.NAME], known_by, file_actions=actions)


def _held(opened: contextlib.ExitStack, fd: int) -> int:
    opened.callback(os.close, fd)
    return fd


@contextlib.contextmanager
def _elsewhere(ground: Ground) -> Iterator[None]:
    """Be in new namespaces for a while."""
    ground.leave()
    try:
        yield
    finally:
        ground.come_back()
