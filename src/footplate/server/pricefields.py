"""The settings of prices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from footplate.domain.fields import Field, MapOf, Record
from footplate.domain.kinds import Number, Text
from footplate.domain.prices import Prices
from footplate.domain.problems import MISSING, Problems, join

_PRICE = Number()


def _check(prices: Mapping[str, Any], path: str, problems: Problems) -> None:
    for name in ("cpu", "memory_gb", "gpu"):
        if prices[name] is not MISSING and prices[name] < 0:
            problems.add(join(path, name), "price_negative")
    for name in ("gpus", "types"):
        for kind, price in ({} if prices[name] is MISSING else prices[name]).items():
            if price is not MISSING and price < 0:
                problems.add(join(join(path, name), kind), "price_negative")


PRICES = Record(
    Prices,
    (
        Field("currency", Text(16), "Currency that is shown with prices, such as EUR.", ""),
        Field("cpu", _PRICE, "Price of a CPU for an hour.", 0.0),
        Field("memory_gb", _PRICE, "Price of a GB of memory for an hour.", 0.0),
        Field("gpu", _PRICE, "Price of a GPU for an hour.", 0.0),
        Field("gpus", MapOf(Text(64), _PRICE, 100), "Prices of GPUs by type, instead of `gpu`.", {}),
        Field(
            "types",
            MapOf(Text(128, 1), _PRICE, 1000),
            "Prices of instance types for an hour of one task, instead of what they have.",
            {},
        ),
    ),
    checks=(_check,),
)
