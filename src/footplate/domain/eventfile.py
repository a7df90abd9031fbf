"""Reads scalars out of TensorBoard's event files, piece by piece as they grow.

A file is a row of records: length (8 bytes), checksum of the length, data, checksum of the data. The data is
a protocol buffer, of which only the few fields are read that scalars need.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

# How such files are called, wherever they come from: TensorFlow, PyTorch, JAX, Lightning.
NAME_PART: Final = "events.out.tfevents."
# An image may be large, a scalar never is: what claims to be larger is no event.
MOST_BYTES: Final = 1 << 30
_HEAD: Final = struct.Struct("<QI")
_FOOT_BYTES: Final = 4
_EVENT_TIME, _EVENT_STEP, _EVENT_SUMMARY = 1, 2, 5
_SUMMARY_VALUE, _VALUE_TAG, _VALUE_SIMPLE, _VALUE_TENSOR = 1, 1, 2, 8
_TENSOR_TYPE, _TENSOR_SHAPE, _TENSOR_CONTENT, _SHAPE_DIM = 1, 2, 4, 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
# By the number of the type: how its content is packed, and the field that has its values one by one.
_PACKED: Final = {1: ("<f", 5), 2: ("<d", 6), 3: ("<i", 7), 9: ("<q", 10), 19: ("<e", 13)}
_BFLOAT16: Final = 14


class NotAnEventFile(ValueError):
    """The bytes are no record of an event file, or are damaged."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value of a curve: its tag is its name."""

    at: float
    step: int
    tag: str
    value: float


def is_event_file(name: str) -> bool:
    """Tell by its name whether a file is an event file."""
    return NAME_PART in name


def read_scalars(data: bytes) -> tuple[list[Scalar], int]:
    """Read the scalars of all whole records, and say how many bytes those records take.

    What follows may be a record that is still being written: read on from there when the file has grown.
    """
    found: list[Scalar] = []
    place = 0
    while (end := _end_of_record(data, place)) is not None:
        found.extend(_scalars_of(memoryview(data)[place + _HEAD.size : end - _FOOT_BYTES]))
        place = end
    return found, place


def _end_of_record(data: bytes, place: int) -> int | None:
    if len(data) < place + _HEAD.size:
        return None
    length, checksum = _HEAD.unpack_from(data, place)
    if length > MOST_BYTES or checksum != masked_crc(data[place : place + 8]):
        raise NotAnEventFile(f"no event begins at byte {place}")
    end: int = place + _HEAD.size + length + _FOOT_BYTES
    return end if end <= len(data) else None


def _scalars_of(event: memoryview) -> Iterator[Scalar]:
    at, step = 0.0, 0
    summaries: list[memoryview] = []
    for number, kind, value in _fields(event):
        if number == _EVENT_TIME and kind == _FIXED64:
            at = struct.unpack("<d", value)[0]
        elif number == _EVENT_STEP and kind == _VARINT:
            step = _signed(value)
        elif number == _EVENT_SUMMARY and kind == _BYTES:
            summaries.append(value)
    for summary in summaries:
        for number, kind, value in _fields(summary):
            if number == _SUMMARY_VALUE and kind == _BYTES:
                tag, scalar = _value(value)
                if scalar is not None:
                    yield Scalar(at, step, tag, scalar)


def _value(data: memoryview) -> tuple[str, float | None]:
    tag, scalar = "", None
    for number, kind, value in _fields(data):
        if number == _VALUE_TAG and kind == _BYTES:
            tag = bytes(value).decode("utf-8", "replace")
        elif number == _VALUE_SIMPLE and kind == _FIXED32:
            scalar = float(struct.unpack("<f", value)[0])
        elif number == _VALUE_TENSOR and kind == _BYTES:
            scalar = _tensor(value)
    return tag, scalar


def _tensor(data: memoryview) -> float | None:
    """Read a tensor without dimensions; None for any other, such as an image or a text."""
    of_type, content = 0, b""
    single: dict[int, memoryview | int] = {}
    for number, kind, value in _fields(data):
        if number == _TENSOR_TYPE and kind == _VARINT:
            of_type = value
        elif number == _TENSOR_SHAPE and kind == _BYTES:
            if any(inner == _SHAPE_DIM for inner, _, _ in _fields(value)):
                return None
        elif number == _TENSOR_CONTENT and kind == _BYTES:
            content = bytes(value)
        else:
            single[number] = value
    if of_type == _BFLOAT16 and len(content) == 2:
        return float(struct.unpack("<f", b"\0\0" + content)[0])
    if of_type not in _PACKED:
        return None
    form, field = _PACKED[of_type]
    if len(content) == struct.calcsize(form):
        return float(struct.unpack(form, content)[0])
    return _single(single.get(field), form)


def _single(value: memoryview | int | None, form: str) -> float | None:
    """Read a value that stands by itself: packed with others of its kind, or as a number."""
    if value is None:
        return None
    if form in ("<f", "<d"):
        packed = bytes(value) if isinstance(value, memoryview) else b""
        return float(struct.unpack(form, packed)[0]) if len(packed) == struct.calcsize(form) else None
    if isinstance(value, memoryview):
        value = _varint(value, 0)[0]
    if form == "<e":
        return float(struct.unpack("<e", struct.pack("<H", value & 0xFFFF))[0])
    return float(_signed(value))


def _fields(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    """Yield number, kind and value of each field: a number for a varint, else the bytes."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, place = _varint(data, place)
            yield number, kind, value
            continue
        length = {_FIXED64: 8, _FIXED32: 4}.get(kind, 0)
        if kind == _BYTES:
            length, place = _varint(data, place)
        if (not length and kind != _BYTES) or place + length > len(data):
            raise NotAnEventFile("an event is damaged")
        yield number, kind, data[place : place + length]
        place += length


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(data) and shift < 70:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
    raise NotAnEventFile("an event is damaged")


def _signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >= 1 << 63 else value


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return tuple(table)


_CRC32C: Final = _crc_table()


def masked_crc(data: bytes) -> int:
    """The checksum that guards a length; that of the data is not looked at, which would take too long."""
    value = 0xFFFFFFFF
    for byte in data:
        value = (value >> 8) ^ _CRC32C[(value ^ byte) & 0xFF]
    value ^= 0xFFFFFFFF
    return (((value >> 15) | (value << 17)) + 0xA282EAD8) & 0xFFFFFFFF
