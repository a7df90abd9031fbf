"""Saves the results of jobs on the storages that they name: while they run, and whenever an attempt ends.

What could not be saved is tried again for as long as the job is there; the local files stay. Which jobs are
behind follows from their rows, so that a server that was killed goes on after its next start.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from footplate.control.context import Context
from footplate.control.retrying import keep_trying
from footplate.domain.errors import Denied, EngineRejected, FootplateError
from footplate.domain.job import Job
from footplate.domain.kinds import show_instant
from footplate.domain.messages import Message, say, text
from footplate.domain.results import MANIFEST, ResultState, SavedResults, place_of
from footplate.domain.states import JobState
from footplate.domain.storage import Access, Storage
from footplate.storages.base import Files
from footplate.storages.lanes import Lanes
from footplate.storages.paths import join
from footplate.storages.saving import Saved, Survey, adopt_all, save_all, survey
from footplate.storages.workers import Stopped
from footplate.store import result_queries
from footplate.store.writer import Transaction

log = logging.getLogger(__name__)

FIRST_PAUSE_S = 5.0
MOST_PAUSE_S = 600.0
MOST_AT_ONCE = 2


class ResultsKeeper:
    """Saves what is due, one save of a job at a time."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._first_pause_s = FIRST_PAUSE_S
        self._lanes = Lanes()
        self._room = asyncio.Semaphore(MOST_AT_ONCE)
        self._saving: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        # What was last asked for: which attempt of a job, and whether it was at an end.
        self._asked: dict[str, tuple[int, bool]] = {}
        self._saved_at: dict[str, float] = {}
        self._is_closing = threading.Event()

    def take(self, jobs: Iterable[Job | None]) -> None:
        """Save results of those whose attempts have just ended."""
        for job in jobs:
            if job is None or job.spec.results is None or job.is_deleting:
                continue
            is_between = job.state is JobState.QUEUED and job.attempt > 0
            if not (is_between or job.state.is_final or job.is_kept):
                continue
            mark = (job.attempt, job.state.is_final)
            if self._asked.get(job.id) != mark:
                self._asked[job.id] = mark
                self._ask(job.id)

    async def recover(self) -> None:
        """Take up what an earlier server has left unsaved."""
        for job_id in await self._context.store.read(result_queries.to_save):
            self._ask(job_id)

    async def save_due(self) -> None:
        """Save results of running jobs that have asked for it every so often."""
        now = self._context.clock.now()
        for job in self._context.store.board.values():
            every_s = job.spec.results.every_s if job.spec.results else None
            if every_s is None or job.state is not JobState.RUNNING or job.running_at is None:
                continue
            if now - max(self._saved_at.get(job.id, 0.0), job.running_at) >= every_s:
                self._ask(job.id)

    def _ask(self, job_id: str) -> None:
        if job_id in self._saving:
            self._again.add(job_id)
            return
        # Also when the database is away, which has to be asked what to save.
        work = keep_trying(f"saving results of job {job_id}", partial(self._keep_saving, job_id))
        saving = self._saving[job_id] = asyncio.create_task(work, name=f"footplate-results-{job_id}")
        saving.add_done_callback(lambda _: self._end(job_id))

    def _end(self, job_id: str) -> None:
        """Let go of a save, unless it was asked for again after it had looked for that the last time."""
        del self._saving[job_id]
        if job_id in self._again and not self._is_closing.is_set():
            self._again.discard(job_id)
            self._ask(job_id)

    async def _keep_saving(self, job_id: str) -> None:
        pause_s = self._first_pause_s
        while (job := await self._wanted(job_id)) is not None:
            try:
                async with self._room:
                    await self._save(job)
            except Exception as error:  # noqa: BLE001  # the top of this work: told, and tried again
                await self._note_delay(job, _said(error))
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, MOST_PAUSE_S)
                continue
            self._saved_at[job_id] = self._context.clock.now()
            if job.state.is_final:
                self._saved_at.pop(job_id, None)
            if job_id not in self._again:
                return

    async def _wanted(self, job_id: str) -> Job | None:
        # Whatever is asked for from here on may speak of a later state of the job than is read below.
        self._again.discard(job_id)
        store = self._context.store
        job = store.board.get(job_id) or await store.job(job_id)
        if job is None or job.spec.results is None or job.is_deleting:
            return None
        return None if (await self._known(job)).is_complete else job

    async def _known(self, job: Job) -> SavedResults:
        found = await self._context.store.read(lambda connection: result_queries.find(connection, job.id))
        return found or SavedResults(*place_of(job))

    async def _save(self, job: Job) -> None:
        context, looked_at = self._context, self._context.clock.now()
        known = await self._known(job)
        storage, files = await self._open(job, known.storage)
        before = await asyncio.to_thread(context.files.saved, job.id)
        found = await asyncio.to_thread(survey, self._folders(job), before)
        await context.require_room(job, storage, found.new_bytes)
        # Where others may write, the job's own files must not be the same as those that are saved.
        may_link = job.state.is_final and storage.per_user
        work = partial(self._send, files, known.path, job, looked_at, found, may_link)
        saved = await self._lanes.long_of(storage.name).run(work)
        total_bytes = sum(one.size_bytes for one in saved)
        after = replace(
            known,
            state=ResultState.SAVED,
            saved_at=context.clock.now(),
            is_complete=job.state.is_final,
            n_files=len(saved),
            size_bytes=total_bytes,
            n_left_out=found.n_left_out,
            n_tries=0,
            error=None,
        )
        is_end = job.state is not JobState.RUNNING
        await context.store.write(partial(_note_saved, job, after, is_end))

    async def _open(self, job: Job, name: str) -> tuple[Storage, Files]:
        storage = self._context.storages.get(name)
        if storage is None:
            raise EngineRejected("storage_undeclared", storage=name)
        if storage.access_of(job.owner, {job.spec.queue: True}) < Access.WRITE:
            raise Denied("storage_not_writable", storage=name, user=job.owner)
        return await self._context.open_storage(job, name)

    def _folders(self, job: Job) -> dict[str, Path]:
        assert job.spec.results is not None
        folders = self._context.files.folders(job)
        more = {"checkpoints": folders["checkpoints"]} if job.spec.results.checkpoints else {}
        return {"": folders["output"], **more}

    def _send(
        self, files: Files, target: str, job: Job, at: float, found: Survey, may_link: bool
    ) -> list[Saved]:
        """Send what is new, then the list of all; note each that is there, so that no try begins anew."""
        saved = {one.path: one for one in found.kept}
        lock = threading.Lock()

        def note(one: Saved) -> None:
            with lock:
                saved[one.path] = one

        try:
            save_all(files, target, found.new, self._is_closing, note, are_final=may_link)
            if may_link:
                # What was copied while the job ran takes room twice.
                adopt_all(files, target, found.copied)
        finally:
            self._context.files.note_saved(job.id, saved.values())
        ordered = sorted(saved.values(), key=lambda one: one.path)
        with files.batch() as batch:
            batch.write(join(target, MANIFEST), _manifest(job, at, ordered), False)
        return ordered

    async def _note_delay(self, job: Job, why: Message) -> None:
        log.warning("results of job %s could not be saved: %s", job.id, why)
        known = await self._known(job)
        after = replace(known, state=ResultState.DELAYED, n_tries=known.n_tries + 1, error=why)
        now = self._context.clock.now()
        await self._context.store.write(partial(_note_delayed, job, after, now))

    async def close(self) -> None:
        self._is_closing.set()
        tasks = list(self._saving.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _said(error: BaseException) -> Message:
    if isinstance(error, FootplateError):
        return error.said
    if isinstance(error, Stopped):
        return say("server_being_stopped")
    if isinstance(error, OSError):
        return text(error.strerror or str(error))
    log.exception("results could not be saved", exc_info=error)
    return text(str(error) or type(error).__name__)


def _note_saved(job: Job, after: SavedResults, is_end: bool, tx: Transaction) -> None:
    if not _is_there(tx, job):
        return
    result_queries.put(tx.connection, job.id, after)
    if is_end:
        said = say(
            "results_saved",
            n_files=after.n_files,
            size_bytes=after.size_bytes,
            storage=after.storage,
            path=after.path,
            n_left_out=after.n_left_out or None,
        )
        tx.record(job, "results_saved", after.saved_at or 0.0, said)


def _note_delayed(job: Job, after: SavedResults, now: float, tx: Transaction) -> None:
    if not _is_there(tx, job):
        return
    result_queries.put(tx.connection, job.id, after)
    if after.n_tries == 1:
        said = say("results_delayed", storage=after.storage, path=after.path, why=after.error)
        tx.record(job, "results_delayed", now, said)


def _is_there(tx: Transaction, job: Job) -> bool:
    """Whether the job was not removed meanwhile, its row of results with it."""
    return result_queries.find(tx.connection, job.id) is not None


def _manifest(job: Job, at: float, saved: Iterable[Saved]) -> bytes:
    listed = [
        {
            "path": one.path,
            "size_bytes": one.size_bytes,
            "sha256": one.sha256,
            "modified_at": datetime.fromtimestamp(one.modified_at, UTC).isoformat(),
        }
        for one in saved
    ]
    about = {"job": job.id, "name": job.spec.name, "owner": job.owner, "attempt": job.attempt}
    return json.dumps(
        {**about, "state": job.state.value, "saved_at": show_instant(at), "files": listed}, indent=1
    ).encode()
