"""The sweep: empties the trash, and removes old keys, tokens, invitations and leftovers of crashes."""

from __future__ import annotations

import asyncio
import time
from functools import partial

from footplate.control.context import Context
from footplate.control.living import Living
from footplate.domain.events import DeleteAsked
from footplate.engines.base import Engine, PullsImages, StagesData
from footplate.store import job_queries, transitions
from footplate.store.account_queries import remove_expired_tokens
from footplate.store.invite_queries import remove_expired
from footplate.store.writer import Transaction

LEFTOVERS_KEPT_S = 7 * 86400.0
SELDOM_S = 600.0
OFTEN_S = 1.0


class Sweeper:
    """Sweeps seldom, but often enough to empty the trash in time; admins may change that time."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._swept_at: float | None = None

    async def sweep_when_due(self) -> None:
        now = time.monotonic()
        pace_s = min(max(self._context.tuned.trash_kept_s / 10, OFTEN_S), SELDOM_S)
        if self._swept_at is None or now - self._swept_at >= pace_s:
            self._swept_at = now
            await sweep(self._context)


async def sweep(context: Context) -> None:
    """Forget old idempotency keys, tokens and invitations, broken-off uploads, and empty the trash."""
    before = context.clock.now() - LEFTOVERS_KEPT_S
    await context.store.write(lambda tx: job_queries.forget_keys_before(tx.connection, before))
    await context.store.write(lambda tx: remove_expired_tokens(tx.connection, before))
    await context.store.write(lambda tx: remove_expired(tx.connection, before))
    await asyncio.to_thread(context.blobs.sweep, LEFTOVERS_KEPT_S)
    await _empty_trash(context)


async def sweep_engine(context: Context, engine: Engine) -> None:
    """Have an engine remove leftovers of attempts that have ended."""
    if isinstance(engine, PullsImages):
        await engine.sweep(Living(context.store.board))


async def sweep_staged(context: Context, engine: Engine) -> None:
    """Have an engine remove copies of data that nobody has used for long."""
    if isinstance(engine, StagesData):
        await engine.sweep_staged(Living(context.store.board))


async def _empty_trash(context: Context) -> None:
    before = context.clock.now() - context.tuned.trash_kept_s
    for job_id in await context.store.read(lambda connection: job_queries.in_trash_since(connection, before)):
        await context.store.write(partial(_delete_for_good, context, job_id, before))


def _delete_for_good(context: Context, job_id: str, before: float, tx: Transaction) -> None:
    board = context.store.board
    job = transitions.current(tx, job_id, board)
    # Its owner may have taken it out meanwhile.
    if job.deleted_at is not None and job.deleted_at < before:
        asked = DeleteAsked(context.clock.now(), by="", for_good=True)
        transitions.apply(tx, board, job_id, asked)
