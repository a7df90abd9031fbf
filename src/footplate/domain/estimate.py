"""When a waiting job is expected to start, and what would become of one that is not there yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from footplate.domain.messages import Message
from footplate.domain.states import Reason


@dataclass(frozen=True, slots=True)
class Estimate:
    """The expected and the latest start, None if unknown, and what they are based on."""

    expected_at: float | None
    latest_at: float | None
    basis: Message


@dataclass(frozen=True, slots=True)
class WouldBe:
    """What a dry run finds: the engine's request of a job that would start now, or else when it would."""

    reason: Reason
    request: Mapping[str, Any] | None
    estimate: Estimate | None = None
