"""Jobs that only their owners and admins look into, and what is masked in their logs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("jobs") as jobs:
        jobs.add_column(sa.Column("shared", sa.Boolean()))
    with op.batch_alter_table("queues") as queues:
        queues.add_column(sa.Column("is_shared", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "masks",
        sa.Column("job_id", sa.String(length=12), primary_key=True, nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("masks")
    with op.batch_alter_table("queues") as queues:
        queues.drop_column("is_shared")
    with op.batch_alter_table("jobs") as jobs:
        jobs.drop_column("shared")
