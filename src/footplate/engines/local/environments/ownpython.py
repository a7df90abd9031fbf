"""The Python of tasks that ask for no other: the server's, with a place of their own for packages.

The server's own packages can only be read. A small virtual environment in front of them also finds the user's
site, and its `pip` installs there. Each task has its own, in its own `/tmp`.
"""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import stat
import sys
from pathlib import Path

from footplate.machine.foldertree import remove_tree

log = logging.getLogger(__name__)

# In the view of every task `/tmp` is the task's own.
USER_BASE = "/tmp/.python"  # noqa: S108
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
SITE = f"lib/python{VERSION}/site-packages"
CONFIG = """home = {home}
include-system-site-packages = true
version = {version}
"""
# Behind the user's site, so that what a task installs goes before what the server has.
LOOK_BEHIND = "import site; site.PREFIXES[:] = [{prefix!r}]\n"
PIP_CONFIG = "[install]\nuser = true\n"
STAMP = "made-of"


def variables(folder: str, path: str) -> dict[str, str]:
    """Write what leads tasks to this Python and to what they install; nothing where it could not be made."""
    if not folder:
        return {}
    return {"PATH": f"{folder}/bin:{USER_BASE}/bin:{path}", "PYTHONUSERBASE": USER_BASE}


def make(home: Path) -> str:
    """Make the environment below the home, unless it is there; empty when that fails: tasks do without."""
    folder = home.resolve() / "python" / VERSION
    made_of = _made_of()
    try:
        if not (folder / STAMP).is_file() or (folder / STAMP).read_text() != made_of:
            _make(folder, made_of)
    except OSError as error:
        log.warning("tasks cannot install packages with pip: %s cannot be made: %s", folder, error)
        return ""
    return str(folder)


def _make(folder: Path, made_of: str) -> None:
    draft = folder.with_name(f".{folder.name}-{os.getpid()}")
    remove_tree(draft)
    (draft / "bin").mkdir(parents=True)
    (draft / SITE).mkdir(parents=True)
    base = getattr(sys, "_base_executable", "") or sys.executable
    (draft / "pyvenv.cfg").write_text(
        CONFIG.format(home=Path(base).parent, version=".".join(map(str, sys.version_info[:3])))
    )
    (draft / "pip.conf").write_text(PIP_CONFIG)
    if sys.prefix != sys.base_prefix:
        (draft / SITE / "_server.pth").write_text(LOOK_BEHIND.format(prefix=sys.prefix))
    for name in ("python", "python3", f"python{VERSION}"):
        (draft / "bin" / name).symlink_to(base)
    _copy_programs(Path(sys.prefix, "bin"), draft / "bin", folder / "bin")
    _add_pip(draft / "bin", folder / "bin")
    (draft / STAMP).write_text(made_of)
    _open_to_all(draft)
    remove_tree(folder)
    draft.rename(folder)


def _open_to_all(folder: Path) -> None:
    """Let the accounts of tasks read it, however the server's own files are made."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(stat.S_IMODE(mode) | (0o555 if path.is_dir() or mode & stat.S_IXUSR else 0o444))


def _made_of() -> str:
    """Name what the environment depends on: the server's interpreter, and which programs are beside it."""
    programs = Path(sys.prefix, "bin")
    return f"{sys.version} {sys.prefix} {programs.stat().st_mtime_ns}"


def _copy_programs(source: Path, target: Path, in_place: Path) -> None:
    """Copy the programs of the server's packages, so that they find what a task installs too."""
    if sys.prefix == sys.base_prefix:
        # Those of the machine's own Python are too many, and lie in the path anyway.
        return
    ours = f"#!{source}/python".encode()
    for program in source.iterdir():
        if program.is_symlink() or not program.is_file():
            continue
        with program.open("rb") as file:
            first = file.readline(4096)
            if not first.startswith(ours):
                continue
            interpreter = first.strip().removeprefix(f"#!{source}/".encode()).split()[0]
            rest = file.read()
        (target / program.name).write_bytes(b"#!" + os.fsencode(in_place) + b"/" + interpreter + b"\n" + rest)
        shutil.copymode(program, target / program.name)


def _add_pip(target: Path, in_place: Path) -> None:
    """Have a `pip` that installs for this interpreter: that of the machine may refuse to install anything."""
    for name in ("pip", "pip3"):
        program = target / name
        if not program.exists():
            program.write_text(f'#!/bin/sh\nexec {shlex.quote(f"{in_place}/python")} -m pip "$@"\n')
            program.chmod(0o755)
