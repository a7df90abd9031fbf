"""An image with Python, made of this machine's own: tests fetch nothing."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from footplate.engines.local.environments.recipe import find_uv
from footplate.testing.container_engine import ContainerEngineMissing, busybox

NAME = "localhost/footplate-python:1"
# Large, and nothing that a build or a small program needs.
LEFT_OUT = {"__pycache__", "ensurepip", "idlelib", "lib2to3", "site-packages", "test", "tests", "tkinter"}


def with_python(packages: Path | None = None) -> bytes:
    """Write a root folder with a shell and Python; `packages` has what its Python has installed."""
    out = io.BytesIO(busybox())
    prefix = Path(sys.base_prefix)
    library = prefix / f"lib/python{sys.version_info.major}.{sys.version_info.minor}"
    with tarfile.open(fileobj=out, mode="a") as tar:
        for path in (*_files(library), *_libraries(prefix, library)):
            tar.add(path.resolve(), str(path).lstrip("/"), recursive=False)
        _link(tar, "usr/bin/python3", str(_program(prefix)))
        tar.add(_program(prefix), str(_program(prefix)).lstrip("/"), recursive=False)
        if packages is not None:
            tar.add(packages, str(library / "site-packages").lstrip("/"))
    return out.getvalue()


def _program(prefix: Path) -> Path:
    return prefix / f"bin/python{sys.version_info.major}.{sys.version_info.minor}"


def _files(library: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(library):
        folders[:] = [name for name in folders if name not in LEFT_OUT and not name.startswith("config-")]
        yield from (Path(folder, name) for name in files)


def _libraries(prefix: Path, library: Path) -> set[Path]:
    """Name what the interpreter, its modules and uv are linked with."""
    programs = [_program(prefix), *(library / "lib-dynload").glob("*.so"), *filter(None, [find_uv()])]
    listed = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True, check=False)
    found = {Path(path) for path in re.findall(r"(/\S+) \(0x", listed.stdout)}
    if not found:
        raise ContainerEngineMissing("the libraries of Python are not found: ldd says nothing of them")
    return found


def _link(tar: tarfile.TarFile, name: str, target: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    tar.addfile(entry)
