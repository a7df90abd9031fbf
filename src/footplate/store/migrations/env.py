"""Alembic's entry: runs the chain on the connection that `store.migrate` hands over."""

from __future__ import annotations

from alembic import context

from footplate.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
