"""The key by which SSH clients know this server; made once, and readable by the server alone."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from footplate.machine.wholefile import write_private

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
        write_private(file, made)
    return file


def public_part(file: Path) -> str:
    """What clients are told, as one line: kind and key."""
    key = serialization.load_ssh_private_key(file.read_bytes(), None)
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return public.decode()
