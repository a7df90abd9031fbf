"""The environments that engines have built for jobs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BuiltEnvironment:
    """Packages that were installed for a person's jobs; `attempts` are those that use them now.

    While `is_building`, `built_at` and `used_at` are when that began, and `attempts` wait for it.
    `image` is what they were added to; without one they are for processes.
    """

    id: str
    owner: str
    kind: str
    what: str
    python: str
    size_bytes: int
    built_at: float
    used_at: float
    attempts: tuple[str, ...] = ()
    is_building: bool = False
    image: str = ""
