"""Where in the log of a task its run begins, and pauses before it is started again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("tasks") as tasks:
        tasks.add_column(sa.Column("log_start", sa.BigInteger(), nullable=False, server_default="0"))
        tasks.add_column(sa.Column("n_short_lived", sa.Integer(), nullable=False, server_default="0"))
        tasks.add_column(sa.Column("not_before", sa.Float(53)))


def downgrade() -> None:
    with op.batch_alter_table("tasks") as tasks:
        for name in ("not_before", "n_short_lived", "log_start"):
            tasks.drop_column(name)
