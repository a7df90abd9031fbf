"""Waits until a job reaches a state, without polling."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from footplate.domain.errors import EngineUnavailable
from footplate.domain.states import JobState
from footplate.services.feed import Feed
from footplate.services.platform import Platform


async def await_state(
    platform: Platform, feed: Feed, job_id: str, states: Collection[JobState], within_s: float
) -> None:
    """Wait until a job is over, is gone or is in one of these states, but not longer than `within_s`.

    A server that stops meanwhile says so: whoever waits asks again, and the next one answers.
    """
    changed = asyncio.Event()

    def is_reached() -> bool:
        # What is not on the board is over or gone.
        job = platform.store.board.get(job_id)
        return job is None or job.state in states

    with feed.listening(job_id, lambda _event: changed.set()):
        try:
            async with asyncio.timeout(within_s):
                while not is_reached():
                    changed.clear()
                    await changed.wait()
        except TimeoutError:
            return
        except asyncio.CancelledError as error:
            raise EngineUnavailable("server_being_stopped") from error
