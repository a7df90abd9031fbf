"""Shells in tasks over REST."""

from __future__ import annotations

from pydantic import Field

from footplate.wire.body import Body, Text

MOST_LINES = 1000


class NewShell(Body):
    """A shell to start in a task, and the size of its terminal."""

    task: Text | None = Field(None, max_length=80, description="Such as worker-0; the first when absent.")
    rows: int = Field(24, ge=1, le=MOST_LINES)
    columns: int = Field(80, ge=1, le=MOST_LINES)


class ShellBody(Body):
    id: str
    job_id: str
    task: str
    started_at: str
    offset: int = Field(description="How many bytes it has written so far.")


class Shells(Body):
    items: list[ShellBody]
