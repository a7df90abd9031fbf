"""SSH over REST: keys, and where to connect to."""

from __future__ import annotations

from pydantic import Field

from footplate.wire.body import Body, Text


class NewSshKey(Body):
    public_key: Text = Field(max_length=16_384, description="A line such as `ssh-ed25519 AAAA… me@laptop`.")
    name: Text = Field("", max_length=255, description="The key's comment when absent.")


class SshKeyBody(Body):
    id: str
    name: str
    kind: str
    fingerprint: str
    created_at: str
    last_used_at: str | None


class SshKeys(Body):
    items: list[SshKeyBody]


class SshAddressBody(Body):
    """How to come into a task with any SSH client."""

    host: str
    port: int
    user: str = Field(description="Such as JOB.worker-0.")
    host_key: str = Field(description="By which the client knows the server.")
    command: str


class HandedOutKey(Body):
    private_key: str = Field(description="In OpenSSH's format; opens this job alone, and is told this once.")
