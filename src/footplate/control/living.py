"""The attempts that are on the board, as engines ask about them."""

from __future__ import annotations

from collections.abc import Mapping

from footplate.domain.job import Job


class Living:
    """The attempts that are on the board now."""

    def __init__(self, board: Mapping[str, Job]) -> None:
        self._board = board

    def __contains__(self, attempt_id: object) -> bool:
        job_id, _, attempt = str(attempt_id).rpartition(".")
        job = self._board.get(job_id)
        return job is not None and str(job.attempt) == attempt
