"""What use costs, for clients of systems that bill: amounts per hour, in hundredths of the currency."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.accounting import Used
from footplate.domain.resources import GIB, Resources

HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of one CPU, one GiB of memory and one GPU for an hour; without any, all is free."""

    cpu: int = 0
    memory: int = 0
    gpu: int = 0

    def per_hour(self, size: Resources) -> int:
        """What a task of a size costs in an hour."""
        return round(
            self.cpu * size.milli_cpus / 1000 + self.memory * size.memory_bytes / GIB + self.gpu * size.gpus
        )

    def of(self, used: Used) -> int:
        """What was used, as a sum to pay."""
        cards = sum(seconds for _, seconds in used.gpu_s)
        return round(
            (self.cpu * used.cpu_s + self.memory * used.memory_byte_s / GIB + self.gpu * cards) / HOUR_S
        )
