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
    sa.Column("held_since", _Time),
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
    sa.Column("last_seen_at", _Time),
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
    sa.Column("share", sa.Text, nullable=False),
    sa.Column("maximum", sa.Text),
    sa.Column("nodes", sa.Text, nullable=False),
    sa.Column("is_open", sa.Boolean, nullable=False),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("environments", sa.Text, nullable=False, server_default="{}"),
    sa.Column("engine", sa.String(63), nullable=False, server_default=sa.text("''")),
    sa.Column("is_shared", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("retention", sa.Text, nullable=False, server_default=sa.text("'{}'")),
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

# The text that a job was made from where it was written for another system, its secrets masked.
originals = sa.Table(
    "originals",
    metadata,
    sa.Column("job_id", sa.String(12), primary_key=True),
    sa.Column("dialect", sa.String(32), nullable=False),
    sa.Column("text", sa.Text, nullable=False),
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

instance_types = sa.Table(
    "instance_types",
    metadata,
    sa.Column("name", sa.String(128), primary_key=True),
    sa.Column("milli_cpus", sa.BigInteger, nullable=False),
    sa.Column("memory_bytes", sa.BigInteger, nullable=False),
    sa.Column("gpus", sa.Integer, nullable=False),
    sa.Column("gpu_type", sa.String(64), nullable=False),
    sa.Column("shm_bytes", sa.BigInteger),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("updated_at", _Time, nullable=False),
)

frameworks = sa.Table(
    "frameworks",
    metadata,
    sa.Column("name", sa.String(128), primary_key=True),
    sa.Column("version", sa.String(128), primary_key=True),
    sa.Column("image", sa.String(512), nullable=False),
    sa.Column("environment", sa.Text),
    sa.Column("strategy", sa.String(63), nullable=False),
    sa.Column("strategies", sa.Text, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("updated_at", _Time, nullable=False),
)

# What admins have said of storages, as JSON, and their credentials, sealed.
storages = sa.Table(
    "storages",
    metadata,
    sa.Column("name", sa.String(63), primary_key=True),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("sealed", sa.LargeBinary),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("updated_at", _Time, nullable=False),
)

# Where the results of jobs are kept, for those that ask for it.
results = sa.Table(
    "results",
    metadata,
    sa.Column("job_id", sa.String(12), primary_key=True),
    sa.Column("storage", sa.String(63), nullable=False),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("saved_at", _Time),
    sa.Column("is_complete", sa.Boolean, nullable=False),
    sa.Column("n_files", sa.BigInteger, nullable=False),
    sa.Column("size_bytes", sa.BigInteger, nullable=False),
    sa.Column("n_left_out", sa.BigInteger, nullable=False),
    sa.Column("n_tries", sa.Integer, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
)

# Files that come in pieces.
storage_uploads = sa.Table(
    "storage_uploads",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("storage", sa.String(63), nullable=False),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("owner", sa.String(255), nullable=False),
    sa.Column("size_bytes", sa.BigInteger, nullable=False),
    sa.Column("if_exists", sa.String(16), nullable=False),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("is_executable", sa.Boolean, nullable=False),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("done_bytes", sa.BigInteger, nullable=False),
    sa.Column("fingerprint", sa.String(128), nullable=False),
)

# What jobs held until a moment; kept when the jobs are gone.
holdings = sa.Table(
    "holdings",
    metadata,
    sa.Column("job_id", sa.String(12), primary_key=True),
    sa.Column("attempt", sa.Integer, primary_key=True),
    sa.Column("since", _Time, primary_key=True),
    sa.Column("gpu_type", sa.String(64), primary_key=True),
    sa.Column("until", _Time, nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("owner", sa.String(255), nullable=False),
    sa.Column("queue", sa.String(63), nullable=False),
    sa.Column("tags", sa.Text, nullable=False),
    sa.Column("milli_cpus", sa.BigInteger, nullable=False),
    sa.Column("memory_bytes", sa.BigInteger, nullable=False),
    sa.Column("gpus", sa.BigInteger, nullable=False),
    sa.Column("types", sa.Text, nullable=False, server_default=sa.text("'[]'")),
    sa.Index("ix_holdings_until", "until"),
    sa.Index("ix_holdings_owner_until", "owner", "until"),
    sqlite_with_rowid=False,
)

# Where channels lead is sealed; what else is said of them is JSON.
channels = sa.Table(
    "channels",
    metadata,
    sa.Column("id", sa.String(12), primary_key=True),
    sa.Column("scope", sa.String(261), nullable=False),
    sa.Column("name", sa.String(63), nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("scope", "name", name="uq_channels_scope_name"),
)

alert_rules = sa.Table(
    "alert_rules",
    metadata,
    sa.Column("id", sa.String(12), primary_key=True),
    sa.Column("scope", sa.String(261), nullable=False, index=True),
    sa.Column("document", sa.Text, nullable=False),
)

# Notices on their way: the key says of what each tells whom, so that nothing is told twice.
deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("key", sa.String(512), nullable=False, unique=True),
    sa.Column("scope", sa.String(261), nullable=False),
    sa.Column("channel_id", sa.String(12), nullable=False),
    sa.Column("job_id", sa.String(12), nullable=False),
    sa.Column("notice", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("n_attempts", sa.Integer, nullable=False),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("next_at", _Time, nullable=False),
    sa.Column("done_at", _Time),
    sa.Column("error", sa.Text, nullable=False),
    sa.Index("ix_deliveries_state_next", "state", "next_at"),
    sa.Index("ix_deliveries_scope_id", "scope", "id"),
)

# What lasts and was told: when last, and how often.
alarms = sa.Table(
    "alarms",
    metadata,
    sa.Column("key", sa.String(512), primary_key=True),
    sa.Column("job_id", sa.String(12), nullable=False, index=True),
    sa.Column("n_told", sa.Integer, nullable=False),
    sa.Column("told_at", _Time, nullable=False),
)

# How far readers of the event log have come.
cursors = sa.Table(
    "cursors",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("seq", sa.BigInteger, nullable=False),
)

# What admins have set while the server runs, as JSON, and what of it is secret, sealed.
kept_settings = sa.Table(
    "kept_settings",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("sealed", sa.LargeBinary),
)

# What the home keeps of jobs that are over, and which parts of it have been removed since.
kept_files = sa.Table(
    "kept_files",
    metadata,
    sa.Column("job_id", sa.String(12), primary_key=True),
    sa.Column("owner", sa.String(255), nullable=False),
    sa.Column("queue", sa.String(63), nullable=False),
    sa.Column("finished_at", _Time, nullable=False),
    sa.Column("logs_bytes", sa.BigInteger, nullable=False),
    sa.Column("outputs_bytes", sa.BigInteger, nullable=False),
    sa.Column("work_bytes", sa.BigInteger, nullable=False),
    sa.Column("code_bytes", sa.BigInteger, nullable=False),
    sa.Column("gone", sa.String(64), nullable=False),
    sa.Index("ix_kept_files_queue_finished", "queue", "finished_at"),
)

# Public keys by which people come in over SSH; those that were handed out for a job open that job alone.
ssh_keys = sa.Table(
    "ssh_keys",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("user", sa.String(255), nullable=False, index=True),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("kind", sa.String(64), nullable=False),
    sa.Column("fingerprint", sa.String(64), nullable=False),
    sa.Column("job_id", sa.String(12), nullable=False, index=True),
    sa.Column("created_at", _Time, nullable=False),
    sa.Column("last_used_at", _Time),
)
