"""Average a number over all tasks: it goes round the ring once to be summed and once to be told."""

from __future__ import annotations

import json
import os
import socket
import time


def main() -> None:
    tasks = json.loads(os.environ["FOOTPLATE_TASKS"])
    place = int(os.environ["FOOTPLATE_TASK_INDEX"])
    own, after = tasks[place], tasks[(place + 1) % len(tasks)]
    # Ports are given out before any task starts, so that everybody may listen first and connect then.
    with socket.create_server((own["address"], own["ports"]["main"][0])) as listener:
        right = connect((after["address"], after["ports"]["main"][0]))
        left = listener.accept()[0].makefile("r")
        value = (place + 1) * 10.0
        print(f"task {place} of {len(tasks)} holds {value:g}", flush=True)
        if place == 0:
            tell(right, value)
            total = float(left.readline())
            tell(right, total)
        else:
            tell(right, float(left.readline()) + value)
            total = float(left.readline())
            tell(right, total)
        print(f"task {place}: the mean is {total / len(tasks):g}", flush=True)
        left.readline()  # the last word has come round, or the neighbour has left


def connect(place: tuple[str, int], within_s: float = 30) -> socket.socket:
    deadline = time.monotonic() + within_s
    while True:
        try:
            return socket.create_connection(place)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def tell(peer: socket.socket, value: float) -> None:
    peer.sendall(f"{value!r}\n".encode())


if __name__ == "__main__":
    main()
