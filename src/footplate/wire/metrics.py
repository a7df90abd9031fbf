"""Bodies of the REST API for metrics."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from footplate.domain.metrics import MOST_NAME, MOST_POINTS, MOST_SOURCE
from footplate.domain.states import JobState
from footplate.wire.body import Body

_NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
# Read by hand, since there may be many thousands of points.
PUSH_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "points": {
            "type": "array",
            "maxItems": MOST_POINTS,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["values"],
                "properties": {
                    "values": {
                        "type": "object",
                        "additionalProperties": _NUMBER,
                        "description": f"By name, at most {MOST_NAME} characters; `val/loss` is in a group.",
                    },
                    "at": {"type": "number", "description": "Seconds since 1970; now when absent."},
                    "step": {"type": "integer"},
                    "epoch": {"type": "number"},
                    "group": {"type": "string", "description": "Goes before the names, with a slash."},
                },
            },
        },
        "task": {"type": "string", "description": "Such as worker-0; the first task when absent."},
        "attempt": {"type": "integer", "description": "The current attempt when absent."},
        "total_steps": {"type": "number", "description": "How many steps there will be, for the progress."},
        "total_epochs": {"type": "number"},
        "source": {
            "type": "string",
            "maxLength": MOST_SOURCE,
            "description": "Who sends: with it and `seq`, a batch that comes twice is kept once.",
        },
        "seq": {"type": "integer", "minimum": 0, "description": "Grows with each batch of a source."},
    },
}


class Pushed(Body):
    n_points: int
    is_new: bool = Field(description="False when the same batch had been kept before.")


class PointBody(Body):
    """One value; null where it is not a finite number."""

    at: str
    step: int | None
    epoch: float | None
    value: float | None


class CurveBody(Body):
    """One metric of one task in one attempt."""

    name: str
    task: str
    attempt: int
    axis: str = Field(description="What x counts: step, epoch, or time in seconds since 1970.")
    n_points: int = Field(description="How many points there are, whatever is shown.")
    is_thinned: bool = Field(description="Whether only lowest and highest points of each part are shown.")
    last: PointBody | None
    lowest: float | None
    highest: float | None
    x: list[float]
    values: list[float | None]


class HeadwayBody(Body):
    """How far a job is, from the steps and epochs that it tells."""

    step: int | None
    total_steps: int | None
    epoch: float | None
    total_epochs: float | None
    fraction: float | None = Field(description="0 to 1.")
    remaining_s: float | None


class MetricsBody(Body):
    names: list[str] = Field(description="All metrics that these tasks have told.")
    attempts: list[int] = Field(description="Attempts that have told some.")
    tasks: list[str] = Field(description="Tasks that have told some.")
    items: list[CurveBody]


class LatestValue(Body):
    name: str
    n_points: int
    last: PointBody | None
    lowest: float | None
    highest: float | None


class LatestOfJob(Body):
    id: str
    name: str
    state: JobState
    parameters: dict[str, Any]
    items: list[LatestValue]


class LatestValues(Body):
    items: list[LatestOfJob]
