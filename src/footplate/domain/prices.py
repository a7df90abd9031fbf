"""What use costs: prices per hour of CPUs, memory, cards and instance types.

A task of an instance type that has a price of its own costs that, whatever the type has; all other tasks cost
what their CPUs, memory and cards do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from footplate.domain.accounting import Held, Size, Used, used
from footplate.domain.resources import GIB, Resources
from footplate.domain.spec import JobSpec

HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices per hour, in one currency; what is 0 costs nothing."""

    currency: str = ""
    cpu: float = 0.0
    memory_gb: float = 0.0
    gpu: float = 0.0
    # By type of the card, instead of `gpu`; and of instance types.
    gpus: Mapping[str, float] = field(default_factory=dict)
    types: Mapping[str, float] = field(default_factory=dict)

    @property
    def are_set(self) -> bool:
        return any((self.cpu, self.memory_gb, self.gpu, *self.gpus.values(), *self.types.values()))

    def card(self, kind: str) -> float:
        return self.gpus.get(kind, self.gpu)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a job would cost in an hour, and in all the time that it may run; None where that has no end."""

    per_hour: float
    at_most: float | None


def cost_of(amount: Used, prices: Prices) -> float:
    """What use costs."""
    flat = [(size, seconds) for size, seconds in amount.types if size.name in prices.types]
    cost = sum(seconds * prices.types[size.name] for size, seconds in flat)
    cost += (amount.cpu_s - sum(size.milli_cpus / 1000 * s for size, s in flat)) * prices.cpu
    cost += (amount.memory_byte_s - sum(size.memory_bytes * s for size, s in flat)) / GIB * prices.memory_gb
    cards = dict(amount.gpu_s)
    for size, seconds in flat:
        if size.gpus:
            cards[size.gpu_type] = cards.get(size.gpu_type, 0.0) - size.gpus * seconds
    cost += sum(seconds * prices.card(kind) for kind, seconds in cards.items())
    # What was taken off for types may leave a trace of rounding.
    return max(0.0, cost / HOUR_S)


def use_of(spec: JobSpec, seconds: float) -> Used:
    """What all tasks of a job use in a time."""
    whole = Used()
    for role in spec.roles:
        size = Size(role.instance_type, role.milli_cpus, role.memory_bytes, role.gpus, role.gpu_type)
        typed = ((size, role.count),) if role.instance_type else ()
        amount: Resources = role.resources * role.count
        held = Held(amount.milli_cpus, amount.memory_bytes, amount.gpus, role.gpu_type, typed)
        whole += used(held, seconds)
    return whole


def price_of(spec: JobSpec, prices: Prices) -> Cost | None:
    """What a job would cost; None where there are no prices."""
    if not prices.are_set:
        return None
    limit = spec.time_limit_s
    at_most = None if limit is None else cost_of(use_of(spec, limit * (1 + spec.retry)), prices)
    return Cost(cost_of(use_of(spec, HOUR_S), prices), at_most)
