"""What was asked for and not used is told, where that matters."""

from __future__ import annotations

from footplate.domain.advice import advise
from footplate.domain.resources import GIB


def codes(ran_s: float = 600, **changed: float) -> list[str]:
    told = {"memory": 32 * GIB, "peak": 30 * GIB, "cpus": 8, "busy": 7, **changed}
    cards = changed.get("cards")
    said = advise(ran_s, int(told["memory"]), int(told["peak"]), told["cpus"], told["busy"], cards)
    return [one.code for one in said]


def test_memory_that_was_not_used_is_told() -> None:
    (said,) = advise(600, 32 * GIB, 3 * GIB, 1, 1, None)
    assert str(said) == "You asked for 32GB of memory and used 3GB at most."


def test_only_what_matters_is_told() -> None:
    assert codes() == []
    assert codes(peak=3 * GIB, busy=1, cards=0.01) == ["memory_unused", "cpus_unused", "gpus_idle"]
    assert codes(ran_s=5, peak=3 * GIB) == []
    assert codes(memory=GIB, peak=GIB // 8) == []
    assert codes(cpus=1, busy=0.1) == []
