"""Fit the prices of made-up houses by gradient descent, and write the model and its curve as results."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import footplate

EPOCHS, HOUSES, RATE = 60, 300, 0.01
# What a house costs, in thousands: a base, and something for each 10 square metres, room and kilometre.
TRUE = {"base": 80.0, "area": 21.0, "rooms": 12.0, "distance": -6.5}
HEIGHT, WIDTH = 200, 480


def houses(chance: random.Random) -> list[tuple[list[float], float]]:
    found = []
    for _ in range(HOUSES):
        inputs = [1.0, chance.uniform(3, 18), float(chance.randint(1, 7)), chance.uniform(0, 20)]
        price = sum(w * x for w, x in zip(TRUE.values(), inputs, strict=True)) + chance.gauss(0, 12)
        found.append((inputs, price))
    return found


def scaled(data: list[tuple[list[float], float]]) -> tuple[list[tuple[list[float], float]], list[float]]:
    """Inputs of about the same size, so that one learning rate fits all; and the sizes they had."""
    sizes = [max(abs(inputs[i]) for inputs, _ in data) for i in range(len(TRUE))]
    return [([x / s for x, s in zip(inputs, sizes, strict=True)], y) for inputs, y in data], sizes


def fit(data: list[tuple[list[float], float]], chance: random.Random) -> tuple[list[float], list[float]]:
    """The weights, and the loss after each epoch."""
    weights, losses = [0.0] * len(TRUE), []
    for epoch in range(1, EPOCHS + 1):
        chance.shuffle(data)
        loss = 0.0
        for inputs, price in data:
            error = sum(w * x for w, x in zip(weights, inputs, strict=True)) - price
            loss += error * error / len(data)
            weights = [w - RATE * error * x for w, x in zip(weights, inputs, strict=True)]
        losses.append(loss)
        print(f"epoch {epoch:3d}  mean squared error {loss:10.2f}")
        footplate.log({"mse": loss}, step=epoch, epoch=epoch, total_epochs=EPOCHS)
    return weights, losses


def curve(losses: list[float]) -> str:
    """The losses as a picture."""
    top = max(losses)
    points = " ".join(
        f"{WIDTH * i / len(losses):.1f},{HEIGHT - (HEIGHT - 10) * loss / top:.1f}"
        for i, loss in enumerate(losses)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<polyline fill="none" stroke="#2f54c9" stroke-width="2" points="{points}"/></svg>\n'
    )


def main() -> None:
    chance = random.Random(1)
    data, sizes = scaled(houses(chance))
    weights, losses = fit(data, chance)
    model = {name: round(w / size, 3) for name, w, size in zip(TRUE, weights, sizes, strict=True)}
    output = Path(os.environ["FOOTPLATE_OUTPUT_DIR"])
    (output / "model.json").write_text(json.dumps(model, indent=2) + "\n")
    (output / "loss.svg").write_text(curve(losses))
    print(f"model.json and loss.svg are among the results; the model: {model}")


if __name__ == "__main__":
    main()
