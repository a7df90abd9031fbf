"""Train a small network to tell two spirals apart, in plain Python."""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import time
from pathlib import Path

import footplate

Point = tuple[float, float, float]
# Little of each second is spent on the CPU: a demo must not keep a small machine busy.
PAUSE_S = 0.5


def spirals(n: int, chance: random.Random) -> list[Point]:
    """Points of two spirals, with the label 0 or 1."""
    points = []
    for i in range(n):
        label, turn = i % 2, 0.4 + 3.2 * math.pi * (i // 2) / (n / 2) / 2
        angle, radius = turn + math.pi * label, turn / 6
        noise = chance.gauss(0, 0.02)
        points.append((radius * math.cos(angle) + noise, radius * math.sin(angle) - noise, float(label)))
    return points


class Network:
    """Two inputs, one hidden layer, one output; learned by gradient descent with momentum."""

    def __init__(self, width: int, chance: random.Random) -> None:
        self.width = width
        # Per hidden unit: two weights, a bias, and the weight of its output; at the end the output's bias.
        self.weights = [chance.gauss(0, 1.5) for _ in range(4 * width)] + [0.0]
        self._speed = [0.0] * len(self.weights)

    def hidden(self, x: float, y: float) -> list[float]:
        w = self.weights
        return [math.tanh(w[i] * x + w[i + 1] * y + w[i + 2]) for i in range(0, 4 * self.width, 4)]

    def output(self, hidden: list[float]) -> float:
        total = self.weights[-1] + sum(unit * self.weights[4 * i + 3] for i, unit in enumerate(hidden))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))

    def learn(self, batch: list[Point], rate: float) -> float:
        """Take one step down the slope; return the mean loss before it."""
        slope, loss = [0.0] * len(self.weights), 0.0
        for x, y, label in batch:
            hidden = self.hidden(x, y)
            guess = self.output(hidden)
            loss -= math.log(max(1e-9, guess if label else 1 - guess))
            error = guess - label
            slope[-1] += error
            for i, unit in enumerate(hidden):
                at, back = 4 * i, error * self.weights[4 * i + 3] * (1 - unit * unit)
                slope[at] += back * x
                slope[at + 1] += back * y
                slope[at + 2] += back
                slope[at + 3] += error * unit
        for i, value in enumerate(slope):
            self._speed[i] = 0.9 * self._speed[i] - rate * value / len(batch)
            self.weights[i] += self._speed[i]
        return loss / len(batch)

    def is_right(self, point: Point) -> bool:
        return (self.output(self.hidden(point[0], point[1])) > 0.5) == (point[2] > 0.5)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4000)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--rate", type=float, default=0.05)
    options = parser.parse_args()
    chance = random.Random(7)
    train, test = spirals(200, chance), spirals(100, chance)
    network = Network(options.width, chance)
    checkpoint = Path(os.environ["FOOTPLATE_CHECKPOINT_DIR"], "network.json")
    print(f"{len(train)} points to learn from, {len(test)} to test with, {options.width} hidden units")
    for epoch in range(1, options.epochs + 1):
        chance.shuffle(train)
        batches = [train[i : i + 20] for i in range(0, len(train), 20)]
        loss = sum(network.learn(batch, options.rate) for batch in batches) / len(batches)
        accuracy = sum(map(network.is_right, test)) / len(test)
        print(f"epoch {epoch:4d}  loss {loss:.4f}  accuracy {accuracy:.1%}")
        footplate.log(
            {"loss": loss, "accuracy": accuracy}, step=epoch, epoch=epoch, total_epochs=options.epochs
        )
        if epoch % 50 == 0:
            checkpoint.write_text(json.dumps(network.weights))
            print(f"checkpoint written after epoch {epoch}")
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
