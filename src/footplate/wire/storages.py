"""Storages over REST: what admins keep, and what everybody sees of them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from footplate.domain.storage import Access, Storage, StorageKind
from footplate.wire.body import Body, Name, QueueName, Text

StorageName = Annotated[Text, Field(min_length=1, max_length=63, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Writer = Annotated[Text, Field(max_length=261, pattern=r"^(user|queue):.+$")]
Key = Annotated[str, Field(max_length=4096)]


class StorageCredentials(Body):
    """For S3 an access key, for HTTP a login or a token; stored sealed, never shown."""

    access_key_id: Key = ""
    secret_access_key: Key = Field("", repr=False)
    session_token: Key = Field("", repr=False)
    username: Key = ""
    password: Key = Field("", repr=False)
    token: Key = Field("", repr=False)


class StorageFields(Body):
    """What can be said of a storage; which fields go with which kind, their descriptions say."""

    description: Text | None = Field(None, max_length=1024)
    read_only: bool | None = Field(
        None, description="Whether nobody may write; so it is with a new one that does not say."
    )
    queues: list[QueueName] | None = Field(
        None, max_length=1000, description="Queues whose members may use it; with no users either: everybody."
    )
    users: list[Name] | None = Field(None, max_length=1000, description="Users who may use it.")
    writers: list[Writer] | None = Field(
        None,
        max_length=1000,
        description="Who of them may write, as `user:NAME` or `queue:NAME`; empty: all of them.",
    )
    quota_bytes: int | None = Field(
        None, ge=0, le=2**60, description="Most that it may hold; null: no bound."
    )
    path: Text | None = Field(
        None, max_length=1024, description="For a folder: where it lies on the server's machine."
    )
    endpoint: Text | None = Field(
        None, max_length=1024, description="For S3 and HTTP: the address of the server."
    )
    bucket: Text | None = Field(None, max_length=255, description="For S3.")
    region: Text | None = Field(None, max_length=64, description="For S3.")
    prefix: Text | None = Field(None, max_length=1024, description="For S3: what all names begin with.")
    virtual_style: bool | None = Field(
        None, description="For S3: whether the bucket is part of the host name, not of the path."
    )
    credentials: StorageCredentials | None = Field(
        None, repr=False, description="Replaces those that are stored; empty: none are needed any more."
    )


class NewStorage(StorageFields):
    name: StorageName
    kind: StorageKind = StorageKind.FOLDER
    per_user: bool = Field(False, description="For a folder: each user gets one that nobody else sees.")


class StorageBody(Body):
    name: str
    kind: StorageKind
    description: str
    read_only: bool = Field(description="Whether the caller may only read.")
    per_user: bool = Field(description="Whether each user has a folder that nobody else sees.")
    queues: list[str] = Field(description="Queues whose members may use it; with no users either: everybody.")
    quota_bytes: int | None
    origin: str = Field(description="Where it is kept: `settings` (the file) or `database`.")
    is_private: bool = Field(description="Whether credentials are stored for it.")
    users: list[str] | None = Field(None, description="For admins.")
    writers: list[str] | None = Field(None, description="For admins.")
    path: str | None = Field(None, description="Its folder on the server's machine, for admins.")
    endpoint: str | None = Field(None, description="For admins.")
    bucket: str | None = Field(None, description="For admins.")
    region: str | None = Field(None, description="For admins.")
    prefix: str | None = Field(None, description="For admins.")
    virtual_style: bool | None = Field(None, description="For admins.")


class Storages(Body):
    items: list[StorageBody]


_FOR_ADMINS = ("path", "endpoint", "bucket", "region", "prefix", "virtual_style")


def storage_view(storage: Storage, access: Access, with_all: bool) -> dict[str, Any]:
    """What a caller sees of a storage; where it lies and who else may use it is for admins."""
    told = {name: getattr(storage, name) or None for name in _FOR_ADMINS} if with_all else {}
    return {
        "name": storage.name,
        "kind": storage.kind.value,
        "description": storage.description,
        "read_only": access is not Access.WRITE,
        "per_user": storage.per_user,
        "queues": list(storage.queues),
        "quota_bytes": storage.quota_bytes,
        "origin": storage.origin.value,
        "is_private": storage.is_private,
        "users": list(storage.users) if with_all else None,
        "writers": list(storage.writers) if with_all else None,
        **dict.fromkeys(_FOR_ADMINS),
        **told,
    }


_LISTS = ("queues", "users", "writers")


def changes(body: StorageFields) -> dict[str, Any]:
    """The fields of a storage that a body names, as the domain has them."""
    given = {name: getattr(body, name) for name in body.model_fields_set if name != "credentials"}
    # Only of a quota does null say something.
    named = {name: value for name, value in given.items() if value is not None or name == "quota_bytes"}
    return {name: tuple(value) if name in _LISTS else value for name, value in named.items()}


def credentials_of(body: StorageFields) -> dict[str, str] | None:
    """The credentials that a body brings; None when it says nothing of them."""
    if body.credentials is None:
        return None
    return {name: value for name, value in body.credentials.model_dump().items() if value}
