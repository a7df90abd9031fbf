"""A queue may be bound to an engine."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("queues") as queues:
        queues.add_column(sa.Column("engine", sa.String(63), nullable=False, server_default=sa.text("''")))


def downgrade() -> None:
    with op.batch_alter_table("queues") as queues:
        queues.drop_column("engine")
