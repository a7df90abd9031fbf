"""Paths on storages: cleaned once, where they come in."""

from __future__ import annotations

from footplate.domain.errors import InvalidInput
from footplate.domain.problems import is_writable

MOST_BYTES = 4096
MOST_NAME_BYTES = 255
# What uploads and deletions keep on a storage until they are through; no name of anybody else.
HIDDEN = ".footplate"


def clean(path: str, field: str = "path") -> str:
    """Write a path as a storage takes it; raise `InvalidInput` for one that no file can have.

    A leading slash means the storage's root, which is the empty path.
    """
    if not is_writable(path) or "\0" in path:
        raise InvalidInput("path_not_text", field)
    names = [name for name in path.split("/") if name not in ("", ".")]
    if ".." in names:
        raise InvalidInput("parent_folder", field)
    if any(map(is_hidden, names)):
        raise InvalidInput("path_reserved", field, name=HIDDEN)
    cleaned = "/".join(names)
    if len(cleaned.encode()) > MOST_BYTES or any(len(name.encode()) > MOST_NAME_BYTES for name in names):
        raise InvalidInput("path_too_long", field, most=MOST_NAME_BYTES, most_bytes=MOST_BYTES)
    return cleaned


def clean_file(path: str, field: str = "path") -> str:
    """Clean the path of something that is to be made: never the root."""
    cleaned = clean(path, field)
    if not cleaned:
        raise InvalidInput("path_is_root", field)
    return cleaned


def join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def is_hidden(name: str) -> bool:
    return name.startswith(HIDDEN)


def is_within(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or lies in it."""
    return not folder or path == folder or path.startswith(f"{folder}/")
