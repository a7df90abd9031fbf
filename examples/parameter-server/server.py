"""Hold the weights: apply every gradient as it comes and answer with the newest weights."""

from __future__ import annotations

import argparse
import signal
import socket
import sys
import threading

import exchange
import numpy as np
from model import N_WEIGHTS


class Weights:
    """The shared vector; its version counts the gradients applied."""

    def __init__(self, learning_rate: float) -> None:
        self._learning_rate = learning_rate
        self._lock = threading.Lock()
        self._vector = np.zeros(N_WEIGHTS)
        self._version = 0

    def apply(self, gradient: np.ndarray) -> tuple[int, np.ndarray]:
        with self._lock:
            self._vector = self._vector - self._learning_rate * gradient
            self._version += 1
            return self._version, self._vector


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learning-rate", type=float, default=0.2)
    weights = Weights(parser.parse_args().learning_rate)
    # The platform stops the server politely once the workers are done.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with socket.create_server(exchange.address()) as listener:
        print("serving weights at {}:{}".format(*exchange.address()), flush=True)
        while True:
            worker, _ = listener.accept()
            threading.Thread(target=serve, args=(worker, weights), daemon=True).start()


def serve(worker: socket.socket, weights: Weights) -> None:
    n_gradients, n_stale = 0, 0
    worker.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with worker:
        while message := exchange.receive(worker):
            seen, gradient = message
            version, vector = weights.apply(gradient)
            n_gradients, n_stale = n_gradients + 1, n_stale + version - 1 - seen
            exchange.send(worker, version, vector)
    lag = n_stale / max(1, n_gradients)
    print(f"a worker is done: {n_gradients} gradients, {lag:.2f} versions old on average", flush=True)


if __name__ == "__main__":
    main()
