"""Settings of the copies of data that jobs have asked for."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.resources import GIB


@dataclass(frozen=True, slots=True)
class DataSettings:
    """How long copies are kept unused, and how much of the disk all take."""

    kept_s: float = 14 * 86400.0
    most_bytes: int = 200 * GIB
    # Data that would leave less of the disk free than this is not fetched.
    least_free_bytes: int = GIB
