"""Where volumes lie on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from footplate.domain.storage import OWN, Storage, Volume
from footplate.home import layout


def folder_of(home: Path, storages: Mapping[str, Storage], job_id: str, volume: Volume) -> Path:
    """Find a volume of a job: on the home's own storage, or on one that is declared; else KeyError."""
    if volume.storage == OWN:
        return layout.volume_folder(home, job_id, volume.inner)
    return Path(storages[volume.storage].path, volume.inner)
