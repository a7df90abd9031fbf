"""Startup: waits for a database or disk that is down, and answers calls with 503 meanwhile.

The server answers from the first moment. Only what a person must change ends it: a wrong setting, or a
database or home folder that is another server's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import sqlalchemy as sa

from footplate.domain.errors import Conflict, FootplateError, InvalidInput, Starting
from footplate.domain.messages import Message, say, text
from footplate.server.parts import Parts
from footplate.store import faults, leases

log = logging.getLogger(__name__)

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
# A start that takes no longer is not answered before it is done.
PROMPT_S = 3.0
STANDBY_POLL_S = 1.0
# A server that has given no sign of life for this long is gone; one that lives gives one every 5 seconds.
SILENT_S = 30.0

Wire = Callable[[AsyncExitStack], Awaitable[Parts]]


class Opening:
    """How far a start has come: `parts` once it is done, `failure` when it is given up."""

    def __init__(self) -> None:
        self.parts: Parts | None = None
        self.failure: FootplateError | None = None
        self.waits_for: Message | None = None
        self._is_over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def begin(self, wire: Wire, stack: AsyncExitStack) -> None:
        """Start, and return when that is done or takes long."""
        self._task = asyncio.create_task(self._open(wire, stack), name="footplate-opening")
        stack.push_async_callback(self._give_up)
        await asyncio.wait([self._task], timeout=PROMPT_S)

    async def wait(self) -> Parts:
        """Wait until the start is done; raise why it was given up."""
        await self._is_over.wait()
        if self.failure is not None:
            raise self.failure
        assert self.parts is not None
        return self.parts

    def refusal(self) -> Starting:
        """The answer to callers until then."""
        if self.failure is not None:
            return Starting("server_cannot_start", why=self.failure.said)
        return Starting(self.waits_for or "server_starts")

    async def _open(self, wire: Wire, stack: AsyncExitStack) -> None:
        pause_s = FIRST_PAUSE_S
        while not self._is_over.is_set():
            made = AsyncExitStack()
            try:
                self.parts = await wire(made)
            except (InvalidInput, Conflict) as error:
                await made.aclose()
                self.failure = error
            except Exception as error:  # the top of this loop: it tells, and tries again  # noqa: BLE001
                await made.aclose()
                self._tell(error, pause_s)
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
                continue
            except BaseException:
                await made.aclose()
                raise
            else:
                stack.push_async_callback(made.aclose)
            self._is_over.set()

    def _tell(self, error: Exception, pause_s: float) -> None:
        why = explain(error)
        log.warning(
            "the server cannot start yet: %s; it tries again in %g s",
            why,
            pause_s,
            exc_info=None if _is_known(error) else error,
        )
        self.waits_for = say("server_waits", why=why)

    def stand_by(self, holder: str) -> None:
        """Take note that another server has to end first."""
        self.waits_for = say("server_stands_by", holder=holder)

    async def _give_up(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


def _is_known(error: Exception) -> bool:
    return isinstance(error, (FootplateError, OSError, *faults.GONE))


def explain(error: Exception) -> Message:
    """Say what keeps a server from starting."""
    if isinstance(error, faults.GONE):
        return faults.translate(error).said
    if isinstance(error, FootplateError):
        return error.said
    if isinstance(error, OSError) and error.strerror:
        return say("file_unusable", file=str(error.filename or "?"), error=error.strerror)
    return text(f"{type(error).__name__}: {error}")


async def await_lease(engine: sa.Engine, opening: Opening) -> None:
    """Wait until no other server holds a database: it has ended, or given no sign of life for a while."""
    loop = asyncio.get_running_loop()
    last, since = None, loop.time()
    while True:
        seen = await asyncio.to_thread(leases.last_sign, engine)
        if seen is None or not seen.holder:
            return
        if seen != last:
            last, since = seen, loop.time()
        elif loop.time() - since >= SILENT_S:
            log.warning(
                "%s has given no sign of life for %g s: this server takes over", seen.holder, SILENT_S
            )
            return
        if opening.waits_for is None or opening.waits_for.code != "server_stands_by":
            log.info("this server stands by: %s serves", seen.holder)
        opening.stand_by(seen.holder)
        await asyncio.sleep(STANDBY_POLL_S)
