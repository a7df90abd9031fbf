"""Channels, rules of alerts, and notices on their way."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

TIME = sa.Float(precision=53)
TABLES = ("kept_settings", "cursors", "alarms", "deliveries", "alert_rules", "channels")


def upgrade() -> None:
    op.create_table(
        "channels",
        sa.Column("id", sa.String(length=12), primary_key=True, nullable=False),
        sa.Column("scope", sa.String(length=261), nullable=False),
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("scope", "name", name="uq_channels_scope_name"),
    )
    op.create_table(
        "alert_rules",
        sa.Column("id", sa.String(length=12), primary_key=True, nullable=False),
        sa.Column("scope", sa.String(length=261), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
    )
    op.create_index("ix_alert_rules_scope", "alert_rules", ["scope"])
    _add_deliveries()
    op.create_table(
        "alarms",
        sa.Column("key", sa.String(length=512), primary_key=True, nullable=False),
        sa.Column("job_id", sa.String(length=12), nullable=False),
        sa.Column("n_told", sa.Integer(), nullable=False),
        sa.Column("told_at", TIME, nullable=False),
    )
    op.create_index("ix_alarms_job_id", "alarms", ["job_id"])
    op.create_table(
        "cursors",
        sa.Column("name", sa.String(length=32), primary_key=True, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "kept_settings",
        sa.Column("name", sa.String(length=32), primary_key=True, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary()),
    )


def _add_deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.String(length=32), primary_key=True, nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False, unique=True),
        sa.Column("scope", sa.String(length=261), nullable=False),
        sa.Column("channel_id", sa.String(length=12), nullable=False),
        sa.Column("job_id", sa.String(length=12), nullable=False),
        sa.Column("notice", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("n_attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("next_at", TIME, nullable=False),
        sa.Column("done_at", TIME),
        sa.Column("error", sa.Text(), nullable=False),
    )
    op.create_index("ix_deliveries_state_next", "deliveries", ["state", "next_at"])
    op.create_index("ix_deliveries_scope_id", "deliveries", ["scope", "id"])


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
