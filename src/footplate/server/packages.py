"""The settings of the environments that are built for jobs."""

from __future__ import annotations

from footplate.domain.fields import Field, Record
from footplate.domain.kinds import Duration, Size
from footplate.domain.resources import MIB
from footplate.engines.local.environments.settings import EnvironmentSettings

BY_DEFAULT = EnvironmentSettings()
ENVIRONMENTS = Record(
    EnvironmentSettings,
    (
        Field(
            "kept",
            Duration(0, 3650 * 86400),
            "How long an environment is kept that no job uses (default: 30 days).",
            BY_DEFAULT.kept_s,
            "kept_s",
        ),
        Field(
            "most",
            Size(MIB, 2**60),
            "Most of the disk that all environments may take; beyond it, those unused for longest go, "
            "unless a job uses them.",
            BY_DEFAULT.most_bytes,
            "most_bytes",
        ),
        Field(
            "built_within",
            Duration(10, 7 * 86400),
            "Longest time that a build may take.",
            BY_DEFAULT.built_within_s,
            "built_within_s",
        ),
    ),
)
