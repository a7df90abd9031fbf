"""A classifier with one hidden layer; its weights are one vector, easy to send and to average."""

from __future__ import annotations

import numpy as np

N_PIXELS, N_HIDDEN, N_CLASSES = 64, 64, 10
SHAPES = ((N_PIXELS, N_HIDDEN), (N_HIDDEN,), (N_HIDDEN, N_CLASSES), (N_CLASSES,))


def split(vector: np.ndarray) -> list[np.ndarray]:
    """View the vector as the matrices and biases of the layers."""
    sizes = [int(np.prod(shape)) for shape in SHAPES]
    parts = np.split(vector, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, SHAPES, strict=True)]


def initial(seed: int) -> np.ndarray:
    """Make the weights to begin with; every rank makes the same ones."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(0, np.sqrt(2 / N_PIXELS), SHAPES[0])
    out = rng.normal(0, np.sqrt(1 / N_HIDDEN), SHAPES[2])
    return np.concatenate([hidden.ravel(), np.zeros(N_HIDDEN), out.ravel(), np.zeros(N_CLASSES)])


def _forward(vector: np.ndarray, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    w1, b1, w2, b2 = split(vector)
    hidden = np.maximum(images @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return hidden, powers / powers.sum(axis=1, keepdims=True)


def gradient(vector: np.ndarray, images: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the loss of a batch and its gradient."""
    hidden, chances = _forward(vector, images)
    rows = np.arange(len(labels))
    loss = float(-np.log(chances[rows, labels] + 1e-12).mean())
    error = chances.copy()
    error[rows, labels] -= 1
    error /= len(labels)
    back = (error @ split(vector)[2].T) * (hidden > 0)
    parts = (images.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0))
    return loss, np.concatenate([part.ravel() for part in parts])


def accuracy(vector: np.ndarray, images: np.ndarray, labels: np.ndarray) -> float:
    return float((_forward(vector, images)[1].argmax(axis=1) == labels).mean())
