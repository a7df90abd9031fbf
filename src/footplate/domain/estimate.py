"""When a waiting job is expected to start."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.messages import Message


@dataclass(frozen=True, slots=True)
class Estimate:
    """The expected and the latest start, None if unknown, and what they are based on."""

    expected_at: float | None
    latest_at: float | None
    basis: Message
