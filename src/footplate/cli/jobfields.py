"""What a job was told to do, as `show` has it: command, variables, code, packages, data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from footplate.cli.cells import printable
from footplate.cli.language import phrase

Config = Mapping[str, Any]
MAIN = "main"
SHOWN_OF_DIGEST = 19
SHOWN_OF_COMMIT = 12


def configured(config: Config) -> dict[str, str]:
    """The fields of `show` that come from the job file; empty texts where it says nothing."""
    return {
        phrase("Command"): _of_roles(config, lambda role: str(role.get("command", ""))),
        phrase("Image"): _images(config),
        phrase("Strategy"): str(config.get("strategy") or ""),
        phrase("Parameters"): _parameters(config),
        phrase("Variables"): "\n".join(_variables(config)),
        phrase("Code"): _code(config.get("code")),
        phrase("Packages"): _packages(config.get("environment")),
        phrase("Data"): "\n".join(_data(config.get("data") or ())),
    }


def _of_roles(config: Config, told: Any) -> str:
    """What each role says; without its name where there is only one."""
    roles: Sequence[Config] = config.get("roles") or ()
    if len(roles) == 1:
        return _lines(told(roles[0]))
    return "\n".join(f"{role.get('name', MAIN)}: {_lines(told(role))}" for role in roles)


def _lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.strip().splitlines())


def _images(config: Config) -> str:
    """Name the job's image, and those of roles that have one of their own."""
    own = [f"{role['name']}: {role['image']}" for role in config.get("roles") or () if role.get("image")]
    return ", ".join(([config["image"]] if config.get("image") else []) + own)


def _parameters(config: Config) -> str:
    parameters = config.get("parameters") or {}
    return ", ".join(
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in parameters.items()
    )


def _variables(config: Config) -> Iterator[str]:
    """Each variable with its value; the server hides those that are named like secrets."""
    for role in (None, *(config.get("roles") or ())):
        env = (config if role is None else role).get("env") or {}
        lead = "" if role is None else f"{role.get('name', MAIN)}: "
        for name, value in env.items():
            yield f"{lead}{name}={printable(value)}"
    for name, secret in (config.get("secrets") or {}).items():
        yield phrase("{variable} from secret {secret}", variable=name, secret=secret)


def _code(code: Any) -> str:
    if not code:
        return ""
    if code.get("storage"):
        return f"{code['storage']}/{code.get('path', '')}".rstrip("/")
    uploaded = phrase("uploaded, {digest}…", digest=str(code.get("upload", ""))[:SHOWN_OF_DIGEST])
    return "\n".join(filter(None, (code.get("git", ""), uploaded, _revision(code.get("revision")))))


def _revision(revision: Any) -> str:
    """Which commit the code was, in a line."""
    if not revision:
        return ""
    told = {"commit": str(revision["commit"])[:SHOWN_OF_COMMIT], "branch": revision.get("branch", "")}
    line = phrase("commit {commit} on {branch}", **told) if told["branch"] else f"commit {told['commit']}"
    return phrase("{commit}, with uncommitted changes", commit=line) if revision.get("dirty") else line


def _packages(environment: Any) -> str:
    if not environment:
        return ""
    told = [", ".join(value) if isinstance(value, list) else str(value) for value in environment.values()]
    return "; ".join(told)


def _data(data: Sequence[Config]) -> Iterator[str]:
    for one in data:
        source = "/".join(filter(None, (one.get("storage"), one.get("source"))))
        mode = phrase("read-only") if one.get("read_only", True) else phrase("read-write")
        yield phrase("{source} at {path} ({mode})", source=source, path=one["path"], mode=mode)
