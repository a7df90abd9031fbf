"""Prices with the time from which each held: what is past costs what it cost then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from footplate.domain.accounting import Holding, account
from footplate.domain.prices import Prices, cost_of

ENDLESS = float("inf")


@dataclass(frozen=True, slots=True)
class PricesSince:
    since: float
    prices: Prices


@dataclass(frozen=True, slots=True)
class PriceBook:
    """All prices that there have been, the oldest first; the first hold for all time before them too."""

    entries: tuple[PricesSince, ...] = (PricesSince(0.0, Prices()),)

    @property
    def now(self) -> Prices:
        return self.entries[-1].prices

    @property
    def are_set(self) -> bool:
        """Whether anything has ever cost something."""
        return any(one.prices.are_set for one in self.entries)

    @property
    def currency(self) -> str:
        """What costs are told in: the currency of today, or of the last prices where there are none now."""
        told = [one.prices.currency for one in self.entries if one.prices.are_set]
        return self.now.currency if self.now.are_set or not told else told[-1]

    def with_prices(self, prices: Prices, at: float) -> PriceBook:
        """Note prices that hold from a moment on, unless they hold already."""
        if prices == self.now:
            return self
        # A clock that was set back must not bring the order about.
        since = max(at, self.entries[-1].since)
        return PriceBook((*self.entries, PricesSince(since, prices)))

    def spans(self, since: float, until: float) -> Iterator[tuple[float, float, Prices]]:
        """The parts of a period in which the same prices held."""
        first, *rest = self.entries
        bounds = [PricesSince(-ENDLESS, first.prices), *rest, PricesSince(ENDLESS, self.now)]
        for one, after in pairwise(bounds):
            begin, end = max(one.since, since), min(after.since, until)
            if begin < end:
                yield begin, end, one.prices

    def costs(self, holdings: Iterable[Holding], since: float, until: float) -> dict[str, float]:
        """What each job cost in a period; what was paid in another currency is left out."""
        held, found = list(holdings), dict[str, float]()
        for begin, end, prices in self.spans(since, until):
            if prices.are_set and prices.currency == self.currency:
                for one in account(held, begin, end):
                    found[one.job_id] = found.get(one.job_id, 0.0) + cost_of(one.used, prices)
        return found
