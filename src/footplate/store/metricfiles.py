"""Files of metric points: one per task of an attempt, a record per batch, only ever appended to.

A record has a checksum and says whose batch it is. What a crash has cut off is taken away before the next
record is written, so there is no half batch; a batch that comes a second time is known by source and number.
"""

from __future__ import annotations

import hashlib
import math
import os
import struct
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from footplate.domain.metrics import NO_STEP, Batch, Columns
from footplate.machine.taskfiles import unfollowed

# Sign, length and checksum of the rest; then source, number of the batch, number of its points.
_HEAD: Final = struct.Struct("<4sII")
_OWN: Final = struct.Struct("<8sQI")
# Length of the name, number of points, how steps and epochs are written.
_CURVE: Final = struct.Struct("<HIBB")
_LINE: Final = struct.Struct("<qq")
_SIGN: Final = b"FPM1"
_NONE, _SHORT, _EACH = 0, 1, 2
_PIECE_BYTES: Final = 4 * 1024**2
NO_SOURCE: Final = b"\0" * 8


@dataclass(frozen=True, slots=True)
class Record:
    """A batch as it lies in a file; `end` is where the next one begins."""

    source: bytes
    number: int
    n_points: int
    body: bytes
    end: int

    def curves(self, only: frozenset[str] | None = None) -> Iterator[tuple[str, Columns]]:
        """Read the points of the batch, curve by curve; of some names only, if any are given."""
        place = 0
        while place < len(self.body):
            n_name, n, steps, epochs = _CURVE.unpack_from(self.body, place)
            place += _CURVE.size
            name = self.body[place : place + n_name].decode()
            place += n_name
            end = place + 16 * n + _step_bytes(steps, n) + _epoch_bytes(epochs, n)
            if only is None or name in only:
                yield name, _read_columns(self.body[place:end], n, steps, epochs)
            place = end


def source_of(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest() if text else NO_SOURCE


def write_record(batch: Batch) -> bytes:
    """Write a batch as a record."""
    own = _OWN.pack(source_of(batch.source), batch.number, batch.n_points)
    rest = own + b"".join(_write_curve(name, columns) for name, columns in batch.curves.items())
    return _HEAD.pack(_SIGN, len(rest), zlib.crc32(rest)) + rest


def read_records(path: Path, begin: int = 0, end: int | None = None) -> Iterator[Record]:
    """Read whole records from a place on; what a crash cut off is left out."""
    try:
        file = open(path, "rb", opener=unfollowed)  # noqa: SIM115  # closed below
    except FileNotFoundError:
        return
    with file:
        file.seek(begin)
        place, data = begin, b""
        while end is None or place < end:
            if len(data) < _HEAD.size:
                data += file.read(_PIECE_BYTES)
            if len(data) < _HEAD.size:
                return
            sign, length, checksum = _HEAD.unpack_from(data)
            whole = _HEAD.size + length
            if sign != _SIGN:
                return
            if len(data) < whole:
                data += file.read(max(whole - len(data), _PIECE_BYTES))
            rest = data[_HEAD.size : whole]
            if len(rest) < length or zlib.crc32(rest) != checksum:
                return
            place += whole
            data = data[whole:] if len(data) > whole else b""
            source, number, n_points = _OWN.unpack_from(rest)
            yield Record(source, number, n_points, rest[_OWN.size :], place)


def append_record(path: Path, record: bytes, expected: int) -> int:
    """Append a record behind the `expected` size, cutting off what is beyond; return the new size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab", opener=unfollowed) as file:
        if file.tell() != expected:
            file.truncate(expected)
        try:
            file.write(record)
            file.flush()
        except OSError:
            # A full disk may have taken a part of it.
            os.ftruncate(file.fileno(), expected)
            raise
    return expected + len(record)


def _write_curve(name: str, columns: Columns) -> bytes:
    steps, step_data = _write_steps(columns.step)
    epochs, epoch_data = _write_epochs(columns.epoch)
    text = name.encode()
    head = _CURVE.pack(len(text), len(columns), steps, epochs)
    return b"".join((head, text, columns.at.tobytes(), columns.value.tobytes(), step_data, epoch_data))


def _write_steps(steps: array[int]) -> tuple[int, bytes]:
    """Steps that grow evenly take sixteen bytes, however many they are."""
    first = steps[0]
    stride = steps[1] - first if len(steps) > 1 else 0
    if first == NO_STEP:
        return (
            (_NONE, b"") if stride == 0 and steps.count(NO_STEP) == len(steps) else (_EACH, steps.tobytes())
        )
    if abs(stride) < 1 << 31 and steps == _line(first, stride, len(steps)):
        return _SHORT, _LINE.pack(first, stride)
    return _EACH, steps.tobytes()


def _line(first: int, stride: int, n: int) -> array[int]:
    return array("q", range(first, first + stride * n, stride)) if stride else array("q", [first]) * n


def _write_epochs(epochs: array[float]) -> tuple[int, bytes]:
    first = epochs[0]
    if math.isnan(first):
        return (_NONE, b"") if all(map(math.isnan, epochs)) else (_EACH, epochs.tobytes())
    if epochs.count(first) == len(epochs):
        return _SHORT, struct.pack("<d", first)
    return _EACH, epochs.tobytes()


def _step_bytes(kind: int, n: int) -> int:
    return {_NONE: 0, _SHORT: _LINE.size}.get(kind, 8 * n)


def _epoch_bytes(kind: int, n: int) -> int:
    return {_NONE: 0, _SHORT: 8}.get(kind, 8 * n)


def _read_columns(data: bytes, n: int, steps: int, epochs: int) -> Columns:
    at, value = array("d", data[: 8 * n]), array("d", data[8 * n : 16 * n])
    place = 16 * n + _step_bytes(steps, n)
    step_data, epoch_data = data[16 * n : place], data[place:]
    step = array("q", step_data) if steps == _EACH else array("q", [NO_STEP]) * n
    if steps == _SHORT:
        first, stride = _LINE.unpack(step_data)
        step = _line(first, stride, n)
    epoch = array("d", epoch_data) if epochs == _EACH else array("d", [math.nan]) * n
    if epochs == _SHORT:
        epoch = array("d", epoch_data) * n
    return Columns(at, step, epoch, value)
