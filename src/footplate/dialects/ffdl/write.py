"""Writes a job as a manifest of FfDL or Prophecis, as far as one can say it."""

from __future__ import annotations

import shlex
from typing import Any

import yaml

from footplate.dialects.ffdl.manifest import FFDL, PROPHECIS
from footplate.dialects.losses import losses
from footplate.dialects.translation import Written
from footplate.domain.errors import InvalidInput
from footplate.domain.interpolate import resolve
from footplate.domain.messages import Message, say
from footplate.domain.resources import MIB
from footplate.domain.spec import JobSpec, RoleSpec

SOME_IMAGE = "python:3.11"
# One that is asked for and has nothing in it: manifests must name data.
NO_DATA = "data"
_SAID = frozenset({"name", "description", "image", "env", "parameters", "roles", "code", "extras", "model"})
_SAID_OF_ROLE = frozenset({"name", "command", "count", "cpus", "memory", "gpus", "gpu_type", "image", "env"})


def write_ffdl(spec: JobSpec) -> Written:
    """Write a manifest of FfDL; raise `InvalidInput` for a job of several roles, which none can say."""
    document, lost = _manifest(spec, FFDL)
    return _written(document, [*losses(spec, _SAID - {"model"}, _SAID_OF_ROLE), *lost])


def write_prophecis(spec: JobSpec) -> Written:
    """Write a manifest of Prophecis; raise `InvalidInput` for several roles or learners."""
    document, lost = _manifest(spec, PROPHECIS)
    if spec.roles[0].count > 1:
        # Its only job of many learners is one of TensorFlow.
        raise InvalidInput("ffdl_learners_alone", "roles[0].count")
    document |= {"namespace": spec.queue, "code_selector": "codeFile"}
    if spec.model is not None:
        document["mf_model"] = {"model_name": spec.model.name}
    return _written(document, [*losses(spec, _SAID | {"queue"}, _SAID_OF_ROLE), *lost])


def _written(document: dict[str, Any], lost: list[Message]) -> Written:
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return Written(text, tuple(lost))


def _manifest(spec: JobSpec, dialect: str) -> tuple[dict[str, Any], list[Message]]:
    if len(spec.roles) > 1:
        raise InvalidInput("roles_inexpressible_there", "roles", n=len(spec.roles))
    (role,), lost = spec.roles, []
    image = role.image or spec.image
    if not image:
        lost.append(say("image_needed", image=SOME_IMAGE))
    if spec.code is not None:
        lost.append(say("code_stays_here"))
    document: dict[str, Any] = {"name": spec.name}
    if spec.description:
        document["description"] = spec.description
    document |= {
        "version": "1.0",
        "cpus": role.milli_cpus / 1000 or 0.001,
        "gpus": role.gpus,
        "memory": f"{max(1, -(-role.memory_bytes // MIB))}{'MiB' if dialect == FFDL else 'Mib'}",
        "learners": role.count,
    }
    if role.gpu_type:
        document["gpu_type"] = role.gpu_type
    lost.append(say("ffdl_data_to_fill", container=NO_DATA))
    document["data_stores"] = [
        {
            "id": "store",
            "type": "mount_volume",
            "training_data": {"container": NO_DATA},
            "training_results": {"container": "results"},
            "connection": {"type": "host_mount", "name": "host-mount", "path": "/data"},
        }
    ]
    document["framework"] = _framework(spec, role, image or SOME_IMAGE)
    return document, lost


def _framework(spec: JobSpec, role: RoleSpec, image: str) -> dict[str, str]:
    name, colon, version = image.rpartition(":")
    # A colon before a slash is that of a port, and what has a digest has no version.
    is_tagged = bool(colon) and "/" not in version and "@" not in name
    named = {"name": name, "version": version} if is_tagged else {"name": "custom", "version": image}
    return {**named, "command": _command(spec, role)}


def _command(spec: JobSpec, role: RoleSpec) -> str:
    """One line: newlines become blanks there."""
    exports = [
        f"export {name}={shlex.quote(resolve(value, spec.parameters))}"
        for name, value in {**spec.env, **role.env}.items()
    ]
    command = resolve(role.command, spec.parameters)
    if "\n" in command.strip():
        escaped = command.strip().replace("\\", "\\\\").replace("\n", "\\n")
        command = f'bash -c "$(printf %b {shlex.quote(escaped)})"'
    return "; ".join([*exports, command.strip()])
