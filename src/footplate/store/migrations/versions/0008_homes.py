"""The home folder that a database belongs to, and signs of life of the server that holds it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "homes",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("machine", sa.String(64), nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("taken_at", sa.Float(53), nullable=False),
    )
    op.add_column("leases", sa.Column("renewed_at", sa.Float(53), nullable=True))


def downgrade() -> None:
    op.drop_column("leases", "renewed_at")
    op.drop_table("homes")
