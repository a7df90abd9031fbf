"""The texts that jobs of other systems were made from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "originals",
        sa.Column("job_id", sa.String(length=12), primary_key=True, nullable=False),
        sa.Column("dialect", sa.String(length=32), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("originals")
