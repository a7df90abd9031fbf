"""Moments in query parameters."""

from __future__ import annotations

from footplate.domain.errors import InvalidInput
from footplate.domain.kinds import Instant
from footplate.domain.problems import MISSING, Problems


def read_instant(text: str, field: str) -> float | None:
    """Read a moment; None when none is given."""
    problems = Problems()
    at = Instant().read(text, field, problems) if text else None
    if at is MISSING:
        raise InvalidInput(problems)
    return None if at is None else float(at)
