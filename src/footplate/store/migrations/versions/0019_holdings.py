"""What jobs held, and for how long."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

TIME = sa.Float(precision=53)


def upgrade() -> None:
    with op.batch_alter_table("jobs") as jobs:
        jobs.add_column(sa.Column("held_since", TIME))
    op.create_table(
        "holdings",
        sa.Column("job_id", sa.String(length=12), primary_key=True, nullable=False),
        sa.Column("attempt", sa.Integer(), primary_key=True, nullable=False),
        sa.Column("since", TIME, primary_key=True, nullable=False),
        sa.Column("gpu_type", sa.String(length=64), primary_key=True, nullable=False),
        sa.Column("until", TIME, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("owner", sa.String(length=255), nullable=False),
        sa.Column("queue", sa.String(length=63), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("milli_cpus", sa.BigInteger(), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=False),
        sa.Column("gpus", sa.BigInteger(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_holdings_until", "holdings", ["until"])
    op.create_index("ix_holdings_owner_until", "holdings", ["owner", "until"])


def downgrade() -> None:
    op.drop_table("holdings")
    with op.batch_alter_table("jobs") as jobs:
        jobs.drop_column("held_since")
