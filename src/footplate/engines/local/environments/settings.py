"""Settings of the environments that are built for jobs."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.resources import GIB


@dataclass(frozen=True, slots=True)
class EnvironmentSettings:
    """How long environments are kept unused, how much of the disk all take, how long one may build."""

    kept_s: float = 30 * 86400.0
    most_bytes: int = 100 * GIB
    built_within_s: float = 3600.0
    # A build that leaves less of the disk free than this is ended.
    least_free_bytes: int = GIB
