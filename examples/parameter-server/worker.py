"""Compute gradients on a share of the images and trade each for the newest weights."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import data
import exchange
import model
import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=16)
    options = parser.parse_args()
    worker, n_workers = exchange.INDEX, len(exchange.CLUSTER["worker"])
    images, labels, test_images, test_labels = data.load()
    weights = train(images[worker::n_workers], labels[worker::n_workers], worker, options)
    print(f"test accuracy {model.accuracy(weights, test_images, test_labels):.4f}", flush=True)
    if worker == 0:
        folder = Path(os.environ.get("FOOTPLATE_OUTPUT_DIR", "."))
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / "softmax.npz", weights=weights)


def train(images: np.ndarray, labels: np.ndarray, worker: int, options: argparse.Namespace) -> np.ndarray:
    rng = np.random.default_rng(worker)
    with exchange.connect() as server:
        # A gradient of nothing but zeros is a question for the weights.
        version, weights = trade(server, 0, np.zeros(model.N_WEIGHTS))
        for epoch in range(1, options.epochs + 1):
            losses = []
            for batch in np.array_split(rng.permutation(len(labels)), max(1, len(labels) // options.batch)):
                loss, gradient = model.gradient(weights, images[batch], labels[batch])
                losses.append(loss)
                version, weights = trade(server, version, gradient)
            share = model.accuracy(weights, images, labels)
            print(
                f"epoch {epoch}/{options.epochs} loss {np.mean(losses):.4f} accuracy {share:.4f}", flush=True
            )
    return weights


def trade(server: exchange.socket.socket, version: int, gradient: np.ndarray) -> tuple[int, np.ndarray]:
    exchange.send(server, version, gradient)
    answer = exchange.receive(server)
    if answer is None:
        raise SystemExit("the parameter server has left")
    return answer


if __name__ == "__main__":
    main()
