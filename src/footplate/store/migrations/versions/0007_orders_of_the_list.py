"""The job list by name and by priority without sorting all jobs."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_jobs_name_id", "jobs", ["name", "id"])
    op.create_index("ix_jobs_priority_id", "jobs", ["priority", "id"])


def downgrade() -> None:
    for name in ("ix_jobs_priority_id", "ix_jobs_name_id"):
        op.drop_index(name, "jobs")
