"""Puts the programs of a task's environment before those of its image."""

from __future__ import annotations

from footplate.engines.local.containers.api import Document
from footplate.engines.local.environments.ownpython import USER_BASE
from footplate.engines.local.exchange import LocalTask

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def is_entered(task: LocalTask) -> bool:
    """Tell whether a task has an environment, and the image says what follows it in the path."""
    return "VIRTUAL_ENV" in task["env"] and "PATH" not in task["env"]


def enter(task: LocalTask, image: Document | None) -> LocalTask:
    """Complete the path of a task; what it installs itself goes to a place of its own."""
    if not is_entered(task):
        return task
    env, path = task["env"], _path_of(image)
    own = {"PATH": f"{env['VIRTUAL_ENV']}/bin:{USER_BASE}/bin:{path}", "PYTHONUSERBASE": USER_BASE}
    return {**task, "env": {**own, **env}}


def _path_of(image: Document | None) -> str:
    variables = (image or {}).get("Config", {}).get("Env") or []
    paths = [one.removeprefix("PATH=") for one in variables if one.startswith("PATH=")]
    return paths[-1] if paths else DEFAULT_PATH
