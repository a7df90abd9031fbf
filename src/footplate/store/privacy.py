"""Removes other accounts' access to the files of the home folder, whatever the mode of the folder."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
from pathlib import Path

from footplate.home.layout import FILES, FOLDERS

OTHERS = 0o077

log = logging.getLogger(__name__)


def keep_private(home: Path, tells: bool = True) -> None:
    """Create the home folder and remove others' access to its files; warn if they can read the folder."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in FOLDERS:
        (home / name).mkdir(exist_ok=True, mode=0o700)
    for name in (*FOLDERS, *FILES):
        _close(home / name)
    mode = stat.S_IMODE(home.stat().st_mode)
    if tells and mode & OTHERS:
        log.warning(
            "others on this machine can look into the home folder %s (mode %04o): what the server keeps "
            "there is closed to them, settings.toml and files of yours may not be; `chmod 700 %s` closes "
            "all of it",
            home,
            mode,
            home,
        )


def _close(path: Path) -> None:
    # What belongs to somebody else, or is a link to elsewhere, is theirs to open and close who made it.
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
            if mode & OTHERS:
                os.fchmod(descriptor, mode & ~OTHERS)
        finally:
            os.close(descriptor)
