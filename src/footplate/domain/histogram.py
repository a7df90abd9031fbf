"""How long things took, counted in classes, as Prometheus reads it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

FAST_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
SLOW_S = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 1800.0, 3600.0, 4 * 3600.0, 86400.0)


class Histogram:
    """Counts values by the first bound that they do not exceed."""

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: Sequence[float] = FAST_S) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def note(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    @property
    def n(self) -> int:
        return sum(self._counts)

    def classes(self) -> Iterator[tuple[str, int]]:
        """Each bound with how many values are within it; the last has none."""
        within = 0
        for bound, count in zip((*self._bounds, None), self._counts, strict=True):
            within += count
            yield ("+Inf" if bound is None else f"{bound:g}"), within
