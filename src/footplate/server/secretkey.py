"""The server's own key."""

from __future__ import annotations

import os
from pathlib import Path

from footplate.machine.wholefile import write_private


def server_secret(home: Path) -> bytes:
    """The key that signs tokens of jobs and seals secrets; made once, readable by the server's user only."""
    path = home / "secret"
    try:
        return path.read_bytes()
    except FileNotFoundError:
        secret = os.urandom(32)
        # Whole: a short key, as a crash could leave it, could be guessed.
        write_private(path, secret)
        return secret
