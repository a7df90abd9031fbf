"""Commands inside tasks over REST."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from footplate.wire.body import Body, Text


class Exec(Body):
    """A command to run inside a task."""

    command: list[Text] = Field(min_length=1, max_length=1000)
    task: Text | None = Field(None, max_length=80, description="Such as worker-0; the first when absent.")
    timeout_s: int = Field(60, ge=1, le=600)
    input: str = Field("", description="Standard input, in base64; at most 16 MiB of it before that.")
    encoding: Literal["utf-8", "base64"] = Field(
        "utf-8", description="How to write the output; in base64 every byte is as it was."
    )


class RanBody(Body):
    exit_code: int
    output: str = Field(description="Standard output and error together.")
    is_cut: bool = Field(description="Whether there was more output than is given back.")
    timed_out: bool = Field(description="Whether the command was ended because it took too long.")
