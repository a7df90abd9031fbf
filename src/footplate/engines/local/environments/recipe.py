"""The shell commands that build an environment, for whichever tool its inputs need."""

from __future__ import annotations

import shlex
import shutil
import sys
from functools import cache
from pathlib import Path

from footplate.engines.local.environments.inputs import LOCK, Inputs

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
        ]
    )


def _by_uv(inputs: Inputs, target: Path, has_index: bool) -> list[str]:
    options = () if has_index else ("--no-index",)
    if LOCK in inputs.files:
        sync = ("sync", "--frozen", "--no-default-groups", "--no-install-project", "--no-install-local")
        return [_line("export", f"UV_PROJECT_ENVIRONMENT={target}"), _line(find_uv(), *sync, *options)]
    return [_line(find_uv(), "pip", "install", "--python", target, "-r", inputs.file, *options)]


def _conda(inputs: Inputs, target: Path) -> list[str]:
    return [_line(*find_conda(), "--yes", "--prefix", target, "--file", inputs.file)]


def _line(*words: str | Path) -> str:
    return shlex.join(map(str, words))
