"""Reads a tar of small plain files that is in memory whole; anything odd is left to Python's own reader."""

from __future__ import annotations

import re
from dataclasses import dataclass

BLOCK_BYTES = 512
_OCTAL = re.compile(rb" *([0-7]{1,11})[ \0]*")
_PLAIN = (b"0", b"\0")
_END = b"\0" * BLOCK_BYTES


@dataclass(frozen=True, slots=True)
class SmallFile:
    name: str
    start: int
    size_bytes: int
    is_executable: bool


def plain_files(tar: bytes) -> list[SmallFile] | None:
    """Find the files of a tar; None if there is anything in it but plain files with short names.

    Python's reader takes longer for a header than the disk takes for the file.
    """
    files, at = [], 0
    while (header := tar[at : at + BLOCK_BYTES]) != _END:
        found = _file(header, at + BLOCK_BYTES)
        if found is None:
            return None
        files.append(found)
        at = found.start + -(-found.size_bytes // BLOCK_BYTES) * BLOCK_BYTES
    return files


def _file(header: bytes, start: int) -> SmallFile | None:
    if (
        len(header) < BLOCK_BYTES
        or header[156:157] not in _PLAIN
        or header[345]
        or header[257:262] != b"ustar"
    ):
        return None
    mode, size, told_sum = (
        _OCTAL.fullmatch(field) for field in (header[100:108], header[124:136], header[148:156])
    )
    if mode is None or size is None or told_sum is None:
        return None
    # The sum counts its own eight bytes as blanks.
    if int(told_sum[1], 8) != sum(header) - sum(header[148:156]) + 8 * 32:
        return None
    try:
        name = header[:100].partition(b"\0")[0].decode()
    except UnicodeDecodeError:
        return None
    # A folder, to readers of old tars.
    if name.endswith("/"):
        return None
    return SmallFile(name, start, int(size[1], 8), bool(int(mode[1], 8) & 0o100))
