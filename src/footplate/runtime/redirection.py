"""Where the modules are that redirect a program's requests, for whoever starts the program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent / "redirecting"
MODULES = ("sitecustomize.py", "footplate_redirecting.py")
URL = "FOOTPLATE_REDIRECT_URL"


def files() -> dict[str, str]:
    """The modules, by their names in a folder of PYTHONPATH."""
    return {name: (FOLDER / name).read_text() for name in MODULES}


def variables(url: str, before: Mapping[str, str]) -> dict[str, str]:
    """What to add to the variables of a program, so that it speaks to a server."""
    return {URL: url, "PYTHONPATH": path_with(str(FOLDER), before.get("PYTHONPATH", ""))}


def path_with(folder: str, given: str) -> str:
    return os.pathsep.join(filter(None, (folder, given)))
