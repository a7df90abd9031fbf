"""The settings of what engines keep for jobs: environments that were built, copies of data."""

from __future__ import annotations

from footplate.domain.fields import Field, Record
from footplate.domain.kinds import Duration, Size
from footplate.domain.resources import MIB
from footplate.engines.local.data.settings import DataSettings
from footplate.engines.local.environments.settings import EnvironmentSettings

BY_DEFAULT = EnvironmentSettings()
DATA_BY_DEFAULT = DataSettings()
DATA = Record(
    DataSettings,
    (
        Field(
            "kept",
            Duration(0, 3650 * 86400),
            "How long a copy of data is kept that no job uses (default: 14 days).",
            DATA_BY_DEFAULT.kept_s,
            "kept_s",
        ),
        Field(
            "most",
            Size(MIB, 2**60),
            "Most of the disk that all copies may take; beyond it, those unused for longest go, unless a job "
            "uses them.",
            DATA_BY_DEFAULT.most_bytes,
            "most_bytes",
        ),
    ),
)
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
