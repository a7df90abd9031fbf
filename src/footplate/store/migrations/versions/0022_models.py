"""Models, their versions and files, and what they can be served in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

TIME = sa.Float(precision=53)


def _key(name: str, kind: sa.String) -> sa.Column[str]:
    return sa.Column(name, kind, primary_key=True, nullable=False)


def upgrade() -> None:
    op.create_table(
        "models",
        _key("id", sa.String(length=16)),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("owner", sa.String(length=255), nullable=False),
        sa.Column("queue", sa.String(length=63), nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("aliases", sa.Text(), nullable=False),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("deleted_at", TIME),
    )
    op.create_index("ix_models_owner_name", "models", ["owner", "name"])
    op.create_table(
        "model_versions",
        _key("model_id", sa.String(length=16)),
        sa.Column("number", sa.Integer(), primary_key=True, nullable=False, autoincrement=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("job_id", sa.String(length=12), nullable=False),
        sa.Column("created_by", sa.String(length=255), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("n_files", sa.Integer(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", TIME),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_model_versions_job_id", "model_versions", ["job_id"])
    op.create_table(
        "model_files",
        _key("model_id", sa.String(length=16)),
        sa.Column("number", sa.Integer(), primary_key=True, nullable=False, autoincrement=False),
        _key("path", sa.String(length=1024)),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_model_files_sha256", "model_files", ["sha256"])
    op.create_table(
        "model_uploads",
        _key("sha256", sa.String(length=64)),
        _key("user", sa.String(length=255)),
        sa.Column("at", TIME, nullable=False),
    )
    op.create_table("model_dues", _key("job_id", sa.String(length=12)))
    op.create_table(
        "inference_environments",
        _key("name", sa.String(length=128)),
        sa.Column("image", sa.String(length=512), nullable=False),
        sa.Column("framework", sa.String(length=128), nullable=False),
        sa.Column("version", sa.String(length=128), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
    )


def downgrade() -> None:
    for name in (
        "inference_environments",
        "model_dues",
        "model_uploads",
        "model_files",
        "model_versions",
        "models",
    ):
        op.drop_table(name)
