"""Files that only their owner reads, and that are there as a whole or not at all, a crash included."""

from __future__ import annotations

import os
from pathlib import Path


def write_private(file: Path, content: bytes) -> None:
    """Put a file in its place, or a new one in place of one that is there."""
    half = file.with_name(f"{file.name}.new")
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(descriptor)
    half.replace(file)
