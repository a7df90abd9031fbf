"""The server's own key."""

from __future__ import annotations

import os
from pathlib import Path


def server_secret(home: Path) -> bytes:
    """The key that signs tokens of jobs and seals secrets; made once, readable by the server's user only."""
    path = home / "secret"
    try:
        return path.read_bytes()
    except FileNotFoundError:
        secret, half = os.urandom(32), home / "secret.new"
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(secret)
            out.flush()
            os.fsync(descriptor)
        # A crash while it is written must not leave a short key, which could be guessed.
        half.replace(path)
        return secret
