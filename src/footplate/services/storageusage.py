"""What a folder of a storage holds."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.storages.base import Files


@dataclass(frozen=True, slots=True)
class Usage:
    """What a folder holds, all folders in it included."""

    n_files: int
    n_folders: int
    size_bytes: int


def measure(files: Files, path: str) -> Usage:
    """Count what is below a path; links are not followed."""
    here = files.stat(path)
    if not here.is_folder:
        return Usage(1, 0, here.size_bytes)
    n_files = n_folders = size_bytes = 0
    for entry in files.walk(path):
        n_folders += entry.is_folder
        n_files += not entry.is_folder
        size_bytes += entry.size_bytes
    return Usage(n_files, n_folders, size_bytes)
