"""Catalogues of instance types and of frameworks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "instance_types",
        sa.Column("name", sa.String(length=128), primary_key=True, nullable=False),
        sa.Column("milli_cpus", sa.BigInteger(), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=False),
        sa.Column("gpus", sa.Integer(), nullable=False),
        sa.Column("gpu_type", sa.String(length=64), nullable=False),
        sa.Column("shm_bytes", sa.BigInteger()),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.Column("updated_at", sa.Float(precision=53), nullable=False),
    )
    op.create_table(
        "frameworks",
        sa.Column("name", sa.String(length=128), primary_key=True, nullable=False),
        sa.Column("version", sa.String(length=128), primary_key=True, nullable=False),
        sa.Column("image", sa.String(length=512), nullable=False),
        sa.Column("environment", sa.Text()),
        sa.Column("strategy", sa.String(length=63), nullable=False),
        sa.Column("strategies", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.Column("updated_at", sa.Float(precision=53), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("frameworks")
    op.drop_table("instance_types")
