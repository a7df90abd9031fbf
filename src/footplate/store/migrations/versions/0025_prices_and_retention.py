"""Instance types of what jobs held, how long queues keep things, and what is kept of jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

TIME = sa.Float(precision=53)


def upgrade() -> None:
    with op.batch_alter_table("holdings") as holdings:
        holdings.add_column(sa.Column("types", sa.Text(), nullable=False, server_default=sa.text("'[]'")))
    with op.batch_alter_table("queues") as queues:
        queues.add_column(sa.Column("retention", sa.Text(), nullable=False, server_default=sa.text("'{}'")))
    op.create_table(
        "kept_files",
        sa.Column("job_id", sa.String(length=12), primary_key=True, nullable=False),
        sa.Column("owner", sa.String(length=255), nullable=False),
        sa.Column("queue", sa.String(length=63), nullable=False),
        sa.Column("finished_at", TIME, nullable=False),
        sa.Column("logs_bytes", sa.BigInteger(), nullable=False),
        sa.Column("outputs_bytes", sa.BigInteger(), nullable=False),
        sa.Column("work_bytes", sa.BigInteger(), nullable=False),
        sa.Column("code_bytes", sa.BigInteger(), nullable=False),
        sa.Column("gone", sa.String(length=64), nullable=False),
    )
    op.create_index("ix_kept_files_queue_finished", "kept_files", ["queue", "finished_at"])


def downgrade() -> None:
    op.drop_table("kept_files")
    with op.batch_alter_table("queues") as queues:
        queues.drop_column("retention")
    with op.batch_alter_table("holdings") as holdings:
        holdings.drop_column("types")
