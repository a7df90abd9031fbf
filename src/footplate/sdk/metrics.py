"""Calls about metrics of jobs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from footplate.domain.errors import InvalidInput
from footplate.sdk.connection import Connection

Data = dict[str, Any]
BATCH = 2000


class MetricCalls:
    """The part of the client that knows metrics."""

    _connection: Connection

    def push_metrics(
        self,
        values: Mapping[str, float] | Sequence[Mapping[str, Any]],
        *,
        job: str | None = None,
        step: int | None = None,
        epoch: float | None = None,
        at: float | None = None,
        group: str = "",
        task: str | None = None,
        attempt: int | None = None,
        total_steps: float | None = None,
        total_epochs: float | None = None,
    ) -> int:
        """Send values by name, or entries that each have `values`, `step`, `epoch`, `at` and `group`.

        Inside a job it is that job, and its task, unless another is named. Returns how many values arrived,
        once they are kept. `footplate.log` does the same without waiting.
        """
        named = job or os.environ.get("FOOTPLATE_JOB_ID")
        if not named:
            raise InvalidInput("no_job_named", "job")
        if job is None:
            task = task or os.environ.get("FOOTPLATE_TASK")
        entries = (
            [dict(one) for one in values] if not isinstance(values, Mapping) else [{"values": dict(values)}]
        )
        told = {"step": step, "epoch": epoch, "at": at, "group": group or None}
        whole = {"task": task, "attempt": attempt, "total_steps": total_steps, "total_epochs": total_epochs}
        n_points, source = 0, os.urandom(8).hex()
        for number, begin in enumerate(range(0, max(len(entries), 1), BATCH)):
            points = [_entry(one, told) for one in entries[begin : begin + BATCH]]
            body = {**_known(whole), "points": points, "source": source, "seq": number}
            path = f"/jobs/{quote(named, safe='')}/metrics"
            answer = self._connection.send("POST", path, body, is_repeatable=True)
            n_points += answer["n_points"]
        return n_points

    def latest_metrics(self, jobs: Sequence[str], names: Sequence[str] = ()) -> list[Data]:
        """The newest, lowest and highest values of several jobs, to compare them."""
        items: list[Data] = self._connection.fetch("/metrics/latest", job=list(jobs), name=list(names))[
            "items"
        ]
        return items


class JobMetrics:
    """The part of a job that knows its metrics."""

    _connection: Connection

    def metrics(
        self,
        names: Sequence[str] = (),
        *,
        task: str | Sequence[str] = (),
        attempt: int | Sequence[int] = (),
        axis: str = "step",
        begin: float | None = None,
        end: float | None = None,
        max_points: int = 500,
    ) -> list[Data]:
        """The curves of the job's metrics, each with `x` and `values`: all that there are, or some names.

        Of long ones, lowest and highest points of each part are shown, at most about `max_points`.
        """
        found = self._connection.fetch(
            self._path("metrics"),
            name=list(names),
            task=task,
            attempt=attempt,
            axis=axis,
            begin=begin,
            end=end,
            max_points=max_points,
        )
        items: list[Data] = found["items"]
        return items

    def latest_metrics(self) -> dict[str, float | None]:
        """The newest value of each metric, by its name."""
        found = self._connection.fetch("/metrics/latest", job=[self._path().rpartition("/")[2]])["items"]
        return {one["name"]: one["last"]["value"] for job in found for one in job["items"]}

    def follow_metrics(self, follow: bool = True) -> Iterator[Data]:
        """Yield every point that the job has told, and, with `follow`, new ones until it is over."""
        if not follow:
            yield from self._points()
            return
        for event in self._connection.events(self._path("metrics", "stream")):
            data = json.loads(event.data)
            if event.kind == "end":
                return
            if event.kind == "points":
                for point in data["points"]:
                    yield {**point, "task": data["task"], "attempt": data["attempt"]}

    def metrics_table(self) -> str:
        """Read all points as CSV."""
        return self._connection.request("GET", self._path("metrics", "export")).text

    def _points(self) -> Iterator[Data]:
        import csv
        import io

        for row in csv.DictReader(io.StringIO(self.metrics_table())):
            yield {
                "at": float(row["time"]),
                "name": row["name"],
                "value": float(row["value"]),
                "step": int(row["step"]) if row["step"] else None,
                "epoch": float(row["epoch"]) if row["epoch"] else None,
                "task": row["task"],
                "attempt": int(row["attempt"]),
            }

    def _path(self, *parts: str) -> str:
        raise NotImplementedError


def _entry(one: Mapping[str, Any], told: Mapping[str, Any]) -> Data:
    entry = {**_known(told), **_known(one)}
    entry["values"] = {name: _number(value) for name, value in entry.get("values", {}).items()}
    return entry


def _number(value: Any) -> float | str:
    number = float(value)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _known(values: Mapping[str, Any]) -> Data:
    return {name: value for name, value in values.items() if value is not None}
