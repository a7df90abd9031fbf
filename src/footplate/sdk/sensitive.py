"""Files that may hold secrets, such as `.env` and private keys: sent only when somebody asks for it."""

from __future__ import annotations

from pathlib import Path

NAMES = frozenset(
    {".netrc", ".pypirc", ".git-credentials", ".npmrc", "id_dsa", "id_ecdsa", "id_ed25519", "id_rsa"}
)
ENV_FILE = ".env"
# What a project shows others in place of the real one.
EXAMPLES = (".example", ".sample", ".template", ".dist")
STORES = (".p12", ".pfx", ".ppk")
# These may hold certificates as well, which are no secret.
MAY_BE_KEYS = (".pem", ".key")
KEY_MARK = b"PRIVATE KEY-----"
HEAD_BYTES = 4096


def may_hold_secrets(path: Path) -> bool:
    """Tell by the name of a file, and for keys by what it begins with."""
    name = path.name.lower()
    if name == ENV_FILE or (name.startswith(f"{ENV_FILE}.") and not name.endswith(EXAMPLES)):
        return True
    if name in NAMES or name.endswith(STORES):
        return True
    return name.endswith(MAY_BE_KEYS) and KEY_MARK in _head(path)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError:
        # Whoever packs it says why it cannot be read.
        return b""
