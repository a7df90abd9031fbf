"""TensorBoard of the platform's own, over what jobs have made: while they run, later, several at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from footplate.domain.errors import Conflict
from footplate.domain.job import Job
from footplate.services.platform import Platform, Viewer
from footplate.services.programs import BOARD_PACKAGES, board_command

MOST_OF_ONE_PERSON, MOST = 5, 40
LOOK_EVERY_S = 1.0


class Board(Protocol):
    """What is told of one that is open."""

    @property
    def jobs(self) -> tuple[Job, ...]: ...
    @property
    def prefix(self) -> str: ...

    port: int
    secret: str
    viewer_id: str
    viewer: Viewer | None
    said: bytearray
    exit_code: int | None


class Boards:
    """Runs them, so many at a time."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def admit(self, jobs: Sequence[Job], known: Sequence[Board]) -> str:
        """Name a new one; raise `Conflict` where it cannot be."""
        owner = jobs[0].owner
        if any(job.owner != owner for job in jobs):
            raise Conflict("board_many_owners")
        running = [one.jobs[0].owner for one in known if one.viewer_id]
        if len(running) >= MOST or running.count(owner) >= MOST_OF_ONE_PERSON:
            raise Conflict("too_many_boards", most=MOST_OF_ONE_PERSON, owner=owner)
        return self._platform.viewers.new_id()

    async def run(self, board: Board) -> None:
        """Run one until it ends, or until nobody wants it."""
        viewers = self._platform.viewers
        command = board_command(viewers.shown, board.port, board.prefix)
        async with viewers.run(board.viewer_id, board.jobs, command, BOARD_PACKAGES, board.secret) as viewer:
            board.viewer = viewer
            while (code := await viewer.exit_code()) is None:
                await asyncio.sleep(LOOK_EVERY_S)
            board.said += viewers.last_words(board.viewer_id).encode()
            board.exit_code = code
