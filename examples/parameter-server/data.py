"""Handwritten digits, 8 x 8 pixels each, as scikit-learn brings them."""

from __future__ import annotations

import gzip
import importlib.util
from pathlib import Path

import numpy as np

TEST_SHARE = 5  # one in five is kept for the test


def load() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training images and labels, then test images and labels, in an order that never changes."""
    spec = importlib.util.find_spec("sklearn")  # finding it is much quicker than importing it
    if spec is None or spec.origin is None:
        raise SystemExit("this example needs the digits that scikit-learn brings: pip install scikit-learn")
    with gzip.open(Path(spec.origin).parent / "datasets" / "data" / "digits.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    table = np.random.default_rng(7).permutation(table)
    images, labels = table[:, :-1] / 16.0, table[:, -1].astype(int)
    n_test = len(table) // TEST_SHARE
    return images[n_test:], labels[n_test:], images[:n_test], labels[:n_test]
