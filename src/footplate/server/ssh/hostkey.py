"""The key by which SSH clients know this server; made once, and readable by the server alone."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAME = "ssh_host_key"


def ensure_host_key(home: Path) -> Path:
    """Say in which file the key is; make it where there is none."""
    file = home / NAME
    if not file.exists():
        made = Ed25519PrivateKey.generate().private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        )
        # A crash while it is written must not leave half of a key.
        half = home / f"{NAME}.new"
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(made)
            out.flush()
            os.fsync(descriptor)
        half.replace(file)
    return file


def public_part(file: Path) -> str:
    """What clients are told, as one line: kind and key."""
    key = serialization.load_ssh_private_key(file.read_bytes(), None)
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return public.decode()
