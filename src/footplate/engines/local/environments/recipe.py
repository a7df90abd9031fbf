"""The shell commands that build an environment, for whichever tool its inputs need."""

from __future__ import annotations

import shlex
import shutil
import sys
from functools import cache
from pathlib import Path

from footplate.engines.local.environments.inputs import LOCK, Inputs
from footplate.engines.local.environments.ownpython import PIP_CONFIG

NOTHING_BEHIND = "import site; site.PREFIXES[:] = []\n"
# Put beside the packages, for builds whose inputs name other files.
INPUTS = "inputs"


@cache
def find_uv() -> str:
    """Name the uv of this server, or of the machine; empty when there is none."""
    beside = Path(sys.prefix, "bin", "uv")
    return str(beside) if beside.is_file() else shutil.which("uv") or ""


def find_conda() -> list[str]:
    """Name the program that reads conda files and the words that make it build; empty when there is none."""
    for name in ("micromamba", "mamba", "conda"):
        if path := shutil.which(name):
            return [path, "create"] if name == "micromamba" else [path, "env", "create"]
    return []


def base_python() -> str:
    """Name the interpreter that this server's own environment was made from."""
    return str(getattr(sys, "_base_executable", "") or sys.executable)


def commands(inputs: Inputs, source: Path, target: Path, has_index: bool = True) -> str:
    """Write what a build runs: `source` has the inputs, `target` becomes the environment."""
    make = _conda(inputs, target) if inputs.kind == "conda" else _by_uv(inputs, target, has_index)
    if inputs.kind == "conda":
        return "\n".join([_line("rm", "-rf", target), _line("cd", source), *make])
    copied = target / INPUTS
    return "\n".join(
        [
            _line("rm", "-rf", target),
            _line(find_uv(), "venv", "--quiet", "--python", inputs.python or base_python(), target),
            _line("cp", "-R", source, copied),
            _line("cd", copied),
            *make,
            *_open_to_tasks(target),
        ]
    )


def _open_to_tasks(target: Path) -> list[str]:
    """Let tasks add packages for themselves: the environment finds the user's site, where its pip installs.

    The packages of the machine stay unseen, although `pyvenv.cfg` must say otherwise for that.
    """
    pip = f'#!/bin/sh\nexec {_line(sys.executable, "-m", "pip", "--python", target)} "$@"\n'
    config = target / "pyvenv.cfg"
    return [
        _line("sed", "-i", "s/^include-system-site-packages.*/include-system-site-packages = true/", config),
        f"for site in {shlex.quote(str(target))}/lib/python3*/site-packages; do",
        f'  printf %s {shlex.quote(NOTHING_BEHIND)} > "$site/_own.pth"',
        "done",
        f"printf %s {shlex.quote(PIP_CONFIG)} > {shlex.quote(str(target / 'pip.conf'))}",
        # One that was asked for stays.
        f"cd {shlex.quote(str(target / 'bin'))}",
        f"[ -e pip ] || {{ printf %s {shlex.quote(pip)} > pip; chmod 755 pip; ln -s pip pip3; }}",
    ]


def _by_uv(inputs: Inputs, target: Path, has_index: bool) -> list[str]:
    export = _line("export", f"UV_PROJECT_ENVIRONMENT={target}")
    return [export, _line(find_uv(), *uv_words(inputs, target, has_index))]


def uv_words(inputs: Inputs, target: Path, has_index: bool) -> list[str | Path]:
    """Write the words after `uv` that install into an environment: as locked, where there is a lock."""
    options = [] if has_index else ["--no-index"]
    if LOCK in inputs.files:
        return [
            "sync",
            "--frozen",
            "--no-default-groups",
            "--no-install-project",
            "--no-install-local",
            *options,
        ]
    return ["pip", "install", "--python", target, "-r", inputs.file, *options]


def _conda(inputs: Inputs, target: Path) -> list[str]:
    return [_line(*find_conda(), "--yes", "--prefix", target, "--file", inputs.file)]


def _line(*words: str | Path) -> str:
    return shlex.join(map(str, words))
