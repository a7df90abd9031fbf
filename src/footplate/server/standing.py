"""Checks during a stream that the caller may still read it."""

from __future__ import annotations

from fastapi import Request

from footplate.domain.errors import Unauthenticated
from footplate.domain.job import Job
from footplate.server.auth import caller_of
from footplate.server.parts import Parts
from footplate.services.access import Caller, may_read, may_see

REFRESH_S = 5.0


class Standing:
    """Whether a follower may continue: rights can be revoked during a stream.

    One who `reads` follows what only those see who may look into the job.
    """

    def __init__(
        self, request: Request, parts: Parts, caller: Caller, job_id: str | None, reads: bool = False
    ) -> None:
        self._request = request
        self._parts = parts
        self._caller: Caller | None = caller
        self._job_id = job_id
        self._reads = reads
        self._refreshed_at = parts.platform.clock.now()

    async def refresh(self, is_due: bool = False) -> Caller | None:
        """The caller with current rights, refreshed periodically or when due; None to end the stream."""
        now = self._parts.platform.clock.now()
        if is_due or abs(now - self._refreshed_at) >= REFRESH_S:
            self._refreshed_at = now
            self._caller = await self._identify()
        return self._caller

    async def _identify(self) -> Caller | None:
        try:
            caller = await caller_of(self._request)
        except Unauthenticated:
            return None
        job = await self._parts.platform.store.job(self._job_id) if self._job_id else None
        # A job that is gone is no reason to end: its follower is still to be told.
        return None if job is not None and not self._may(caller, job) else caller

    def _may(self, caller: Caller, job: Job) -> bool:
        if not self._reads:
            return may_see(caller, job.owner, job.spec.queue)
        queues = self._parts.platform.cluster.queues
        return may_read(caller, queues, job.owner, job.spec.queue, job.spec.shared)
