"""Bodies of the REST API for queues and their members."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from footplate.wire.body import Amount, Body, Maximum, QueueName, QueueRole, Text, Told

Environments = Annotated[
    dict[
        Annotated[Text, Field(min_length=1, max_length=512, pattern=r"^\S+$")],
        Annotated[Text, Field(min_length=1, max_length=1024)],
    ],
    Field(
        max_length=100,
        description="Images, by name, for which a folder on the server stands in: image to absolute path.",
    ),
]

EngineName = Annotated[
    Text, Field(max_length=63, description="The engine that runs its jobs; empty: any that has nodes.")
]


_SHARED = Field(
    False, description="Whether everybody in the queue may look into its jobs; a job can say otherwise."
)


class NewQueue(Body):
    name: QueueName
    description: Text = Field("", max_length=4096)
    guaranteed: Amount = Amount()
    maximum: Maximum | None = None
    nodes: list[Annotated[Text, Field(min_length=1, max_length=255)]] = Field([], max_length=1000)
    is_open: bool = True
    is_shared: bool = _SHARED
    environments: Environments = Field({})
    engine: EngineName = ""


class QueueChange(Body):
    description: Text | None = Field(None, max_length=4096)
    guaranteed: Amount | None = None
    maximum: Maximum | None = None
    nodes: list[Annotated[Text, Field(min_length=1, max_length=255)]] | None = Field(None, max_length=1000)
    is_open: bool | None = None
    is_shared: bool | None = None
    environments: Environments | None = None
    engine: EngineName | None = None


class QueueBody(Body):
    name: str
    description: str
    guaranteed: Amount
    maximum: Maximum | None
    nodes: list[str]
    is_open: bool
    is_shared: bool
    environments: dict[str, str]
    engine: str
    engine_problem: Told | None = Field(description="Why its engine cannot be used now; null when it can.")
    used: Amount
    n_running: int
    n_waiting: int
    my_role: QueueRole | None


class Queues(Body):
    items: list[QueueBody]


class MemberChange(Body):
    role: QueueRole


class Member(Body):
    user: str
    role: QueueRole


class Members(Body):
    items: list[Member]
