"""The tables, the same on SQLite and PostgreSQL."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

_Time = sa.Float(53)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", sa.String(12), primary_key=True),
    sa.Column("owner", sa.String(255), nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("queue", sa.String(63), nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("priority", sa.Integer, nullable=False),
    sa.Column("shared", sa.Boolean),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("retries_used", sa.Integer, nullable=False),
    sa.Column("retry", sa.Integer, nullable=False),
    sa.Column("n_tasks", sa.Integer, nullable=False),
    sa.Column("milli_cpus", sa.BigInteger, nullable=False),
    sa.Column("memory_bytes", sa.BigInteger, nullable=False),
    sa.Column("gpus", sa.BigInteger, nullable=False),
    sa.Column("tags", sa.Text, nullable=False),
    sa.Column("submitted_at", _Time, nullable=False),
    sa.Column("queued_at", _Time, nullable=False),
    sa.Column("started_at", _Time),
    sa.Column("running_at", _Time),
    sa.Column("finished_at", _Time),
    sa.Column("is_deleting", sa.Boolean, nullable=False),
    sa.Column("uses", sa.Text, nullable=False, server_default="{}"),
    sa.Column("avoids", sa.Text, nullable=False, server_default="[]"),
    sa.Column("not_before", _Time),
    sa.Column("n_short_lived", sa.Integer, nullable=False, server_default="0"),
    sa.Column("kept_until", _Time),
    sa.Column("deleted_at", _Time),
    sa.Column("spec", sa.Text, nullable=False),
    sa.Column("placement", sa.Text),
    sa.Column("next", sa.Text),
    sa.Column("moved_by", sa.BigInteger, nullable=False, server_default="0"),
    sa.UniqueConstraint("owner", "name", name="uq_jobs_owner_name"),
    sa.Index("ix_jobs_queue_id", "queue", "id"),
    sa.Index("ix_jobs_owner_id", "owner", "id"),
    sa.Index("ix_jobs_state_id", "state", "id"),
    sa.Index("ix_jobs_name_id", "name", "id"),
    sa.Index("ix_jobs_priority_id", "priority", "id"),
    sa.Index("ix_jobs_finished_at", "finished_at"),
    sa.Index("ix_jobs_deleted_at", "deleted_at"),
)

tasks = sa.Table(
    "tasks",
    metadata,
    sa.Column("job_id", sa.String(12), primary_key=True),
    sa.Column("attempt", sa.Integer, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("role", sa.String(64), nullable=False),
    sa.Column("task_index", sa.Integer, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("node", sa.String(255), nullable=False),
    sa.Column("address", sa.String(255), nullable=False),
    sa.Column("gpus", sa.Text, nullable=False),
    sa.Column("ports", sa.Text, nullable=False),
    sa.Column("exit_code", sa.Integer),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("started_at", _Time),
    sa.Column("finished_at", _Time),
    sa.Column("run", sa.Integer, nullable=False, server_default="0"),
    sa.Column("cause", sa.String(32), nullable=False, server_default=sa.text("''")),
    sa.Column("log_start", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("n_short_lived", sa.Integer, nullable=False, server_default="0"),
    sa.Column("not_before", _Time),
    sqlite_with_rowid=False,
)

attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("job_id", sa.String(12), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("started_at", _Time),
    sa.Column("running_at", _Time),
    sa.Column("finished_at", _Time),
    sqlite_with_rowid=False,
)

events = sa.Table(
    "events",
    metadata,
    sa.Column(
        "seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False
    ),
    sa.Column("at", _Time, nullable=False),
    sa.Column("job_id", sa.String(12), nullable=False),
    sa.Column("owner", sa.String(255), nullable=False),
    sa.Column("queue", sa.String(63), nullable=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("actor", sa.String(255), nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("cause", sa.BigInteger),
    sa.Index("ix_events_job_seq", "job_id", "seq"),
)

idempotency = sa.Table(
    "idempotency",
    metadata,
    sa.Column("owner", sa.String(255), primary_key=True),
    sa.Column("key", sa.String(255), primary_key=True),
    sa.Column("body_digest", sa.String(64), nullable=False),
    sa.Column("job_id", sa.String(12), nullable=False),
    sa.Column("created_at", _Time, nullable=False),
    sqlite_with_rowid=False,
)

users = sa.Table(
    "users",
    metadata,
    sa.Column("name", sa.String(255), primary_key=True),
    sa.Column("password_hash", sa.Text, nullable=False),
    sa.Column("is_admin", sa.Boolean, nullable=False),
    sa.Column("is_enabled", sa.Boolean, nullable=False),
    sa.Column("created_at", _Time, nullable=False),
)

# Numbers are never given twice; a name is taken off its number when the account is removed.
people = sa.Table(
    "people",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String(255), unique=True),
)

members = sa.Table(
    "members",
    metadata,
    sa.Column("queue", sa.String(63), primary_key=True),
    sa.Column("user", sa.String(255), primary_key=True),
    sa.Column("role", sa.String(16), nullable=False),
)

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("id", sa.String(12), primary_key=True),
    sa.Column("user", sa.String(255), nullable=False, index=True),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("expires_at", _Time),
    sa.Column("last_used_at", _Time),
)

access_keys = sa.Table(
    "access_keys",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("user", sa.String(255), nullable=False, index=True),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("last_used_at", _Time),
)

invites = sa.Table(
    "invites",
    metadata,
    sa.Column("user", sa.String(255), primary_key=True),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    sa.Column("is_admin", sa.Boolean, nullable=False),
    sa.Column("queues", sa.Text, nullable=False),
    sa.Column("invited_by", sa.String(255), nullable=False),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("expires_at", _Time, nullable=False),
)

queues = sa.Table(
    "queues",
    metadata,
    sa.Column("name", sa.String(63), primary_key=True),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("guaranteed", sa.Text, nullable=False),
    sa.Column("maximum", sa.Text),
    sa.Column("nodes", sa.Text, nullable=False),
    sa.Column("is_open", sa.Boolean, nullable=False),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("environments", sa.Text, nullable=False, server_default="{}"),
    sa.Column("engine", sa.String(63), nullable=False, server_default=sa.text("''")),
    sa.Column("is_shared", sa.Boolean, nullable=False, server_default=sa.false()),
)

audit = sa.Table(
    "audit",
    metadata,
    sa.Column(
        "seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True
    ),
    sa.Column("at", _Time, nullable=False),
    sa.Column("actor", sa.String(255), nullable=False),
    sa.Column("action", sa.String(64), nullable=False),
    sa.Column("subject", sa.String(512), nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
)

nodes = sa.Table(
    "nodes",
    metadata,
    sa.Column("name", sa.String(255), primary_key=True),
    sa.Column("is_schedulable", sa.Boolean, nullable=False),
)

leases = sa.Table(
    "leases",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("epoch", sa.BigInteger, nullable=False),
    sa.Column("holder", sa.String(255), nullable=False),
    sa.Column("taken_at", _Time, nullable=False),
    sa.Column("renewed_at", _Time),
)

# Who has sent which code.
uploads = sa.Table(
    "uploads",
    metadata,
    sa.Column("digest", sa.String(71), primary_key=True),
    sa.Column("user", sa.String(255), primary_key=True),
    sa.Column("at", _Time, nullable=False),
)

# The home folder that the database belongs to.
homes = sa.Table(
    "homes",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("id", sa.String(64), nullable=False),
    sa.Column("machine", sa.String(64), nullable=False),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("taken_at", _Time, nullable=False),
)

# A scope is `user:NAME` or `queue:NAME`: a name is unique within it.
secrets = sa.Table(
    "secrets",
    metadata,
    sa.Column("scope", sa.String(261), primary_key=True),
    sa.Column("name", sa.String(63), primary_key=True),
    sa.Column("owner", sa.String(255), nullable=False),
    sa.Column("queue", sa.String(63), nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("updated_at", _Time, nullable=False),
    sa.Column("last_used_at", _Time),
)

# What tasks of a job were given that nobody may read in their logs, sealed.
masks = sa.Table(
    "masks",
    metadata,
    sa.Column("job_id", sa.String(12), primary_key=True),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
)

images = sa.Table(
    "images",
    metadata,
    sa.Column("name", sa.String(63), primary_key=True),
    sa.Column("reference", sa.String(512), nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("framework", sa.String(63), nullable=False),
    sa.Column("version", sa.String(63), nullable=False),
    sa.Column("is_default", sa.Boolean, nullable=False),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("updated_at", _Time, nullable=False),
)
