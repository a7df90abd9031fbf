"""Retries by account, nodes to avoid, kept environments, the trash, and runs of tasks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_Time = sa.Float(53)


def upgrade() -> None:
    with op.batch_alter_table("jobs") as jobs:
        jobs.add_column(sa.Column("uses", sa.Text(), nullable=False, server_default="{}"))
        jobs.add_column(sa.Column("avoids", sa.Text(), nullable=False, server_default="[]"))
        jobs.add_column(sa.Column("kept_until", _Time))
        jobs.add_column(sa.Column("deleted_at", _Time))
    op.create_index("ix_jobs_deleted_at", "jobs", ["deleted_at"])
    op.execute("""UPDATE jobs SET uses = '{"retry":' || retries_used || '}' WHERE retries_used > 0""")
    with op.batch_alter_table("tasks") as tasks:
        tasks.add_column(sa.Column("run", sa.Integer(), nullable=False, server_default="0"))
        tasks.add_column(sa.Column("cause", sa.String(32), nullable=False, server_default=sa.text("''")))


def downgrade() -> None:
    with op.batch_alter_table("tasks") as tasks:
        tasks.drop_column("cause")
        tasks.drop_column("run")
    op.drop_index("ix_jobs_deleted_at", "jobs")
    with op.batch_alter_table("jobs") as jobs:
        for name in ("deleted_at", "kept_until", "avoids", "uses"):
            jobs.drop_column(name)
