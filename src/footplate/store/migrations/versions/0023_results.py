"""Where the results of jobs are kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

TIME = sa.Float(precision=53)


def upgrade() -> None:
    op.create_table(
        "results",
        sa.Column("job_id", sa.String(length=12), primary_key=True, nullable=False),
        sa.Column("storage", sa.String(length=63), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("saved_at", TIME),
        sa.Column("is_complete", sa.Boolean(), nullable=False),
        sa.Column("n_files", sa.BigInteger(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("n_left_out", sa.BigInteger(), nullable=False),
        sa.Column("n_tries", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("results")
