"""Who has sent or used which code: only they, and those who may fetch a job's files, get it by its digest."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "uploads",
        sa.Column("digest", sa.String(71), primary_key=True),
        sa.Column("user", sa.String(255), primary_key=True),
        sa.Column("at", sa.Float(53), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("uploads")
