"""Builds `footplate-init` from `init.c` where there is a C compiler: `make native`.

Tasks start in half the time with it, and without it all the same.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "src" / "footplate" / "engines" / "local" / "process"
SOURCE, PROGRAM = FOLDER / "init.c", FOLDER / "footplate-init"
# Static: it runs in views in which anything may be missing, and obeys no loader's variables.
OPTIONS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-static", "-s")
INSTALL = "sudo apt-get install -y gcc libc6-dev"


class NotBuilt(Exception):  # it states the fact
    """The program could not be built; the text says why."""


def is_current() -> bool:
    return PROGRAM.exists() and PROGRAM.stat().st_mtime >= SOURCE.stat().st_mtime


def build() -> None:
    """Build the program, unless it is newer than its source; raise `NotBuilt` where that cannot be."""
    if not is_current():
        compile_into(PROGRAM)


def compile_into(program: Path) -> None:
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not compiler or shutil.which(compiler[0]) is None:
        raise NotBuilt(f"there is no C compiler (to have one: {INSTALL})")
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        draft = Path(folder) / program.name
        words = [*compiler, *OPTIONS, "-o", str(draft), str(SOURCE)]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            first = (ran.stderr.strip().splitlines() or ["it says nothing"])[0]
            raise NotBuilt(f"the C compiler fails ({first}; it needs a static C library: {INSTALL})")
        # Tasks of every account run it, whatever this account's files are like.
        draft.chmod(0o755)
        draft.replace(program)


def main() -> None:
    try:
        build()
    except NotBuilt as error:
        print(f"==> tasks start a little slower without footplate-init: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
