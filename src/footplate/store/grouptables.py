"""The tables of groups, beside those of `tables`."""

from __future__ import annotations

import sqlalchemy as sa

from footplate.store.tables import metadata

# Groups of people, as OpenPAI has them: what its clients keep there, and what its members may use.
groups = sa.Table(
    "groups",
    metadata,
    sa.Column("name", sa.String(255), primary_key=True),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("external_name", sa.Text, nullable=False),
    sa.Column("extension", sa.Text, nullable=False),
)

group_members = sa.Table(
    "group_members",
    metadata,
    sa.Column("group_name", sa.String(255), primary_key=True),
    sa.Column("user", sa.String(255), primary_key=True),
)

# The queues whose jobs the members of a group may submit.
group_queues = sa.Table(
    "group_queues",
    metadata,
    sa.Column("group_name", sa.String(255), primary_key=True),
    sa.Column("queue", sa.String(63), primary_key=True),
)

# Who people are, and what clients of OpenPAI keep of them.
profiles = sa.Table(
    "profiles",
    metadata,
    sa.Column("user", sa.String(255), primary_key=True),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("extension", sa.Text, nullable=False),
    sa.Column("full_name", sa.Text, nullable=False, server_default=sa.text("''")),
)
