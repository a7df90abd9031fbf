"""Finds `footplate-init`, the program of `init.c`, which the package has where there was a C compiler.

Without it everything works the same: `becoming.py` and `init.sh` do what it does, in more time.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

PROGRAM = Path(__file__).with_name("footplate-init")
# What `init.c` calls its version: both change whenever the steps do.
VERSION = "3"
TRIED_WITHIN_S = 10


@cache
def why_not(program: Path = PROGRAM) -> str:
    """Say why the program cannot be used here; empty when it can."""
    try:
        ran = subprocess.run(  # noqa: S603  # our own program
            [program, "--version"], capture_output=True, timeout=TRIED_WITHIN_S, check=False, env={}
        )
    except FileNotFoundError:
        return "it was not built"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it cannot be run ({error})"
    if ran.returncode != 0 or ran.stdout.decode(errors="replace").strip() != VERSION:
        return "it is of another version"
    return ""


def find(is_wanted: bool = True) -> str:
    """Name the program, where it is wanted and can be used; empty elsewhere."""
    return str(PROGRAM) if is_wanted and not why_not() else ""
