"""One task as the container engine is asked to run it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from footplate.domain.errors import EngineRejected
from footplate.engines.local.containers.api import Document
from footplate.engines.local.containers.cards import grant_cards, renumber
from footplate.engines.local.containers.naming import labels
from footplate.engines.local.containers.settings import HOST_NETWORK, ContainerSettings
from footplate.engines.local.exchange import LocalRequest, LocalTask, Mount
from footplate.engines.local.machine.settings import LocalSettings
from footplate.engines.local.observe.watches import TaskKey
from footplate.machine.taskfiles import beneath

ENTRY = Path(__file__).with_name("entry.sh")
CPU_PERIOD_US = 100_000
# The kernel refuses quotas below.
LEAST_QUOTA_US = 1000


@cache
def entry_script() -> str:
    return ENTRY.read_text()


def home_label(settings: LocalSettings) -> str:
    """Tell the containers of this server from those of others on the same engine."""
    return settings.home_id or str(settings.home or "")


def key_of(request: LocalRequest, task: LocalTask) -> TaskKey:
    run = (request["attempt_id"], task["role"], task["index"], task["run"])
    return TaskKey(*run, in_container=True, home_id=request["home_id"])


def describe(request: LocalRequest, task: LocalTask, info: Document, settings: LocalSettings) -> Document:
    """Write the body of a create request for one task."""
    cards = grant_cards(task["gpus"], info)
    env = renumber(task_environment(request, task), cards)
    return {
        "Image": task["image"],
        "Entrypoint": ["/bin/sh", "-c", entry_script(), "footplate"],
        "Cmd": [task["folder"], task["log"], "keep" if task["keep"] else "", task["command"]],
        "Env": [f"{name}={value}" for name, value in env.items()],
        "WorkingDir": task["work_folder"],
        "User": user_of(info, settings.containers),
        "Labels": labels(key_of(request, task), home_label(settings)),
        **_exposed(task, settings.containers),
        "HostConfig": {
            "LogConfig": {"Type": "none", "Config": {}},
            "Mounts": [*mounts(request), *environment_mounts(request, task)],
            # Job folders keep the label that they have on the host, where there is SELinux.
            "SecurityOpt": ["label=disable"],
            # A device made in a folder that tasks without images see too would be open to those.
            "CapDrop": ["MKNOD"],
            "NetworkMode": settings.containers.network,
            **_published(task, settings.containers),
            **_limits(task, info, settings),
            **cards,
        },
    }


def task_environment(request: LocalRequest, task: LocalTask) -> dict[str, str]:
    """Say what the task is given; what comes from the server's machine would be wrong in an image."""
    shared = {name: value for name, value in request["env"].items() if name not in request["inherited"]}
    return {**shared, **task["env"]}


def user_of(info: Document, settings: ContainerSettings) -> str:
    """The user inside the container: the server's user on the host, so that both can read the files."""
    if settings.user:
        return settings.user
    # An engine without root shows its own user as root to its containers.
    return "0:0" if is_rootless(info) else f"{os.geteuid()}:{os.getegid()}"


def is_rootless(info: Document) -> bool:
    return bool(info.get("Rootless")) or "name=rootless" in (info.get("SecurityOptions") or ())


def mounts(request: LocalRequest) -> Iterator[Document]:
    """Name what of the host is seen inside: the job's own folders, where they are on the host."""
    covered = {mount["target"] for mount in request["mounts"]}
    for folder in (request["folder"], *request["folders"]):
        if folder not in covered:
            yield _bind(folder, folder, read_only=False)
    if request["code_folder"] is not None:
        yield _bind(request["code_folder"], request["code_folder"], read_only=True)
    for mount in request["mounts"]:
        yield _bind(_source_of(mount), mount["target"], mount["read_only"])


def environment_mounts(request: LocalRequest, task: LocalTask) -> Iterator[Document]:
    """Show the task its environment: where its programs expect it, and where its variables lead."""
    if task["environment"] is not None and (packages := request["packages"]) is not None:
        for target in (task["environment"], packages["link"]):
            yield _bind(task["environment"], target, read_only=True)


def _source_of(mount: Mount) -> str:
    """Resolve what is mounted; the engine does so again, and nobody may have put a link there by then."""
    if mount["inner"] and not mount["is_fixed"]:
        raise EngineRejected("part_not_mountable", inner=mount["inner"], target=mount["target"])
    try:
        return beneath(mount["source"], mount["inner"]) if mount["inner"] else mount["source"]
    except OSError as error:
        where = f"{mount['source']}/{mount['inner']}"
        raise EngineRejected("not_mountable", place=str(where), error=error.strerror) from None


def _bind(source: str, target: str, read_only: bool) -> Document:
    return {"Type": "bind", "Source": source, "Target": target, "ReadOnly": read_only}


def _limits(task: LocalTask, info: Document, settings: LocalSettings) -> Mapping[str, Any]:
    """Write the limits that this engine can hold: one without root may lack some."""
    limits: dict[str, Any] = {"ShmSize": task["shm_bytes"]}
    if not settings.limits:
        return limits
    if info.get("MemoryLimit"):
        limits["Memory"] = limits["MemorySwap"] = task["memory_bytes"]
    if info.get("CpuCfsQuota"):
        # A quota, since a number of CPUs beyond the machine's own is refused.
        limits["CpuPeriod"] = CPU_PERIOD_US
        limits["CpuQuota"] = max(LEAST_QUOTA_US, task["milli_cpus"] * CPU_PERIOD_US // 1000)
    if info.get("PidsLimit"):
        limits["PidsLimit"] = settings.n_processes
    return limits


def _exposed(task: LocalTask, settings: ContainerSettings) -> Mapping[str, Any]:
    if settings.network == HOST_NETWORK:
        return {}
    return {"ExposedPorts": {f"{port}/tcp": {} for port in task["ports"]}}


def _published(task: LocalTask, settings: ContainerSettings) -> Mapping[str, Any]:
    """Make the task's ports reachable at its address; in the host's own network they are already."""
    if settings.network == HOST_NETWORK:
        return {}
    where = {"HostIp": task["address"]}
    return {"PortBindings": {f"{port}/tcp": [{**where, "HostPort": str(port)}] for port in task["ports"]}}
