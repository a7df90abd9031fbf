"""A connection between two tasks of a gang: each proves that it knows the gang's secret, then frames flow.

The secret never travels. Frames are not encrypted: they carry what a rank prints and reads.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import socket
import struct
import threading
from collections.abc import Mapping

RUN, WATCH, BYE = b"R", b"W", b"B"
IN, IN_END, OUT, ERR, EXIT = b"I", b"i", b"O", b"E", b"X"

PROOF_WITHIN_S = 10.0
NONCE_BYTES = 32
MAX_FRAME_BYTES = 1 << 20
_HEAD = struct.Struct(">cI")


class Refused(Exception):
    """The other side does not belong to this gang."""


class Closed(Exception):
    """The other side has gone."""


def gang_secret(environment: Mapping[str, str]) -> bytes:
    """Derive what only the tasks of this attempt know from the token that only they were given."""
    token = environment.get("FOOTPLATE_TOKEN", "")
    if not token:
        raise SystemExit("footplate: FOOTPLATE_TOKEN is not set: tasks cannot prove that they are one gang")
    attempt = environment.get("FOOTPLATE_ATTEMPT_ID", "")
    return hmac.new(token.encode(), b"footplate gang " + attempt.encode(), hashlib.sha256).digest()


class Channel:
    """Frames over a socket whose other side has proved itself; sending is safe from several threads."""

    def __init__(self, peer: socket.socket) -> None:
        self._peer = peer
        self._sending = threading.Lock()

    def send(self, kind: bytes, data: bytes = b"") -> None:
        with self._sending:
            try:
                self._peer.sendall(_HEAD.pack(kind, len(data)) + data)
            except OSError as error:
                raise Closed(str(error)) from None

    def receive(self) -> tuple[bytes, bytes]:
        kind, size = _HEAD.unpack(_read(self._peer, _HEAD.size))
        if size > MAX_FRAME_BYTES:
            raise Closed(f"a frame of {size} bytes was announced")
        return kind, _read(self._peer, size)

    def fileno(self) -> int:
        return self._peer.fileno()

    def close(self) -> None:
        self._peer.close()


def greet(peer: socket.socket, secret: bytes, task: str) -> Channel:
    """Prove to the agent of a task that we belong to the gang, and have it prove the same."""
    peer.settimeout(PROOF_WITHIN_S)
    theirs, ours = _read(peer, NONCE_BYTES), os.urandom(NONCE_BYTES)
    _write(peer, ours + _proof(secret, b"client", theirs, ours, task))
    answer = _read(peer, hashlib.sha256().digest_size)
    _compare(answer, _proof(secret, b"server", theirs, ours, task))
    return _opened(peer)


def welcome(peer: socket.socket, secret: bytes, task: str) -> Channel:
    """Have a caller prove that it belongs to the gang, and prove the same to it."""
    peer.settimeout(PROOF_WITHIN_S)
    ours = os.urandom(NONCE_BYTES)
    _write(peer, ours)
    theirs = _read(peer, NONCE_BYTES)
    _compare(_read(peer, hashlib.sha256().digest_size), _proof(secret, b"client", ours, theirs, task))
    _write(peer, _proof(secret, b"server", ours, theirs, task))
    return _opened(peer)


def _proof(secret: bytes, side: bytes, agent_nonce: bytes, caller_nonce: bytes, task: str) -> bytes:
    # The task's name keeps a proof from being passed on to another task.
    return hmac.new(secret, side + agent_nonce + caller_nonce + task.encode(), hashlib.sha256).digest()


def _compare(given: bytes, expected: bytes) -> None:
    if not hmac.compare_digest(given, expected):
        raise Refused("the other side does not know the gang's secret")


def _opened(peer: socket.socket) -> Channel:
    peer.settimeout(None)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return Channel(peer)


def _write(peer: socket.socket, data: bytes) -> None:
    try:
        peer.sendall(data)
    except OSError as error:
        raise Closed(str(error)) from None


def _read(peer: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        try:
            piece: bytes | None = peer.recv(size - len(data))
        except OSError as error:
            raise Closed(str(error)) from None
        if not piece:
            raise Closed("the connection was closed")
        data += piece
    return data
