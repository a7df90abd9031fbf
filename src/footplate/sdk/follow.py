"""The values that `Job.follow` yields, one class per kind."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from footplate.sdk.sse import ServerEvent


@dataclass(frozen=True, slots=True)
class LogText:
    """A piece of a task's output; not always whole lines."""

    task: str
    attempt: int
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class StateSeen:
    """The job's state: at first as it is, then on every change.

    One that has failed and is kept for a look inside has `kept_until`, and its exit code already.
    """

    state: str
    reason: dict[str, Any]
    attempt: int
    kept_until: str | None = None
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class StepSeen:
    """A step: why the job waits, or what its start is doing."""

    kind: str
    message: str
    event: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ended:
    """The job is over and all of its output has been sent."""

    state: str
    reason: dict[str, Any]
    exit_code: int | None


Followed = LogText | StateSeen | StepSeen | Ended


def read_followed(event: ServerEvent) -> Followed | None:
    """Read one event of a job's stream; None for kinds that only a newer client knows."""
    if event.kind not in ("log", "state", "step", "end"):
        return None
    data = json.loads(event.data)
    if event.kind == "log":
        return LogText(data["task"], data["attempt"], data["offset"], data["text"])
    if event.kind == "state":
        kept = (data.get("kept_until"), data.get("exit_code"))
        return StateSeen(data["state"], data["reason"], data["attempt"], *kept)
    if event.kind == "end":
        return Ended(data["state"], data["reason"], data.get("exit_code"))
    return StepSeen(data.get("kind", ""), data.get("message", ""), data)
