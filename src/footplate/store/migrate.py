"""Upgrades the tables of a database to the newest version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from footplate import __version__
from footplate.domain.errors import Conflict

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0027"


def migrate(engine: sa.Engine) -> None:
    """Run every migration that is missing; raise `Conflict` when a newer Footplate has made the tables."""
    if (found := version(engine)) == HEAD:
        return
    _refuse_newer(found)
    # Imported here: a start on an up-to-date database does not pay for the migration tool.
    from alembic import command

    config = alembic_config()
    with engine.execution_options(footplate_writer=True).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _refuse_newer(found: str | None) -> None:
    if found is not None and found > HEAD:
        raise Conflict("database_too_new", found=found, version=__version__, known=HEAD)


def version(engine: sa.Engine) -> str | None:
    """The version of the tables, or None for an empty database."""
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            return None
        found = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
        return None if found is None else str(found)


def known_versions() -> frozenset[str]:
    """Every version of the tables that this program can bring up to date."""
    versions = Path(__file__).parent / "migrations" / "versions"
    return frozenset(path.name.partition("_")[0] for path in versions.glob("[0-9]*_*.py"))


def alembic_config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
