"""Bodies of the REST API for accounts: logins, sessions, tokens, users."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from footplate.wire.body import Body, LifetimeS, Name, Password, QueueName, QueueRole, Text

FullName = Annotated[Text, Field(max_length=255)]
Email = Annotated[Text, Field(max_length=255, pattern=r"^(\S+@\S+)?$")]


class Login(Body):
    user: Text = Field(max_length=255)
    password: Text = Field(max_length=1024)
    name: Text = Field("login", max_length=255, description="What the token is for.")
    expires_in_s: LifetimeS | None = Field(
        30 * 86400, description="Lifetime of the token; null: it never expires."
    )
    replaces: bool = Field(False, description="Revoke the earlier tokens of the same user and name.")


class NewToken(Body):
    name: Text = Field(min_length=1, max_length=255)
    expires_in_s: LifetimeS | None = None


class TokenBody(Body):
    id: str
    name: str
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    is_current: bool = Field(description="Whether this call was made with it.")


class IssuedToken(Body):
    """A token, shown this once."""

    token: str
    id: str
    user: str
    name: str
    expires_at: str | None


class Tokens(Body):
    items: list[TokenBody]


class RevokedTokens(Body):
    n_revoked: int


class QueueMembership(Body):
    name: str
    role: QueueRole


class Me(Body):
    name: str
    is_admin: bool
    job_id: str | None = Field(None, description="Set when a running job is calling.")
    queues: list[QueueMembership]


class Session(Body):
    user: Me | None = Field(description="Null when nobody is signed in.")
    last_event: int = Field(description="The newest event so far: what is read from now on knows of it.")


class SessionLogin(Body):
    user: Text = Field(max_length=255)
    password: Text = Field(max_length=1024)


class NewSession(Body):
    key: str = Field(description="To be sent in the header X-Footplate-Key with every call.")
    user: Me


class NewSignInLink(Body):
    expires_in_s: Annotated[int, Field(ge=10, le=86400)] = Field(
        600, description="How long the link can be followed."
    )
    path: Annotated[Text, Field(pattern=r"^/([^/\\].*)?$", max_length=1024)] = Field(
        "/", description="The page of the console that it leads to."
    )


class SignInLink(Body):
    """A link that signs a browser in, shown this once."""

    link: str
    expires_at: str


class SignInCode(Body):
    code: Annotated[Text, Field(min_length=1, max_length=255)]


class NewTicket(Body):
    path: Text = Field(max_length=1024, description="Such as /api/v1/jobs/ID/download, without its query.")


class Ticket(Body):
    ticket: str


class PasswordChange(Body):
    old_password: Text = Field(max_length=1024)
    new_password: Password


class NewUser(Body):
    name: Name
    password: Password
    is_admin: bool = False
    full_name: FullName = ""
    email: Email = ""
    queues: dict[QueueName, QueueRole] = Field({"default": "member"}, max_length=1000)


class UserChange(Body):
    password: Password | None = None
    is_admin: bool | None = None
    is_enabled: bool | None = None
    full_name: FullName | None = Field(None, description="Everybody may change their own.")
    email: Email | None = Field(None, description="Everybody may change their own.")


class UserBody(Body):
    name: str
    is_admin: bool
    is_enabled: bool
    created_at: str
    full_name: str
    email: str
    last_seen_at: str | None = Field(
        description="When a token or session of theirs was used last, to a minute."
    )
    queues: list[QueueMembership]


class Users(Body):
    items: list[UserBody]
