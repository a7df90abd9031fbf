"""Bodies of the REST API for access keys: pairs of an id and a secret, by which clients sign requests."""

from __future__ import annotations

from pydantic import Field

from footplate.wire.body import Body, Text


class NewAccessKey(Body):
    name: Text = Field(min_length=1, max_length=255, description="What the key is for.")


class AccessKeyBody(Body):
    id: str
    name: str
    created_at: str
    last_used_at: str | None


class IssuedAccessKey(Body):
    """A key, whose secret is shown this once."""

    id: str
    name: str
    secret: str
    created_at: str


class AccessKeys(Body):
    items: list[AccessKeyBody]
