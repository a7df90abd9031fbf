"""The view of a task, that is, which files it sees: its own job, its mounts, its own `/tmp`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from footplate.engines.local.confine.targets import TMP, VAR_TMP, is_below
from footplate.engines.local.exchange import ProcessRequest, ProcessTask, View


# Without slots: each launch asks for what can be derived from them.
@dataclass(frozen=True)
class ViewRules:
    """What the views of one server's tasks have in common.

    `home` is hidden but for the task's own job; `closed` folders are, such as that of the server's account.
    `keeps` stay visible wherever they lie; `sealed` are trees that tasks can only read. Paths are without
    links. `how` says by which right views are made, `has_pids` whether each task has processes of its own,
    `has_accounts` whether each person has accounts of their own.
    """

    how: Literal["root", "user"] = "root"
    home: str = ""
    keeps: tuple[str, ...] = ()
    sealed: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    has_pids: bool = False
    has_accounts: bool = False
    # The Python that tasks find first, below the home; empty where they have the server's own.
    python: str = ""

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        homes = (self.home,) if self.home else ()
        return (TMP, VAR_TMP, *homes, *self.closed)

    @cached_property
    def covers(self) -> tuple[str, ...]:
        """Name the folders in whose place a task sees an empty one."""
        return tuple(path for path in outermost(self.hidden) if path not in (TMP, VAR_TMP))

    @cached_property
    def common_covers(self) -> tuple[str, ...]:
        """Name those that are made once for all tasks: nothing of a single job lies there."""
        if self.how != "root":
            return ()
        return tuple(path for path in self.covers if self.home != path and not is_below(self.home, (path,)))

    @cached_property
    def common_keeps(self) -> tuple[str, ...]:
        return tuple(path for path in outermost(self.keeps) if is_below(path, self.common_covers))

    @cached_property
    def own(self) -> tuple[str, ...]:
        """Name the folders of the platform itself: its files, and the programs that it runs by."""
        return (self.home, *self.keeps) if self.home else self.keeps


def compose(
    rules: ViewRules,
    request: ProcessRequest,
    task: ProcessTask,
    masks: Sequence[str],
    cards: Sequence[str] = (),
) -> View:
    """Describe one task's view the way `mounting.enter_view` reads it."""
    hidden = rules.hidden
    mounts = [(one["source"], one["inner"], one["target"], one["read_only"]) for one in request["mounts"]]
    own = job_folders(request, rules.home)
    keeps = [*own, *rules.keeps, *([request["person_folder"]] if request["person_folder"] else [])]
    # What the queue's settings say or the platform has built, never a variable: a job could name any folder.
    environments = [task["environment"]] if task["environment"] else []
    keeps += environments
    if rules.python:
        keeps.append(rules.python)
    kept = outermost(path for path in keeps if is_below(path, hidden))
    # A mount may be put into any of them; else only those are made anew of which more is to be seen.
    common = [
        cover
        for cover in rules.common_covers
        if not mounts and all(path in rules.common_keeps for path in kept if is_below(path, (cover,)))
    ]
    covers = [path for path in rules.covers if path not in common]
    return {
        "tmp": tmp_folder(task),
        "covers": covers,
        "uncovers": [path for path in covers if path in rules.common_covers],
        "keeps": [path for path in kept if not is_below(path, common)],
        # Where tasks run as the server's own account, their records are kept from them by mounts alone.
        # What was built for a person is theirs, and shared by their tasks.
        "unwritable": [
            path
            for path in kept
            if path in environments or (path in (*own, rules.python) and not rules.has_accounts)
        ],
        "writable": [] if rules.has_accounts else given_folders(request, task),
        "mounts": mounts,
        "hidden": list(hidden),
        "own": list(rules.own),
        # The job's own folders may lie wherever the platform put them.
        "free": list(request["folders"]),
        "masks": list(masks),
        "devices": list(cards),
        "account": None,
        "shm_bytes": task["shm_bytes"],
    }


def given_folders(request: ProcessRequest, task: ProcessTask) -> list[str]:
    """Name the folders of a job that a task may write to."""
    code = [] if request["code_is_read_only"] else [task["work_folder"]]
    return [*code, *request["writable"]]


def tmp_folder(task: ProcessTask) -> str:
    return f"{task['folder']}/tmp"  # noqa: S108  # in the task's own folder


def job_folders(request: ProcessRequest, home: str) -> list[str]:
    """Name the folders of the request's job: the one around all of them, where it holds nothing else."""
    folders = [request["folder"], *request["folders"]]
    around = {folder.rpartition("/")[0] for folder in folders}
    if home and len(folders) > 1 and len(around) == 1 and is_below(min(around), (f"{home}/jobs",)):
        return list(around)
    return folders


def outermost(paths: Iterable[str]) -> list[str]:
    """Leave out doubles and what lies within another of the paths."""
    unique = list(dict.fromkeys(paths))
    return [path for path in unique if not is_below(path, unique)]
