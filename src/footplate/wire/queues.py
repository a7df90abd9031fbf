"""Bodies of the REST API for queues and their members."""

from __future__ import annotations

from typing import Annotated, Literal

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


_SHARE = Field(
    Amount(), description="Its jobs within this go before jobs that borrow: a place in line, no reservation."
)


KeptS = Annotated[int, Field(ge=0, le=3650 * 86400)]
Retention = Annotated[
    dict[Literal["logs", "outputs", "work", "code"], KeptS | None],
    Field(description="How many seconds it keeps what jobs leave; null: for ever; absent: as the platform."),
]


class NewQueue(Body):
    name: QueueName
    description: Text = Field("", max_length=4096)
    share: Amount = _SHARE
    maximum: Maximum | None = None
    nodes: list[Annotated[Text, Field(min_length=1, max_length=255)]] = Field([], max_length=1000)
    is_open: bool = True
    is_shared: bool = _SHARED
    environments: Environments = Field({})
    engine: EngineName = ""
    retention: Retention = Field({})


class QueueChange(Body):
    description: Text | None = Field(None, max_length=4096)
    share: Amount | None = None
    maximum: Maximum | None = None
    nodes: list[Annotated[Text, Field(min_length=1, max_length=255)]] | None = Field(None, max_length=1000)
    is_open: bool | None = None
    is_shared: bool | None = None
    environments: Environments | None = None
    engine: EngineName | None = None
    retention: Retention | None = None


class QueueBody(Body):
    name: str
    description: str
    share: Amount
    maximum: Maximum | None
    nodes: list[str]
    is_open: bool
    is_shared: bool
    environments: dict[str, str]
    engine: str
    retention: dict[str, int | None]
    engine_problem: Told | None = Field(description="Why its engine cannot be used now; null when it can.")
    warnings: list[Told] = Field(description="What it asks for that the present nodes cannot give.")
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
