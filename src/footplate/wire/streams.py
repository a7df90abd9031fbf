"""Bodies of the REST API for several streams over one connection."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from footplate.wire.body import Body, Text

MOST_LOGS = 32
MOST_TASKS = 1000
# As long as a cursor over the tasks of the largest job.
MOST_CURSOR = 262_144


class FollowedLog(Body):
    """The log of a job to follow: from a cursor, an offset of one task, or the last lines; else all of it."""

    key: Annotated[Text, Field(min_length=1, max_length=64, description="Each message of this log has it.")]
    job: Annotated[Text, Field(min_length=1, max_length=255)]
    tasks: list[Annotated[Text, Field(max_length=80)]] = Field(
        [], max_length=MOST_TASKS, description="All tasks when empty."
    )
    attempt: int | None = Field(None, ge=0, le=10**6, description="The current attempt when absent.")
    tail: int | None = Field(None, ge=0, le=10**6)
    offset: int | None = Field(None, ge=0, le=2**60, description="For one task only.")
    cursor: Annotated[Text, Field(max_length=MOST_CURSOR, description="The id of the last message.")] = ""


class FollowedMetrics(Body):
    """The metrics of a job: messages say that there are new points, at most once a second."""

    key: Annotated[Text, Field(min_length=1, max_length=64, description="Each message has it.")]
    job: Annotated[Text, Field(min_length=1, max_length=255)]


class Followed(Body):
    """What one connection brings: the events of all jobs that the caller may see, some logs, some metrics."""

    after: int | None = Field(None, ge=0, le=2**60, description="Events after this number; from now if null.")
    logs: list[FollowedLog] = Field([], max_length=MOST_LOGS)
    metrics: list[FollowedMetrics] = Field([], max_length=MOST_LOGS)
