"""Full names of people, and when each was seen last."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("profiles", sa.Column("full_name", sa.Text, nullable=False, server_default=sa.text("''")))
    op.add_column("users", sa.Column("last_seen_at", sa.Float(precision=53)))


def downgrade() -> None:
    op.drop_column("users", "last_seen_at")
    op.drop_column("profiles", "full_name")
