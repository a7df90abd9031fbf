"""Names and labels of containers, derived from the task, so that a container can be found again."""

from __future__ import annotations

from collections.abc import Mapping

from footplate.engines.local.containers.api import Document
from footplate.engines.local.observe.watches import TaskKey

HOME = "footplate.home"
ATTEMPT = "footplate.attempt"
TASK = "footplate.task"
RUN = "footplate.run"
# What the ids of builds begin with; those of attempts begin with a job's id.
BUILD = "environment-"


def container_name(key: TaskKey) -> str:
    """Name the one container that a run of a task may ever have: a second one cannot be created."""
    return f"footplate-{key.attempt_id}-{key.role}-{key.index}-{key.run}"


def labels(key: TaskKey, home: str) -> Mapping[str, str]:
    return {HOME: home, ATTEMPT: key.attempt_id, TASK: key.task, RUN: str(key.run)}


def is_building(container: Document) -> bool:
    """Tell whether a listed container builds an environment now; whoever waits for that removes it."""
    is_build: bool = container["Labels"].get(ATTEMPT, "").startswith(BUILD)
    return is_build and container.get("State") == "running"
