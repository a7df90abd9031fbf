"""Processes that average vectors over TCP: rank 0 adds up and answers, the others send and receive."""

from __future__ import annotations

import os
import socket
import struct
import time
from types import TracebackType
from typing import Self

import numpy as np

CONNECT_WITHIN_S = 60.0
ANSWER_WITHIN_S = 120.0


class Group:
    """The workers of one training, as the environment describes them."""

    def __init__(self) -> None:
        self.rank = int(os.environ.get("RANK", "0"))
        self.size = int(os.environ.get("WORLD_SIZE", "1"))
        address = (os.environ.get("MASTER_ADDR", "127.0.0.1"), int(os.environ.get("MASTER_PORT", "29500")))
        if self.size == 1:
            self._peers: list[socket.socket] = []
        else:
            self._peers = _accept(address, self.size) if self.rank == 0 else [_connect(address, self.rank)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for peer in self._peers:
            peer.close()

    def mean(self, vector: np.ndarray) -> np.ndarray:
        """Return the average of the vectors that all ranks give."""
        if self.rank != 0:
            self._peers[0].sendall(vector.tobytes())
            return _receive(self._peers[0], len(vector))
        total = vector.copy()
        for peer in self._peers:
            total += _receive(peer, len(vector))
        total /= self.size
        for peer in self._peers:
            peer.sendall(total.tobytes())
        return total


def _accept(address: tuple[str, int], size: int) -> list[socket.socket]:
    peers: dict[int, socket.socket] = {}
    with socket.create_server(address) as listener:
        listener.settimeout(CONNECT_WITHIN_S)
        while len(peers) < size - 1:
            try:
                peer, _ = listener.accept()
            except TimeoutError:
                raise SystemExit(f"only {len(peers)} of {size - 1} other workers came") from None
            _tune(peer)
            peers[struct.unpack("<I", _receive_bytes(peer, 4))[0]] = peer
    # In the order of ranks, so that sums come out the same in every run.
    return [peers[rank] for rank in sorted(peers)]


def _connect(address: tuple[str, int], rank: int) -> socket.socket:
    deadline = time.monotonic() + CONNECT_WITHIN_S
    while True:
        try:
            peer = socket.create_connection(address, timeout=5)
            break
        except OSError as error:
            if time.monotonic() > deadline:
                raise SystemExit(f"rank 0 does not listen at {address[0]}:{address[1]}: {error}") from None
            time.sleep(0.05)
    _tune(peer)
    peer.sendall(struct.pack("<I", rank))
    return peer


def _tune(peer: socket.socket) -> None:
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.settimeout(ANSWER_WITHIN_S)


def _receive(peer: socket.socket, n_numbers: int) -> np.ndarray:
    return np.frombuffer(_receive_bytes(peer, n_numbers * 8))


def _receive_bytes(peer: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = peer.recv(size - len(data))
        if not piece:
            raise SystemExit("another worker has left; the training cannot go on")
        data += piece
    return bytes(data)
