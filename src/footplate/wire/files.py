"""A job's files over REST."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from footplate.wire.body import Body

Part = Literal["output", "checkpoints", "code", "work"]


class JobFiles(Body):
    items: list[Part] = Field(description="Which of its files there are, to be downloaded.")
