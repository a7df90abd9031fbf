"""Writes event files as TensorBoard's writers do, for tests: no such package is needed."""

from __future__ import annotations

import struct

from footplate.domain.eventfile import masked_crc


def scalar_event(at: float, step: int, tag: str, value: float, *, as_tensor: bool = False) -> bytes:
    """Make the record of one scalar: as a plain value (PyTorch), or as a tensor (TensorFlow 2)."""
    held = _field(8, _tensor(value)) if as_tensor else _key(2, 5) + struct.pack("<f", value)
    one = _field(1, tag.encode()) + held
    return record(_key(1, 1) + struct.pack("<d", at) + _key(2, 0) + _varint(step) + _field(5, _field(1, one)))


def record(data: bytes) -> bytes:
    """Frame the bytes of an event."""
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked_crc(head)) + data + struct.pack("<I", masked_crc(data))


def _tensor(value: float) -> bytes:
    return _key(1, 0) + _varint(1) + _field(2, b"") + _field(4, struct.pack("<f", value))


def _field(number: int, data: bytes) -> bytes:
    return _key(number, 2) + _varint(len(data)) + data


def _key(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
