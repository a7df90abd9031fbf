"""Writes a job as a manifest of FfDL or Prophecis, as far as one can say it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import yaml

from footplate.dialects.ffdl.alerts import write_alerts
from footplate.dialects.ffdl.manifest import FFDL, PROPHECIS, SERVER, WORKER
from footplate.dialects.losses import losses
from footplate.dialects.translation import DATA_PATH, MANIFEST_FOLDERS, Written
from footplate.domain.errors import InvalidInput
from footplate.domain.interpolate import resolve
from footplate.domain.messages import Message, say
from footplate.domain.resources import GIB, MIB
from footplate.domain.spec import JobSpec, RoleSpec

SOME_IMAGE = "python:3.11"
# One that is asked for and has nothing in it: manifests must name data.
NO_DATA = "data"
_SAID = frozenset({"name", "description", "image", "env", "parameters", "roles", "code", "extras", "model"})
_SAID_OF_ROLE = frozenset({"name", "command", "count", "cpus", "memory", "gpus", "gpu_type", "image", "env"})


def write_ffdl(spec: JobSpec) -> Written:
    """Write a manifest of FfDL; raise `InvalidInput` for a job of several roles, which none can say."""
    if len(spec.roles) > 1:
        raise InvalidInput("roles_inexpressible_there", "roles", n=len(spec.roles))
    document, lost = _manifest(spec, spec.roles[0], FFDL)
    return _written(document, [*losses(spec, _SAID - {"model"}, _SAID_OF_ROLE), *lost])


def write_prophecis(spec: JobSpec) -> Written:
    """Write a manifest of Prophecis; raise `InvalidInput` for roles or learners that none can say."""
    workers, servers = _of_tensorflow(spec)
    document, lost = _manifest(spec, workers, PROPHECIS)
    has_workspace = "training_workspace" in document["data_stores"][0]
    document |= {"namespace": spec.queue, "code_selector": "storagePath" if has_workspace else "codeFile"}
    said, said_of_role = _SAID | {"queue"}, _SAID_OF_ROLE
    if workers.count > 1 or servers is not None:
        document["job_type"] = "dist-tf"
        said |= {"strategy"} if spec.strategy in ("", "tensorflow") else set()
    if servers is not None:
        document |= _servers(servers, spec.image)
        # The job ends with its workers there.
        said_of_role |= {"completion"} if workers.completion.min_succeeded == workers.count else set()
    if spec.model is not None:
        document["mf_model"] = {"model_name": spec.model.name}
    alerts, is_all = write_alerts(spec.alerts)
    if alerts:
        document["job_alert"] = alerts
    if is_all:
        said |= {"alerts"}
    return _written(document, [*losses(spec, said, said_of_role), *lost])


def _of_tensorflow(spec: JobSpec) -> tuple[RoleSpec, RoleSpec | None]:
    """The workers of a job, and its parameter servers: all have the same command there."""
    roles = {role.name: role for role in spec.roles}
    workers, servers = roles.pop(WORKER, None), roles.pop(SERVER, None)
    if workers is None or roles:
        (workers, *others) = spec.roles
        if others:
            raise InvalidInput("roles_inexpressible_there", "roles", n=len(spec.roles))
        if workers.count > 1:
            # Its only job of many learners is one of TensorFlow.
            raise InvalidInput("ffdl_learners_alone", "roles[0].count")
        return workers, None
    if servers is not None and servers.command != workers.command:
        raise InvalidInput("roles_inexpressible_there", "roles", n=len(spec.roles))
    return workers, servers


def _servers(role: RoleSpec, image: str) -> dict[str, str]:
    document = {
        "pss": str(role.count),
        "ps_cpu": f"{role.milli_cpus / 1000:g}",
        "ps_memory": f"{max(1, -(-role.memory_bytes // GIB))}Gi",
    }
    return {**document, "ps_image": role.image} if role.image and role.image != image else document


def _written(document: dict[str, Any], lost: list[Message]) -> Written:
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return Written(text, tuple(lost))


def _manifest(spec: JobSpec, role: RoleSpec, dialect: str) -> tuple[dict[str, Any], list[Message]]:
    lost: list[Message] = []
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
    store = _store(spec, dialect)
    if store is None:
        lost.append(say("ffdl_data_to_fill", container=NO_DATA))
        store = _volume(NO_DATA, "/data")
    document["data_stores"] = [store]
    document["framework"] = _framework(spec, role, image or SOME_IMAGE)
    return document, lost


def _store(spec: JobSpec, dialect: str) -> dict[str, Any] | None:
    """The data store of a job that came from a manifest; None for others."""
    folders = spec.extras.get(MANIFEST_FOLDERS)
    named = dict(folders) if isinstance(folders, Mapping) else {}
    workspace = str(named.pop("code", ""))
    for target, folder in named.items():
        container = str(target).removeprefix(f"{DATA_PATH}/")
        if folder == container:
            results = {
                "training_data": {"container": container},
                "training_results": {"container": "results"},
            }
            return {"id": "store", "type": "mount_cos", **results, "connection": {}}
        root = str(folder).removesuffix(f"/{container}")
        store = _volume(container, root)
        if dialect == PROPHECIS and workspace.startswith(f"{root}/"):
            store["training_workspace"] = {"container": workspace.removeprefix(f"{root}/")}
        return store
    return None


def _volume(container: str, path: str) -> dict[str, Any]:
    return {
        "id": "store",
        "type": "mount_volume",
        "training_data": {"container": container},
        "training_results": {"container": "results"},
        "connection": {"type": "host_mount", "name": "host-mount", "path": path},
    }


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
