"""Invitations over REST."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from footplate.wire.accounts import QueueMembership
from footplate.wire.body import Body, LifetimeS, Name, Password, QueueName, QueueRole, Text

Code = Annotated[Text, Field(min_length=1, max_length=255)]


class NewInvite(Body):
    user: Name
    is_admin: bool = False
    queues: dict[QueueName, QueueRole] = Field({"default": "member"}, max_length=1000)
    expires_in_s: Annotated[int, Field(ge=60, le=30 * 86400)] = Field(
        3 * 86400, description="How long the link can be followed."
    )


class InviteBody(Body):
    user: str
    is_admin: bool
    queues: list[QueueMembership]
    invited_by: str
    created_at: str
    expires_at: str


class MadeInvite(InviteBody):
    """An invitation with its link, shown this once."""

    link: str = Field(description="What `footplate join` takes; good once.")
    line: str = Field(description="What to type on a machine without the client.")


class Invites(Body):
    items: list[InviteBody]


class InviteCode(Body):
    code: Code


class InviteAnswer(Body):
    code: Code
    password: Password
    name: Text = Field("login", max_length=255, description="What the token is for.")
    expires_in_s: LifetimeS | None = Field(
        30 * 86400, description="Lifetime of the token; null: it never expires."
    )
