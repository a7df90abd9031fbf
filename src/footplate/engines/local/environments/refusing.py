"""Why the packages of a job can never be installed on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from footplate.domain.errors import EngineRejected, Problem, problem
from footplate.domain.spec import EnvironmentSpec, JobSpec
from footplate.engines.local.confine.targets import is_below
from footplate.engines.local.environments.recipe import find_conda, find_uv
from footplate.engines.local.exchange import LocalRequest


def refuses_packages(spec: JobSpec, environments: Mapping[str, str]) -> Problem | None:
    """Say why a job's environment cannot be built here; None when it can, or when it exists."""
    asked = spec.environment
    if asked is None or asked.path:
        return None
    images = [role.image or spec.image for role in spec.roles]
    in_image = [bool(image) and image not in environments for image in images]
    if any(in_image) and asked.conda:
        return problem("environment.conda", "conda_in_image")
    if any(in_image) and asked.python:
        return problem("environment.python", "python_in_image")
    if all(in_image) and asked.requirements:
        # By the pip of the image, or ours.
        return None
    return _without_tool(asked)


def _without_tool(asked: EnvironmentSpec) -> Problem | None:
    if asked.conda:
        return None if find_conda() else problem("environment.conda", "no_conda")
    return None if find_uv() else problem("environment", "no_uv")


def refuse_missing(request: LocalRequest, hidden: Sequence[str]) -> None:
    """Raise `EngineRejected` for an existing environment that the tasks of this machine would not find."""
    folder = request["environment_path"]
    mounted = [mount["target"] for mount in request["mounts"]]
    if not folder or is_below(folder, mounted) or all(task["in_container"] for task in request["tasks"]):
        # What is mounted, or in an image, is not to be seen from here.
        return
    if is_below(folder, hidden) or not Path(folder, "bin", "python").exists():
        raise EngineRejected("environment_path_missing", folder=folder)
