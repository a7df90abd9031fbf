"""Which event led to an event, and which one brought a job to its state."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("events") as events:
        events.add_column(sa.Column("cause", sa.BigInteger()))
    with op.batch_alter_table("jobs") as jobs:
        jobs.add_column(sa.Column("moved_by", sa.BigInteger(), nullable=False, server_default="0"))


def downgrade() -> None:
    with op.batch_alter_table("jobs") as jobs:
        jobs.drop_column("moved_by")
    with op.batch_alter_table("events") as events:
        events.drop_column("cause")
