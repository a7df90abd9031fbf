"""The instance types and frameworks as they are now, in memory."""

from __future__ import annotations

import sqlalchemy as sa

from footplate.domain.choices import Framework, InstanceType, resolve
from footplate.domain.spec import JobSpec
from footplate.store import choice_queries


class Choices:
    """Filled at start, and again after each change."""

    def __init__(self) -> None:
        self.types: dict[str, InstanceType] = {}
        self.frameworks: list[Framework] = []

    def load(self, connection: sa.Connection) -> None:
        self.types = {one.name: one for one in choice_queries.all_types(connection)}
        self.frameworks = choice_queries.all_frameworks(connection)

    def resolve(self, spec: JobSpec) -> JobSpec:
        """A job with what the types and the framework that it names say."""
        return resolve(spec, self.types, self.frameworks)
