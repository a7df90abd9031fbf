"""Fit one model with several workers: each has a part of the data, and all average their gradients."""

from __future__ import annotations

import json
import os
import random
import socket
import time
from typing import TextIO

import footplate

STEPS, POINTS, RATE, PAUSE_S = 20_000, 400, 0.02, 0.4
TRUE = (3.0, -2.0, 0.5, 1.5)
CONNECT_WITHIN_S = 60


def examples(rank: int) -> list[tuple[list[float], float]]:
    """This rank's own part of the data: a sum with known weights, and noise."""
    chance = random.Random(rank)
    found = []
    for _ in range(POINTS):
        inputs = [chance.gauss(0, 1) for _ in TRUE]
        wanted = sum(w * x for w, x in zip(TRUE, inputs, strict=True)) + chance.gauss(0, 0.3)
        found.append((inputs, wanted))
    return found


class Ring:
    """Rank 0 adds up what all ranks send, and tells each of them the mean."""

    def __init__(self, rank: int, n_ranks: int, place: tuple[str, int]) -> None:
        self._n_ranks = n_ranks
        if rank == 0:
            with socket.create_server(place) as listener:
                self._peers = [open_file(listener.accept()[0]) for _ in range(n_ranks - 1)]
        else:
            self._peers = [open_file(connect(place))]
        self._is_first = rank == 0

    def mean(self, values: list[float]) -> list[float]:
        if not self._is_first:
            tell(self._peers[0], values)
            return hear(self._peers[0])
        parts = [values, *map(hear, self._peers)]
        mean = [sum(column) / self._n_ranks for column in zip(*parts, strict=True)]
        for peer in self._peers:
            tell(peer, mean)
        return mean


def open_file(peer: socket.socket) -> TextIO:
    return peer.makefile("rw")


def connect(place: tuple[str, int]) -> socket.socket:
    deadline = time.monotonic() + CONNECT_WITHIN_S
    while True:
        try:
            return socket.create_connection(place)
        except OSError:
            # Tasks start together, but not in the same instant.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def tell(peer: TextIO, values: list[float]) -> None:
    peer.write(json.dumps(values) + "\n")
    peer.flush()


def hear(peer: TextIO) -> list[float]:
    line = peer.readline()
    if not line:
        raise SystemExit("the other worker has left")
    values: list[float] = json.loads(line)
    return values


def main() -> None:
    rank, n_ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    own, chance = examples(rank), random.Random(rank)
    print(f"rank {rank} of {n_ranks}: {len(own)} examples, meeting at {place[0]}:{place[1]}")
    ring, weights = Ring(rank, n_ranks, place), [0.0] * len(TRUE)
    for step in range(1, STEPS + 1):
        batch, slope, loss = chance.sample(own, 16), [0.0] * len(TRUE), 0.0
        for inputs, wanted in batch:
            error = sum(w * x for w, x in zip(weights, inputs, strict=True)) - wanted
            loss += error * error / len(batch)
            slope = [s + 2 * error * x / len(batch) for s, x in zip(slope, inputs, strict=True)]
        *slope, loss = ring.mean([*slope, loss])
        weights = [w - RATE * s for w, s in zip(weights, slope, strict=True)]
        if rank == 0:
            footplate.log({"loss": loss}, step=step, total_steps=STEPS)
        if rank == 0 and step % 5 == 0:
            shown = " ".join(f"{w:+.2f}" for w in weights)
            print(f"step {step:5d}  loss {loss:8.4f}  weights {shown}")
        elif step % 50 == 0:
            print(f"rank {rank}: step {step}")
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
