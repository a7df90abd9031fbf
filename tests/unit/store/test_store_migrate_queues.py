"""A database from before there were secrets and images."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import command

from footplate.store import image_queries, queue_queries, secret_queries
from footplate.store.database import open_engine
from footplate.store.migrate import alembic_config, migrate


def test_queues_of_an_older_database_are_kept_and_have_no_environments(empty_database_url: str) -> None:
    engine, config = open_engine(empty_database_url), alembic_config()
    with engine.execution_options(footplate_writer=True).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    with engine.execution_options(footplate_writer=True).begin() as connection:
        connection.execute(
            sa.text(
                "INSERT INTO queues (name, description, guaranteed, nodes, is_open, created_at) "
                "VALUES ('vision', 'Image models', '[1000, 0, 0]', '[\"n1\"]', :yes, 0)"
            ),
            {"yes": True},
        )
    migrate(engine)
    with engine.connect() as connection:
        (queue,) = queue_queries.all_queues(connection)
        assert (queue.name, queue.nodes, queue.environments) == ("vision", ("n1",), ())
        assert image_queries.all_images(connection) == []
        assert secret_queries.told(connection, ["user:ada"]) == []
    engine.dispose()
