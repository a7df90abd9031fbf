"""Lists the files of a folder as the objects of a bucket: by their whole keys, page by page.

Keys are in the order of their letters, which is not the order of the folders' names: `a.txt` comes before
`a/b`, because a full stop comes before a slash.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from footplate.dialects.cos.answers import Asked, Listed
from footplate.storages.base import Entry, EntryKind, Files
from footplate.storages.paths import join

PAGE = 1000
EMPTY_TAG = "d41d8cd98f00b204e9800998ecf8427e"


def found_in(files: Files, base: str, asked: Asked) -> tuple[list[Listed], bool]:
    """List what is asked for below a folder, and tell whether there is more."""
    found: list[Listed] = []
    if asked.most <= 0:
        return found, False
    start = asked.prefix[: asked.prefix.rfind("/") + 1]
    for one in _keys(files, base, start, asked):
        if len(found) == asked.most:
            return found, True
        found.append(one)
    return found, False


def _keys(files: Files, base: str, folder: str, asked: Asked) -> Iterator[Listed]:
    """Go through the keys of a folder, which is empty or ends in a slash."""
    is_empty = True
    path = join(base, folder.rstrip("/")) if folder.strip("/") else base
    for entry in _by_key(files, path, _first(folder, asked), _stem(folder, asked)):
        is_empty = False
        key = folder + entry.name
        if not entry.is_folder:
            if key.startswith(asked.prefix) and key > asked.marker and entry.kind is EntryKind.FILE:
                yield Listed(key, entry.size_bytes, entry.tag, entry.modified_at)
            continue
        if entry.is_link or not _concerns(f"{key}/", asked):
            # A link may lead to a folder around it.
            continue
        if asked.delimiter and key.startswith(asked.prefix):
            if f"{key}/" > asked.marker:
                yield Listed(f"{key}/", is_prefix=True)
        else:
            yield from _keys(files, base, f"{key}/", asked)
    if is_empty and folder and folder.startswith(asked.prefix) and folder > asked.marker:
        yield from _marker(files, path, folder)


def _marker(files: Files, path: str, folder: str) -> Iterator[Listed]:
    """An empty folder is an object of its own, as clients make one."""
    try:
        entry = files.stat(path)
        if entry.is_folder and not files.page(path, "", 1).entries:
            yield Listed(folder, 0, EMPTY_TAG, entry.modified_at)
    except (FileNotFoundError, NotADirectoryError):
        return


def _concerns(key: str, asked: Asked) -> bool:
    """Tell whether a folder may have keys that are asked for."""
    is_within = key.startswith(asked.prefix) or asked.prefix.startswith(key)
    return is_within and (key > asked.marker or asked.marker.startswith(key))


def _by_key(files: Files, path: str, after: str, stem: str) -> Iterator[Entry]:
    """The entries of a folder in the order of their keys."""
    waiting: list[tuple[str, Entry]] = []
    for entry in _entries(files, path, after):
        if stem and not entry.name.startswith(stem):
            if entry.name > stem:
                break
            continue
        while waiting and waiting[0][0] < entry.name:
            yield heapq.heappop(waiting)[1]
        if entry.is_folder:
            heapq.heappush(waiting, (f"{entry.name}/", entry))
        else:
            yield entry
    while waiting:
        yield heapq.heappop(waiting)[1]


def _entries(files: Files, path: str, after: str) -> Iterator[Entry]:
    while True:
        try:
            page = files.page(path, after, PAGE)
        except (FileNotFoundError, NotADirectoryError):
            return
        yield from page.entries
        if not page.after:
            return
        after = page.after


def _stem(folder: str, asked: Asked) -> str:
    """How the names begin that are asked for in a folder."""
    return asked.prefix[len(folder) :].partition("/")[0] if asked.prefix.startswith(folder) else ""


def _first(folder: str, asked: Asked) -> str:
    """A name behind which all lies that is asked for in a folder."""
    begins = [_stem(folder, asked)]
    if asked.marker.startswith(folder):
        begins.append(asked.marker[len(folder) :].partition("/")[0])
    return max(map(_before, begins))


def _before(name: str) -> str:
    # A folder `a` comes after a file `a.txt` although its name is the shorter one.
    until = next((i for i, letter in enumerate(name) if letter < "/"), len(name))
    return name[: max(0, until - 1)]
