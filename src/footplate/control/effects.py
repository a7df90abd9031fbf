"""Carries out the effects that `advance` returns: one table from kinds of effects to their handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from footplate.domain.events import Effect
from footplate.domain.job import Job

CarryOut = Callable[[Job, Effect], None]


def dispatcher(table: Mapping[type[Effect], Callable[[Job, Any], None]]) -> CarryOut:
    """Make the function that passes each effect of a job to the handler of its kind."""

    def carry_out(job: Job, effect: Effect) -> None:
        table[type(effect)](job, effect)

    return carry_out
