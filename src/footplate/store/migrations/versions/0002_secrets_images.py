"""Secrets, the image catalogue, and the local environments of queues."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "images",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("reference", sa.String(length=512), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("framework", sa.String(length=63), nullable=False),
        sa.Column("version", sa.String(length=63), nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.Column("updated_at", sa.Float(precision=53), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "secrets",
        sa.Column("scope", sa.String(length=261), nullable=False),
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("owner", sa.String(length=255), nullable=False),
        sa.Column("queue", sa.String(length=63), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.Column("updated_at", sa.Float(precision=53), nullable=False),
        sa.Column("last_used_at", sa.Float(precision=53), nullable=True),
        sa.PrimaryKeyConstraint("scope", "name"),
    )
    with op.batch_alter_table("queues", schema=None) as batch_op:
        batch_op.add_column(sa.Column("environments", sa.Text(), nullable=False, server_default="{}"))


def downgrade() -> None:
    with op.batch_alter_table("queues", schema=None) as batch_op:
        batch_op.drop_column("environments")
    op.drop_table("secrets")
    op.drop_table("images")
