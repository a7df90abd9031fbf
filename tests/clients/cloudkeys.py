"""What the tests of other clouds' clients share: their environments, an access key, a server with them."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from footplate.testing.process import ServerProcess

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"
LONGEST_S = 400


@dataclass(frozen=True)
class Key:
    id: str
    secret: str


def python_of(client: str) -> Path:
    """The Python of a client's own environment; skip where there is none."""
    given = os.environ.get(f"FOOTPLATE_TEST_{client.upper()}")
    python = Path(given) if given else ROOT / ".venv" / "clients" / client / "bin" / "python"
    if not python.exists():
        pytest.skip(f"needs {client} in an environment of its own: make test CLIENTS={client}")
    return python


def key_of(server: ServerProcess) -> Key:
    """Make an access key, as a user does."""
    made = server.command("keys", "create", "test", "--json")
    assert made.returncode == 0, made.stderr
    key = json.loads(made.stdout)
    return Key(key["id"], key["secret"])


def run(command: list[str], cwd: Path, **variables: str) -> str:
    """Run a client to its end, and return what it printed."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "NO_PROXY": "", "PYTHONWARNINGS": "ignore", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_S,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout
