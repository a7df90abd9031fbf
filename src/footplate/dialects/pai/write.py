"""Writes a job as a job file of OpenPAI, as far as one can say it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import yaml

from footplate.dialects.losses import losses
from footplate.dialects.mask import MASK
from footplate.dialects.pai import exits, plugins
from footplate.dialects.pai.ports import without_usual
from footplate.dialects.pai.v1 import FOLDERS
from footplate.dialects.pai.v2 import PRIORITIES, STRICT
from footplate.dialects.translation import MANIFEST_FOLDERS, Written
from footplate.domain.fields import ListOf
from footplate.domain.hidden import hide, is_secret_name
from footplate.domain.interpolate import resolve
from footplate.domain.jobfile import write_job
from footplate.domain.messages import Message, say
from footplate.domain.policyfields import FAILURE_RULE
from footplate.domain.problems import Problems
from footplate.domain.resources import MIB
from footplate.domain.spec import DEFAULT_SHM_BYTES, JobSpec, RoleSpec

NEVER = -1
SOME_IMAGE = "python:3.11"
_REFERENCE = re.compile(r"\$\{\{\s*parameters\.(\w+)\s*\}\}")
_SAID = {"name", "queue", "image", "env", "parameters", "roles", "retry", "extras", "description"}
_SAID_OF_ROLE = {
    "name", "command", "count", "cpus", "memory", "gpus", "ports", "completion", "image", "env", "shm",
}  # fmt: skip


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as people do."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)


def write_v2(spec: JobSpec, masked: bool = False) -> Written:
    """Write YAML of the later versions; `masked` leaves the secrets of the job out."""
    spec = masked_spec(spec) if masked else spec
    lost = [
        *losses(spec, _said(spec) | {"priority", "data", "tags"}, _SAID_OF_ROLE | {"task_retry"}),
        *_of_names(spec),
    ]
    images = _images(spec)
    if not all(images.values()):
        lost.append(say("image_needed", image=SOME_IMAGE))
    document: dict[str, Any] = {"protocolVersion": 2, "name": _v2_name(spec.name), "type": "job"}
    if spec.description:
        document["description"] = spec.description
    if spec.retry:
        document["jobRetryCount"] = spec.retry
    document["prerequisites"] = [
        {"type": "dockerimage", "name": f"image_{i}" if i else "image", "uri": image or SOME_IMAGE}
        for i, image in enumerate(dict.fromkeys(images.values()))
    ]
    document |= _parameters(spec, masked)
    names = {one["uri"]: one["name"] for one in document["prerequisites"]}
    document["taskRoles"] = {
        _v2_role_name(role.name): _v2_role(spec, role, names[images[role.name] or SOME_IMAGE])
        for role in spec.roles
    }
    document["defaults"] = {"virtualCluster": spec.queue}
    extras = _extras(spec)
    if extras:
        document["extras"] = extras
    if spec.data and any(one.source for one in spec.data):
        lost.append(say("field_inexpressible", field="data[].source"))
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return Written(text, tuple(lost))


def _said(spec: JobSpec) -> set[str]:
    """The fields that a file can say; its server does with failures what the rules of its jobs do here."""
    usual = ListOf(FAILURE_RULE, len(exits.RULES)).read(exits.RULES, "on_failure", Problems())
    return _SAID | {"on_failure"} if spec.on_failure == usual else _SAID


def _of_names(spec: JobSpec) -> Iterator[Message]:
    if _v2_name(spec.name) != spec.name:
        yield say("renamed", given=spec.name, name=_v2_name(spec.name))
    for role in spec.roles:
        if _v2_role_name(role.name) != role.name:
            yield say("renamed", given=role.name, name=_v2_role_name(role.name))


def _v2_name(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)


def _v2_role_name(name: str) -> str:
    safe = re.sub(r"[^a-zA-Z0-9_]", "_", name)
    return safe if safe[:1].isalpha() or safe[:1] == "_" else f"_{safe}"


def _images(spec: JobSpec) -> dict[str, str]:
    return {role.name: role.image or spec.image for role in spec.roles}


def _parameters(spec: JobSpec, masked: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    plain = {name: value for name, value in spec.parameters.items() if not is_secret_name(name)}
    secret = {name: value for name, value in spec.parameters.items() if is_secret_name(name)}
    if plain:
        found["parameters"] = dict(plain)
    if secret:
        found["secrets"] = MASK if masked else dict(secret)
    return found


def _v2_role(spec: JobSpec, role: RoleSpec, image: str) -> dict[str, Any]:
    resources: dict[str, Any] = {
        "cpu": _cpus(role),
        "memoryMB": role.memory_bytes // MIB,
        "gpu": role.gpus,
    }
    if ports := without_usual(role.ports):
        resources["ports"] = {re.sub(r"\W", "_", one.label): one.count for one in ports}
    completion = role.completion
    made: dict[str, Any] = {
        "instances": role.count,
        "completion": {
            "minFailedInstances": NEVER if completion.min_failed is None else completion.min_failed,
            "minSucceededInstances": NEVER if completion.min_succeeded is None else completion.min_succeeded,
        },
        "dockerImage": image,
        "resourcePerInstance": resources,
        "commands": [*_exports(spec, role), _with_tags(role.command.removeprefix(f"{STRICT}\n"))],
        "extraContainerOptions": {"shmMB": role.shm_bytes // MIB},
    }
    if role.task_retry:
        made["taskRetryCount"] = role.task_retry
    return made


def _cpus(role: RoleSpec) -> int:
    return max(1, -(-role.milli_cpus // 1000))


def masked_spec(spec: JobSpec) -> JobSpec:
    """The job without the values that are secrets by their names."""
    shown = hide(write_job(spec))
    roles = tuple(
        replace(role, env=body.get("env", {})) for role, body in zip(spec.roles, shown["roles"], strict=True)
    )
    return replace(spec, env=shown.get("env", {}), parameters=shown.get("parameters", {}), roles=roles)


def _exports(spec: JobSpec, role: RoleSpec) -> list[str]:
    every: Mapping[str, str] = {**spec.env, **role.env}
    return [_with_tags(f"export {name}={shlex.quote(value)}") for name, value in every.items()]


def _with_tags(text: str) -> str:
    return _REFERENCE.sub(
        lambda found: f"<% ${'secrets' if is_secret_name(found[1]) else 'parameters'}.{found[1]} %>", text
    )


def _extras(spec: JobSpec) -> dict[str, Any]:
    extras = dict(spec.extras)
    classes = {number: name for name, number in PRIORITIES.items()}
    if spec.priority and spec.priority in classes:
        hived = extras.get("hivedScheduler")
        extras["hivedScheduler"] = {
            **(hived if isinstance(hived, dict) else {}),
            "jobPriorityClass": classes[spec.priority],
        }
    if spec.data:
        extras["storages"] = [{"name": one.storage, "mountPath": one.path} for one in spec.data]
    if any(role.task_retry for role in spec.roles):
        extras["gangAllocation"] = False
    return extras


def write_v1(spec: JobSpec, masked: bool = False) -> Written:
    """Write JSON of the first versions; `masked` leaves the secrets of the job out."""
    spec = masked_spec(spec) if masked else spec
    lost = list(
        losses(spec, (_said(spec) | {"keep_on_failure"}) - {"description"}, _SAID_OF_ROLE | {"gpu_type"})
    )
    images = set(_images(spec).values())
    if images == {""}:
        lost.append(say("image_needed", image=SOME_IMAGE))
    if len(images) > 1:
        lost.append(say("one_image_only"))
    document: dict[str, Any] = {
        "jobName": spec.name,
        "image": next(iter(_images(spec).values())) or SOME_IMAGE,
        "virtualCluster": spec.queue,
        "retryCount": spec.retry,
    }
    kinds = {role.gpu_type for role in spec.roles if role.gpu_type}
    if kinds:
        document["gpuType"] = min(kinds)
    variables = {name: resolve(value, spec.parameters) for name, value in spec.env.items()}
    if spec.keep_on_failure_s is not None:
        variables["isDebug"] = "true"
    if variables:
        document["jobEnvs"] = variables
    document["taskRoles"] = [_v1_role(spec, role) for role in spec.roles]
    folders = spec.extras.get(MANIFEST_FOLDERS)
    named = folders if isinstance(folders, Mapping) else {}
    document |= {field: named[target] for target, (field, _) in FOLDERS.items() if target in named}
    if extras := _without_usual(spec.extras):
        document["extras"] = extras
    return Written(json.dumps(document, indent=2, ensure_ascii=False) + "\n", tuple(lost))


def _without_usual(extras: Mapping[str, Any]) -> dict[str, Any]:
    """The extras that a file has to say: people come into every task of the first versions by SSH."""
    asked = [one for one in plugins.listed(extras) if one != plugins.SSH]
    kept = {name: value for name, value in extras.items() if name not in (plugins.KEY, MANIFEST_FOLDERS)}
    return {**kept, plugins.KEY: asked} if asked else kept


def _v1_role(spec: JobSpec, role: RoleSpec) -> dict[str, Any]:
    exports = [f"export {name}={shlex.quote(value)}" for name, value in role.env.items()]
    made: dict[str, Any] = {
        "name": role.name,
        "taskNumber": role.count,
        "cpuNumber": _cpus(role),
        "memoryMB": max(100, role.memory_bytes // MIB),
        "gpuNumber": role.gpus,
        "command": resolve("\n".join([*exports, role.command]), spec.parameters),
        "minFailedTaskCount": role.completion.min_failed,
        "minSucceededTaskCount": role.completion.min_succeeded,
    }
    if role.shm_bytes != DEFAULT_SHM_BYTES:
        made["shmMB"] = role.shm_bytes // MIB
    if ports := without_usual(role.ports):
        made["portList"] = [
            {"label": one.label, "beginAt": one.begin_at, "portNumber": one.count} for one in ports
        ]
    return made
