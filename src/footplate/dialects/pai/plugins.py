"""The runtime plug-ins of OpenPAI that commands can stand for, and those that nothing does."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from footplate.dialects.translation import Notes
from footplate.domain.messages import say

KEY = "com.microsoft.pai.runtimeplugin"
MOST_PATH = 1024
# What every task of the first versions has without asking.
SSH: Mapping[str, Any] = {"plugin": "ssh", "parameters": {"jobssh": True}}
CODE_DIR = "/usr/local/pai/code"


@dataclass(slots=True)
class Around:
    """Commands before and behind those of a role."""

    before: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)


def around(job: Mapping[str, Any], role: str, notes: Notes) -> Around:
    """Gather what plug-ins and prerequisites want done around the commands of a role."""
    found = Around()
    named = job["taskRoles"][role]["prerequisites"]
    wanted = [one for name in named for one in job["prerequisites"] if one["name"] == name]
    for one in wanted:
        if one.get("plugin") == f"{KEY}.cmd":
            _take_callbacks(one.get("callbacks"), found)
    for plugin in _plugins(job):
        if not _is_for(plugin, role):
            continue
        parameters = plugin.get("parameters")
        _take(str(plugin.get("plugin")), parameters if isinstance(parameters, Mapping) else {}, found, notes)
    return found


def _plugins(job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from listed(job["extras"])


def listed(extras: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The plug-ins that the extras of a job name."""
    given = extras.get(KEY)
    yield from (one for one in (given if isinstance(given, list) else ()) if isinstance(one, Mapping))


def wants_ssh(extras: Mapping[str, Any], role: str) -> bool:
    """Whether people are to come into the tasks of a role by SSH."""
    return any(_is_for(plugin, role) for plugin in listed(extras) if _of_ssh(plugin))


def user_keys(extras: Mapping[str, Any]) -> Iterator[str]:
    """The public keys that a job names, by which people come into it."""
    for plugin in listed(extras):
        given = _of_ssh(plugin).get("userssh")
        value = given.get("value") if isinstance(given, Mapping) else None
        if isinstance(value, str):
            yield value


def _of_ssh(plugin: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the plug-in for SSH was told; nothing where it is another, or is told to do nothing."""
    told = plugin.get("parameters") if plugin.get("plugin") == "ssh" else None
    if not isinstance(told, Mapping):
        return {}
    return told if told.get("jobssh") is True or isinstance(told.get("userssh"), Mapping) else {}


def _is_for(plugin: Mapping[str, Any], role: str) -> bool:
    roles = plugin.get("taskRoles")
    return not isinstance(roles, list) or role in roles


def storages(job: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Go through the storages that a job wants mounted: its field, the storage's name, and where."""
    listed = job["extras"].get("storages")
    for i, one in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(one, Mapping) and isinstance(one.get("name"), str):
            path = one.get("mountPath")
            yield (
                f"extras.storages[{i}]",
                one["name"],
                path if isinstance(path, str) else f"/mnt/{one['name']}",
            )
    for i, plugin in enumerate(_plugins(job)):
        parameters = plugin.get("parameters")
        if plugin.get("plugin") == "teamwise_storage" and isinstance(parameters, Mapping):
            for name in _texts(parameters.get("storageConfigNames")):
                yield f"extras.{KEY}[{i}]", name, f"/mnt/{name}"


def services(job: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Go through the pages that a job offers while it runs: the field, and a service of ours."""
    for i, plugin in enumerate(_plugins(job)):
        if plugin.get("plugin") != "tensorboard":
            continue
        parameters, roles = plugin.get("parameters"), plugin.get("taskRoles")
        folders = parameters.get("logdir") if isinstance(parameters, Mapping) else None
        given = _texts(list(folders.values())) if isinstance(folders, Mapping) else []
        paths = [one for one in given if ".." not in one.split("/") and len(one) <= MOST_PATH]
        known = [one for one in _texts(roles) if one in job["taskRoles"]]
        service = {"kind": "tensorboard", **({"path": paths[0]} if paths else {})}
        yield f"extras.{KEY}[{i}]", {**service, **({"role": known[0]} if known else {})}


def _take(plugin: str, parameters: Mapping[str, Any], found: Around, notes: Notes) -> None:
    if plugin == "cmd":
        found.before += _texts(parameters.get("preCommands"))
        found.behind += _texts(parameters.get("postCommands"))
        _take_callbacks(parameters.get("callbacks"), found)
    elif plugin == "git" and isinstance(parameters.get("repo_uri"), str):
        folder = parameters.get("clone_dir")
        words = ["git", "clone", *_texts(parameters.get("options")), parameters["repo_uri"]]
        found.before.append(shlex.join([*words, folder if isinstance(folder, str) else CODE_DIR]))
    elif plugin == "ssh":
        notes.lose(say("ssh_plugin_lost"))
    elif plugin not in ("teamwise_storage", "tensorboard"):
        notes.lose(say("plugin_lost", plugin=plugin[:64]))


def _take_callbacks(callbacks: Any, found: Around) -> None:
    for one in callbacks if isinstance(callbacks, list) else ():
        if isinstance(one, Mapping) and one.get("event") == "taskStarts":
            found.before += _texts(one.get("commands"))
        elif isinstance(one, Mapping) and one.get("event") == "taskSucceeds":
            found.behind = [*_texts(one.get("commands")), *found.behind]


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
