"""Fit a line; MPI starts the ranks, a small star of sockets averages their gradients.

A real program would call MPI itself (mpi4py, Horovod). This one shows what is there without it: ranks from
mpirun, and in MASTER_ADDR and MASTER_PORT a place where rank 0 may listen.
"""

from __future__ import annotations

import argparse
import os
import random
import socket
import struct
import time

Pair = tuple[float, float]
RANK, SIZE = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
_PAIR = struct.Struct("<dd")


class Star:
    """Rank 0 collects one pair from everybody and sends the mean back."""

    def __init__(self) -> None:
        place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        if RANK == 0:
            with socket.create_server(place) as listener:
                self._peers = [listener.accept()[0] for _ in range(SIZE - 1)]
        else:
            self._peers = [connect(place)]

    def mean(self, own: Pair) -> Pair:
        if RANK > 0:
            self._peers[0].sendall(_PAIR.pack(*own))
            return receive(self._peers[0])
        pairs = [own, *(receive(peer) for peer in self._peers)]
        mean = (sum(pair[0] for pair in pairs) / SIZE, sum(pair[1] for pair in pairs) / SIZE)
        for peer in self._peers:
            peer.sendall(_PAIR.pack(*mean))
        return mean


def connect(place: tuple[str, int], within_s: float = 30) -> socket.socket:
    deadline = time.monotonic() + within_s
    while True:
        try:
            return socket.create_connection(place)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def receive(peer: socket.socket) -> Pair:
    data = b""
    while len(data) < _PAIR.size:
        data += peer.recv(_PAIR.size - len(data)) or exit("a rank has left")
    a, b = _PAIR.unpack(data)
    return a, b


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40)
    steps = parser.parse_args().steps
    print(f"rank {RANK} of {SIZE} in {os.environ['FOOTPLATE_TASK']}", flush=True)
    chance = random.Random(RANK)  # every rank has its own share of the data
    points = [(x, 3 * x - 1) for x in (chance.uniform(-1, 1) for _ in range(200))]
    star, slope, offset = Star(), 0.0, 0.0
    for _ in range(steps):
        errors = [(slope * x + offset - y, x) for x, y in points]
        own = (sum(e * x for e, x in errors) / len(points), sum(e for e, _ in errors) / len(points))
        gradient = star.mean(own)
        slope, offset = slope - gradient[0], offset - gradient[1]
    if RANK == 0:
        print(f"y = {slope:.2f} x + {offset:.2f}", flush=True)


if __name__ == "__main__":
    main()
