"""What a finished task could have asked for instead."""

from __future__ import annotations

from footplate.domain.messages import Message, say
from footplate.domain.resources import GIB

# Shorter tasks, and smaller differences, say little about the next time.
LEAST_S = 60.0
LEAST_BYTES = GIB
IDLE_CARDS = 0.1


def advise(
    ran_s: float,
    asked_bytes: int,
    peak_bytes: int,
    asked_cpus: float,
    peak_cpus: float,
    gpu_utilisation: float | None,
) -> list[Message]:
    """Say what was asked for and not used, of a task that is over."""
    if ran_s < LEAST_S:
        return []
    advice = []
    if peak_bytes * 2 < asked_bytes and asked_bytes - peak_bytes >= LEAST_BYTES:
        advice.append(say("memory_unused", asked_bytes=asked_bytes, used_bytes=peak_bytes))
    if peak_cpus * 2 < asked_cpus and asked_cpus >= 2:
        advice.append(say("cpus_unused", asked=asked_cpus, used=round(peak_cpus, 1)))
    if gpu_utilisation is not None and gpu_utilisation < IDLE_CARDS:
        advice.append(say("gpus_idle", percent=round(gpu_utilisation * 100)))
    return advice
