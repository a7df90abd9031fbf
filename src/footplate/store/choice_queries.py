"""Instance types and frameworks, stored."""

from __future__ import annotations

import json
import re
from dataclasses import asdict

import sqlalchemy as sa

from footplate.domain.choices import Framework, InstanceType
from footplate.domain.environmentfields import ENVIRONMENT
from footplate.domain.problems import Problems
from footplate.domain.spec import EnvironmentSpec
from footplate.store.rows import dumps
from footplate.store.tables import frameworks, instance_types


def all_types(connection: sa.Connection) -> list[InstanceType]:
    """Every instance type, as they are listed."""
    query = sa.select(instance_types).order_by(instance_types.c.position, instance_types.c.name)
    return [InstanceType(**row) for row in connection.execute(query).mappings()]


def put_type(connection: sa.Connection, one: InstanceType) -> None:
    """Store an instance type in place of the one of its name."""
    remove_type(connection, one.name)
    connection.execute(sa.insert(instance_types), asdict(one))


def remove_type(connection: sa.Connection, name: str) -> bool:
    return connection.execute(sa.delete(instance_types).where(instance_types.c.name == name)).rowcount > 0


def all_frameworks(connection: sa.Connection) -> list[Framework]:
    """Every version of every framework, as they are listed: of one framework, the highest version first."""
    found = [
        Framework(
            **{
                **row,
                "environment": _environment(row["environment"]),
                "strategies": tuple(json.loads(row["strategies"])),
            }
        )
        for row in connection.execute(sa.select(frameworks)).mappings()
    ]
    found.sort(key=lambda one: _rank(one.version), reverse=True)
    return sorted(found, key=lambda one: (one.position, one.name))


def _rank(version: str) -> tuple[list[int], bool, str]:
    """Compare the first numbers of versions as numbers, 2.10 above 2.9, and a plain one above 2.10rc1."""
    release = re.search(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in release[0].split(".")] if release else []
    return numbers, release is not None and release[0] == version, version


def _environment(text: str | None) -> EnvironmentSpec | None:
    if text is None:
        return None
    problems = Problems()
    read = ENVIRONMENT.read(json.loads(text), "environment", problems)
    problems.raise_if_any()
    assert isinstance(read, EnvironmentSpec)
    return read


def put_framework(connection: sa.Connection, one: Framework) -> None:
    """Store a framework in place of the one of its name and version."""
    remove_framework(connection, one.name, one.version)
    environment = None if one.environment is None else dumps(ENVIRONMENT.write(one.environment))
    row = {
        **{field: getattr(one, field) for field in frameworks.c.keys()},  # noqa: SIM118  # not a mapping
        "environment": environment,
        "strategies": dumps(one.strategies),
    }
    connection.execute(sa.insert(frameworks), row)


def remove_framework(connection: sa.Connection, name: str, version: str) -> bool:
    which = (frameworks.c.name == name) & (frameworks.c.version == version)
    return connection.execute(sa.delete(frameworks).where(which)).rowcount > 0
