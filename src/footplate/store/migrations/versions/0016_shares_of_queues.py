"""What a queue's jobs go first with is called its share: nothing is guaranteed."""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("queues") as queues:
        queues.alter_column("guaranteed", new_column_name="share")


def downgrade() -> None:
    with op.batch_alter_table("queues") as queues:
        queues.alter_column("share", new_column_name="guaranteed")
