"""Decides whether a task runs in a container, or in the local environment that its image is mapped to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from footplate.domain.cluster import TaskPlacement
from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.domain.messages import Message
from footplate.engines.base import LaunchPlan
from footplate.engines.local.exchange import ChosenRuntime, LocalRequest

WhyNone = Callable[[], Message | None]


def choose(plan: LaunchPlan, task: TaskPlacement) -> ChosenRuntime:
    """Write what a request says of a task's image and of what only its container needs to know."""
    image = plan.spec.role(task.role).image or plan.spec.image
    environment = plan.environments.get(image)
    return {
        "image": image,
        "environment": environment,
        "in_container": bool(image) and environment is None,
        "image_credentials": plan.spec.image_credentials,
        "keep": plan.spec.keep_on_failure_s is not None,
        "address": task.address,
        "ports": [port for _, numbers in task.ports for port in numbers],
    }


def enter(
    environment: str | None, env: Mapping[str, str], inherited: Mapping[str, str], *, is_conda: bool = False
) -> dict[str, str]:
    """Write a task's variables so that the programs of its environment come first.

    In a container only the image knows the rest of the path: `containers/entering.py` completes it.
    """
    if environment is None:
        return dict(env)
    # What conda installs looks for its own files there.
    conda = {"CONDA_PREFIX": environment} if is_conda else {}
    entered = {**conda, **env, "VIRTUAL_ENV": environment}
    path = env.get("PATH") or inherited.get("PATH")
    return {**entered, "PATH": f"{environment}/bin:{path}"} if path else entered


def refuse(request: LocalRequest, why_none: WhyNone) -> None:
    """Raise `EngineUnavailable` while there is no engine for an image, which was there at the submit.

    Raise `EngineRejected` for an image whose stand-in is not there.
    """
    for task in request["tasks"]:
        if task["in_container"] and (why := why_none()):
            raise EngineUnavailable("image_without_engine", role=task["role"], image=task["image"], why=why)
        if task["environment"] is not None and not Path(task["environment"]).is_dir():
            raise EngineRejected("environment_gone", folder=task["environment"], image=task["image"])
