"""Train a digit classifier on several workers that average their gradients after every batch."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import data
import model
import numpy as np
from group import Group

MOMENTUM = 0.9
N_BAR = 24


def main() -> None:
    options = read_options()
    images, labels, test_images, test_labels = data.load()
    with Group() as group:
        mine = slice(group.rank, None, group.size)
        print(f"rank {group.rank} of {group.size}: {len(labels[mine])} of {len(labels)} images", flush=True)
        weights = train(group, images[mine], labels[mine], len(labels) // group.size, options)
    if group.rank == 0:
        print(f"test accuracy {model.accuracy(weights, test_images, test_labels):.4f}", flush=True)
        store(weights)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--batch", type=int, default=16, help="images per worker and step")
    return parser.parse_args()


def train(
    group: Group, images: np.ndarray, labels: np.ndarray, n_images: int, options: argparse.Namespace
) -> np.ndarray:
    """Run all epochs; every rank takes the same number of steps and so ends with the same weights."""
    weights = model.initial(seed=1)
    speed = np.zeros_like(weights)
    rng = np.random.default_rng(group.rank)
    n_steps = max(1, n_images // options.batch)
    for epoch in range(1, options.epochs + 1):
        order, losses = rng.permutation(len(labels)), []
        for step in range(n_steps):
            batch = order[step * options.batch : (step + 1) * options.batch]
            loss, slope = model.gradient(weights, images[batch], labels[batch])
            losses.append(loss)
            speed = MOMENTUM * speed - options.learning_rate * group.mean(slope)
            weights = weights + speed
            draw_bar(epoch, options.epochs, step + 1, n_steps)
        figures = group.mean(np.array([np.mean(losses), model.accuracy(weights, images, labels)]))
        print(f"\repoch {epoch}/{options.epochs} loss {figures[0]:.4f} accuracy {figures[1]:.4f}", flush=True)
    return weights


def draw_bar(epoch: int, n_epochs: int, step: int, n_steps: int) -> None:
    """Redraw the progress of an epoch in place, each time that the bar grows."""
    filled = N_BAR * step // n_steps
    if filled != N_BAR * (step - 1) // n_steps:
        bar = "#" * filled + "." * (N_BAR - filled)
        sys.stdout.write(f"\repoch {epoch}/{n_epochs} [{bar}] {100 * step // n_steps:3d}%")
        sys.stdout.flush()


def store(weights: np.ndarray) -> None:
    """Keep the model where the platform collects results, or here."""
    folder = Path(os.environ.get("FOOTPLATE_OUTPUT_DIR", "."))
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "digits.npz", weights=weights)
    print(f"model stored in {folder / 'digits.npz'}", flush=True)


if __name__ == "__main__":
    main()
