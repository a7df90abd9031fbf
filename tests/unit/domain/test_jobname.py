from __future__ import annotations

import pytest

from footplate.domain.jobname import MOST_CHARACTERS, next_free, stem_of
from footplate.domain.names import JOB_NAME


@pytest.mark.parametrize(
    ("name", "taken", "expected"),
    [
        ("train", set(), "train-2"),
        ("train", {"train-2", "train-3"}, "train-4"),
        ("train-7", {"train-2"}, "train-8"),
        ("run-20261115", set(), "run-20261115-2"),
        ("-2", set(), "-2-2"),
    ],
)
def test_the_next_free_name_counts_on(name: str, taken: set[str], expected: str) -> None:
    assert next_free(name, taken) == expected


@pytest.mark.parametrize("name", ["x" * 255, "x" * 253 + "-9", "x" * 250 + "-9999", "x-999999"])
def test_the_next_free_name_is_a_name_itself(name: str) -> None:
    free = next_free(name, {name})
    assert len(free) <= MOST_CHARACTERS == JOB_NAME.most
    assert free.startswith(stem_of(name))
