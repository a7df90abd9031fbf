"""Migrations: from nothing to the newest tables, once, and equal to what the code believes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from footplate import __version__
from footplate.domain.errors import Conflict
from footplate.store.alltables import metadata
from footplate.store.database import open_engine
from footplate.store.migrate import HEAD, alembic_config, migrate, version


@pytest.fixture
def empty(empty_database_url: str) -> Iterator[sa.Engine]:
    engine = open_engine(empty_database_url)
    yield engine
    engine.dispose()


def test_an_empty_database_has_no_version(empty: sa.Engine) -> None:
    assert version(empty) is None


def test_migrating_an_empty_database_makes_every_table(empty: sa.Engine) -> None:
    migrate(empty)
    assert version(empty) == HEAD
    assert set(metadata.tables) <= set(sa.inspect(empty).get_table_names())


def test_migrating_twice_changes_nothing(empty: sa.Engine) -> None:
    migrate(empty)
    with empty.begin() as connection:
        connection.execute(sa.insert(metadata.tables["nodes"]), {"name": "kept", "is_schedulable": True})
    migrate(empty)
    with empty.connect() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(metadata.tables["nodes"])) == 1


def test_tables_of_a_newer_program_are_refused_in_one_sentence_with_both_versions(empty: sa.Engine) -> None:
    migrate(empty)
    with empty.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(Conflict, match=f"version 9999 .* Footplate {__version__}, .* version {HEAD}: start"):
        migrate(empty)


def test_the_migrated_tables_are_those_of_the_code(empty: sa.Engine) -> None:
    migrate(empty)
    with empty.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, metadata) == []


def test_the_newest_migration_is_the_version_that_a_start_expects() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_current_head() == HEAD


def test_a_migration_can_be_taken_back(empty: sa.Engine) -> None:
    from alembic import command

    migrate(empty)
    config = alembic_config()
    with empty.execution_options(footplate_writer=True).begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    assert set(sa.inspect(empty).get_table_names()) <= {"alembic_version"}
