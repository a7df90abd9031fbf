"""Lets programs in tasks speak to this server where they name a cloud that it stands in for.

Only in jobs that came from such a cloud's client: whoever submits a job to Footplate itself and names a host
of a cloud in it means that host.
"""

from __future__ import annotations

from functools import cache

from footplate.domain.spec import JobSpec, RoleSpec
from footplate.engines.taskenv.gang import Environment, Gang
from footplate.runtime import redirection

# How the jobs of these clients are marked, in their extras.
MARKS = ("tione", "uai")
FOLDER = "redirect"


def is_redirected(spec: JobSpec) -> bool:
    return any(mark in spec.extras for mark in MARKS)


def files(gang: Gang) -> dict[str, str]:
    """What Python runs at its start, by paths among the files of the attempt."""
    return _files() if is_redirected(gang.plan.spec) else {}


@cache
def _files() -> dict[str, str]:
    return {f"{FOLDER}/{name}": text for name, text in redirection.files().items()}


def role(gang: Gang, role: RoleSpec) -> Environment:
    """Put the module before what a user has on the path of Python."""
    spec = gang.plan.spec
    if not is_redirected(spec):
        return {}
    given = {**spec.env, **role.env}.get("PYTHONPATH", "")
    folder = f"{gang.shared_paths.strategy}/{FOLDER}"
    return {"PYTHONPATH": redirection.path_with(folder, given)}
