"""Access keys, by which requests are signed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "access_keys",
        sa.Column("id", sa.String(length=32), primary_key=True, nullable=False),
        sa.Column("user", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.Column("last_used_at", sa.Float(precision=53)),
    )
    with op.batch_alter_table("access_keys") as access_keys:
        access_keys.create_index("ix_access_keys_user", ["user"])


def downgrade() -> None:
    op.drop_table("access_keys")
