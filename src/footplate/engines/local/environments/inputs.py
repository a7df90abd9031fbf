"""What an environment is made of, read from the job and its code; equal inputs have equal keys."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import stat
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from footplate.domain.errors import EngineRejected
from footplate.domain.resources import MIB
from footplate.domain.spec import EnvironmentSpec
from footplate.engines.local.exchange import Wish
from footplate.machine.taskfiles import open_beneath

MOST_BYTES = 4 * MIB
LISTED = "requirements.txt"
PROJECT, LOCK = "pyproject.toml", "uv.lock"
# Lines of a requirements file that name other files: what is installed depends on those too.
_NAMES_FILES = re.compile(
    r"^\s*(?:(?:-r|-c|-e|-f|--requirement|--constraint|--editable|--find-links)\b|\.|/|file:)"
    r"|@\s*(?:\.|/|file:)|^\s*\S+/\S+\.(?:whl|tar\.gz|zip)\s*$"
)
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Image:
    """The image that packages are added to; its id says what is in it."""

    name: str
    id: str


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files that a build works with; `tree` is a folder that it needs whole, beside or around them."""

    kind: str
    file: str
    what: str
    python: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    tree: Path | None = None
    digest: str = ""
    image: Image | None = None

    @property
    def key(self) -> str:
        """The name of all that decides what is built: what was asked for, and the Python below it."""
        contents = {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}
        below = [self.image.id] if self.image else _machine(self.python)
        asked = json.dumps([self.kind, self.file, contents, self.digest, below], sort_keys=True)
        return hashlib.sha256(asked.encode()).hexdigest()[:20]


def _machine(python: str) -> list[str]:
    version = python or platform.python_version()
    return [version, platform.python_implementation(), sysconfig.get_platform(), *platform.libc_ver()]


def wish_of(environment: EnvironmentSpec | None) -> Wish | None:
    """Write what is to be built the way a request has it; None when there is nothing to build."""
    if environment is None or environment.path:
        return None
    kind = "conda" if environment.conda else "pyproject" if environment.pyproject else "requirements"
    listed = environment.requirements if isinstance(environment.requirements, tuple) else ()
    return {"kind": kind, "file": environment.file, "listed": list(listed), "python": environment.python}


def gather(wish: Wish, code: tuple[str, str] | None, digest: str) -> Inputs:
    """Read what is to be built; `code` is the root and the inner path of the job's code."""
    kind, file, python = wish["kind"], wish["file"], wish["python"]
    if not file:
        content = "".join(f"{line}\n" for line in wish["listed"]).encode()
        return Inputs(kind, LISTED, _named(wish["listed"]), python, {LISTED: content})
    assert code is not None
    if kind == "pyproject":
        return _project(file, python, code)
    content = _read(code, file)
    if kind == "requirements" and (line := _line_with_files(content)):
        if not digest:
            raise EngineRejected("environment_needs_upload", file=file, line=line)
        return Inputs(kind, file, file, python, {file: content}, Path(code[0]) / code[1], digest)
    return Inputs(kind, Path(file).name, file, python, {Path(file).name: content})


def _project(file: str, python: str, code: tuple[str, str]) -> Inputs:
    files = {PROJECT: _read(code, file)}
    beside = f"{os.path.dirname(file)}/{LOCK}".lstrip("/")  # noqa: PTH120  # a name, not a path of ours
    if (lock := _read_if_there(code, beside)) is not None:
        files[LOCK] = lock
    return Inputs("pyproject", PROJECT, file, python, files)


def _named(requirements: list[str]) -> str:
    more = len(requirements) - MOST_NAMED
    return ", ".join(requirements[:MOST_NAMED]) + (f", … (+{more})" if more > 0 else "")


def _line_with_files(content: bytes) -> str:
    lines = content.decode("utf-8-sig", "replace").splitlines()
    return next((line.strip()[:100] for line in lines if _NAMES_FILES.search(line)), "")


def _read(code: tuple[str, str], file: str) -> bytes:
    content = _read_if_there(code, file)
    if content is None:
        raise EngineRejected("environment_file_missing", file=file)
    return content


def _read_if_there(code: tuple[str, str], file: str) -> bytes | None:
    root, inner = code
    try:
        place = open_beneath(root, f"{inner}/{file}" if inner else file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise EngineRejected("environment_file_unreadable", file=file, error=error.strerror) from None
    try:
        if not stat.S_ISREG(os.fstat(place).st_mode):
            raise EngineRejected("environment_file_missing", file=file)
        with open(f"/proc/self/fd/{place}", "rb") as opened:  # noqa: PTH123  # of a descriptor
            content = opened.read(MOST_BYTES + 1)
    finally:
        os.close(place)
    if len(content) > MOST_BYTES:
        raise EngineRejected("environment_file_too_large", file=file, most_bytes=MOST_BYTES)
    return content
