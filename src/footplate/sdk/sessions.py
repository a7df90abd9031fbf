"""Tokens that were made of a password in the environment, kept so that the next command needs no new login.

The file is its owner's alone. A token is found again only with the password that it was made of: beside it is
a slow hash of both.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from footplate.sdk.settings import Settings

# A token that expires while a command runs would be asked for anew anyway.
EARLY_S = 60
MOST_KEPT = 20


def file_of(environment: Mapping[str, str] = os.environ) -> Path:
    base = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "footplate" / "sessions.json"


def recall(settings: Settings, path: Path) -> str:
    """Find the token of an earlier login with the same password; nothing where there is none."""
    kept = _read(path).get(_name(settings))
    if not isinstance(kept, dict) or not isinstance(kept.get("token"), str):
        return ""
    token = str(kept["token"])
    is_fresh = isinstance(kept.get("until"), (int, float)) and kept["until"] > time.time() + EARLY_S
    return token if is_fresh and hmac.compare_digest(str(kept.get("proof")), _proof(settings, token)) else ""


def keep(settings: Settings, token: str, lasts_s: int, path: Path) -> bool:
    """Remember a token; tell whether that was possible."""
    now = time.time()
    entry = {"token": token, "until": now + lasts_s, "proof": _proof(settings, token)}
    others = {name: one for name, one in _read(path).items() if _lasts(one, now)}
    others.pop(_name(settings), None)
    kept = {**dict(list(others.items())[-MOST_KEPT:]), _name(settings): entry}
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(kept, file)
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        return False
    return True


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _lasts(entry: Any, now: float) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("until"), (int, float)) and entry["until"] > now


def _name(settings: Settings) -> str:
    return f"{settings.user}@{settings.url}"


def _proof(settings: Settings, token: str) -> str:
    hashed = hashlib.scrypt(settings.password.encode(), salt=token.encode(), n=2**12, r=8, p=1)
    return hashed.hex()
