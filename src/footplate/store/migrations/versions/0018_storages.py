"""Storages that admins keep, the first two of them, and uploads of files in pieces."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

FIRST = {
    "home": {"read_only": False, "per_user": True, "description": "Your own files; nobody else sees them"},
    "shared": {"read_only": False, "description": "Files that everybody here can read and change"},
}


def upgrade() -> None:
    table = op.create_table(
        "storages",
        sa.Column("name", sa.String(length=63), primary_key=True, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary()),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.Column("updated_at", sa.Float(precision=53), nullable=False),
    )
    rows = [
        {"name": name, "document": json.dumps(document), "sealed": None, "created_at": 0.0, "updated_at": 0.0}
        for name, document in FIRST.items()
    ]
    op.bulk_insert(table, rows)
    op.create_table(
        "storage_uploads",
        sa.Column("id", sa.String(length=64), primary_key=True, nullable=False),
        sa.Column("storage", sa.String(length=63), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("owner", sa.String(length=255), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("if_exists", sa.String(length=16), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("is_executable", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.Column("done_bytes", sa.BigInteger(), nullable=False),
        sa.Column("fingerprint", sa.String(length=128), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("storage_uploads")
    op.drop_table("storages")
