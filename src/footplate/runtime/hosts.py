"""The hosts file of a gang: names, addresses and ports of its tasks; and small helpers of its programs."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple


class Host(NamedTuple):
    name: str
    address: str
    port: int


def gang_folder() -> Path:
    """Say where the files of the gang lie."""
    return Path(os.environ["FOOTPLATE_GANG_FILE"]).parent


def read_hosts() -> dict[str, Host]:
    """Read the hosts file: one line per task with its name, address and port."""
    lines = Path(os.environ["FOOTPLATE_GANG_FILE"]).read_text().splitlines()
    words = [line.split() for line in lines if line.strip()]
    return {name: Host(name, address, int(port)) for name, address, port in words}


def own_name() -> str:
    return os.environ["FOOTPLATE_TASK"]


def shell() -> str:
    return shutil.which("bash") or "/bin/sh"


def say(text: str) -> None:
    sys.stderr.write(f"footplate: {text}\n")
    sys.stderr.flush()


def listed(names: list[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
