"""Groups of people and what else clients of OpenPAI keep of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def _name(column: str, length: int = 255) -> sa.Column[str]:
    return sa.Column(column, sa.String(length=length), primary_key=True, nullable=False)


def _text(column: str) -> sa.Column[str]:
    return sa.Column(column, sa.Text(), nullable=False)


def upgrade() -> None:
    op.create_table("groups", _name("name"), _text("description"), _text("external_name"), _text("extension"))
    op.create_table("group_members", _name("group_name"), _name("user"))
    op.create_table("group_queues", _name("group_name"), _name("queue", 63))
    op.create_table("profiles", _name("user"), _text("email"), _text("extension"))


def downgrade() -> None:
    for table in ("profiles", "group_queues", "group_members", "groups"):
        op.drop_table(table)
