"""Public keys for SSH."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "ssh_keys",
        sa.Column("id", sa.String(length=64), primary_key=True, nullable=False),
        sa.Column("user", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("job_id", sa.String(length=12), nullable=False),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.Column("last_used_at", sa.Float(precision=53)),
    )
    op.create_index("ix_ssh_keys_user", "ssh_keys", ["user"])
    op.create_index("ix_ssh_keys_job_id", "ssh_keys", ["job_id"])


def downgrade() -> None:
    op.drop_table("ssh_keys")
