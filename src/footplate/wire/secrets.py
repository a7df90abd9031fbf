"""Secrets over REST: values come in, and never go out."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from footplate.domain.names import SECRET_NAME
from footplate.domain.secret import MOST_BYTES, RegistryLogin, Secret, SecretKind
from footplate.wire.body import Body, QueueName, Text
from footplate.wire.convert import instant

SecretName = Annotated[
    Text, Field(min_length=1, max_length=SECRET_NAME.most, pattern=f"^{SECRET_NAME.pattern}$")
]


class SecretChange(Body):
    """A `value`, or a login at a registry of images: `server`, `username` and `password`."""

    kind: SecretKind = SecretKind.VALUE
    queue: QueueName | None = Field(None, description="Whose secret it is; absent: the caller's own.")
    value: str | None = Field(None, max_length=MOST_BYTES, repr=False, description="For the kind value.")
    server: Text | None = Field(None, max_length=260, description="For the kind registry: host or host:port.")
    username: Text | None = Field(None, max_length=255, description="For the kind registry.")
    password: str | None = Field(None, max_length=4096, repr=False, description="For the kind registry.")


class SecretBody(Body):
    name: str
    kind: SecretKind
    owner: str = Field(description="Who set it last.")
    queue: str | None = Field(description="The queue whose members may use it; null: its owner alone.")
    created_at: str
    updated_at: str
    last_used_at: str | None


class Secrets(Body):
    items: list[SecretBody]


OF_A_REGISTRY = ("server", "username", "password")


def stray_fields(body: SecretChange) -> list[str]:
    """The fields that are given and belong to the other kind."""
    others = ("value",) if body.kind is SecretKind.REGISTRY else OF_A_REGISTRY
    return [name for name in others if getattr(body, name) is not None]


def content(body: SecretChange) -> str | RegistryLogin:
    """What is to be stored; what is absent is empty here, and refused by its check."""
    if body.kind is SecretKind.REGISTRY:
        return RegistryLogin(body.server or "", body.username or "", body.password or "")
    return body.value or ""


def secret_view(secret: Secret) -> dict[str, Any]:
    return {
        "name": secret.name,
        "kind": secret.kind.value,
        "owner": secret.owner,
        "queue": secret.queue or None,
        "created_at": instant(secret.created_at),
        "updated_at": instant(secret.updated_at),
        "last_used_at": instant(secret.last_used_at),
    }
