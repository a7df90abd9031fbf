"""The tables of models, beside those of `tables`."""

from __future__ import annotations

import sqlalchemy as sa

from footplate.store.tables import metadata

TIME = sa.Float(53)

models = sa.Table(
    "models",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("name", sa.String(128), nullable=False),
    sa.Column("owner", sa.String(255), nullable=False),
    sa.Column("queue", sa.String(63), nullable=False),
    sa.Column("is_shared", sa.Boolean, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("tags", sa.Text, nullable=False),
    sa.Column("aliases", sa.Text, nullable=False),
    sa.Column("last_number", sa.Integer, nullable=False),
    sa.Column("created_at", TIME, nullable=False),
    sa.Column("updated_at", TIME, nullable=False),
    sa.Column("deleted_at", TIME),
    sa.Index("ix_models_owner_name", "owner", "name"),
)

model_versions = sa.Table(
    "model_versions",
    metadata,
    sa.Column("model_id", sa.String(16), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("about", sa.Text, nullable=False),
    sa.Column("origin", sa.Text, nullable=False),
    sa.Column("job_id", sa.String(12), nullable=False),
    sa.Column("created_by", sa.String(255), nullable=False),
    sa.Column("created_at", TIME, nullable=False),
    sa.Column("n_files", sa.Integer, nullable=False),
    sa.Column("size_bytes", sa.BigInteger, nullable=False),
    sa.Column("deleted_at", TIME),
    sa.Index("ix_model_versions_job_id", "job_id"),
    sqlite_with_rowid=False,
)

model_files = sa.Table(
    "model_files",
    metadata,
    sa.Column("model_id", sa.String(16), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("path", sa.String(1024), primary_key=True),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("size_bytes", sa.BigInteger, nullable=False),
    sa.Index("ix_model_files_sha256", "sha256"),
    sqlite_with_rowid=False,
)

# Who has sent which content for models.
model_uploads = sa.Table(
    "model_uploads",
    metadata,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("user", sa.String(255), primary_key=True),
    sa.Column("at", TIME, nullable=False),
)

# Jobs whose model is to be registered when they succeed.
model_dues = sa.Table("model_dues", metadata, sa.Column("job_id", sa.String(12), primary_key=True))

inference_environments = sa.Table(
    "inference_environments",
    metadata,
    sa.Column("name", sa.String(128), primary_key=True),
    sa.Column("image", sa.String(512), nullable=False),
    sa.Column("framework", sa.String(128), nullable=False),
    sa.Column("version", sa.String(128), nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("created_at", TIME, nullable=False),
    sa.Column("updated_at", TIME, nullable=False),
)
