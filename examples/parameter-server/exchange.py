"""What server and workers send each other: a version number and a vector, both ways."""

from __future__ import annotations

import json
import os
import socket
import struct
import time

import numpy as np
from model import N_WEIGHTS

CONNECT_WITHIN_S = 60.0
_HEAD = struct.Struct("<q")
_SIZE = _HEAD.size + 8 * N_WEIGHTS


# Written as TensorFlow reads it: who is in the cluster, and which of them we are.
TF_CONFIG = json.loads(os.environ.get("TF_CONFIG", "{}"))
CLUSTER = TF_CONFIG.get("cluster", {"ps": ["127.0.0.1:29500"], "worker": [""]})
INDEX = TF_CONFIG.get("task", {}).get("index", 0)


def address() -> tuple[str, int]:
    """Say where the server listens."""
    host, _, port = CLUSTER["ps"][0].rpartition(":")
    return host, int(port)


def connect() -> socket.socket:
    """Reach the server, which may still be starting."""
    deadline = time.monotonic() + CONNECT_WITHIN_S
    while True:
        try:
            server = socket.create_connection(address(), timeout=CONNECT_WITHIN_S)
        except OSError as error:
            if time.monotonic() > deadline:
                raise SystemExit(f"no parameter server at {address()}: {error}") from None
            time.sleep(0.05)
        else:
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return server


def send(peer: socket.socket, version: int, vector: np.ndarray) -> None:
    peer.sendall(_HEAD.pack(version) + vector.tobytes())


def receive(peer: socket.socket) -> tuple[int, np.ndarray] | None:
    """Read one message; None when the other side has left."""
    data = bytearray()
    while len(data) < _SIZE:
        piece = peer.recv(_SIZE - len(data))
        if not piece:
            return None
        data += piece
    return _HEAD.unpack_from(data)[0], np.frombuffer(bytes(data), offset=_HEAD.size)
