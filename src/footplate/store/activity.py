"""When somebody last used a job through one of its services, as far as its tasks do not show it."""

from __future__ import annotations


class Activity:
    """By job, in elapsed time; a server that was started anew knows of nobody yet."""

    def __init__(self) -> None:
        self._used_at: dict[str, float] = {}

    def note(self, job_id: str, at: float) -> None:
        self._used_at[job_id] = max(at, self._used_at.get(job_id, at))

    def last(self, job_id: str) -> float | None:
        return self._used_at.get(job_id)

    def forget(self, job_id: str) -> None:
        self._used_at.pop(job_id, None)
