"""What a browser is let into: a port of a task, or a program that is started for it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import random
import secrets
import shlex
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from weakref import WeakValueDictionary

from footplate.domain.errors import (
    Conflict,
    EngineUnavailable,
    FootplateError,
    InvalidInput,
    NotFound,
    Unauthenticated,
)
from footplate.domain.job import Job
from footplate.domain.messages import say, text
from footplate.domain.spec import Service
from footplate.domain.states import JobState
from footplate.engines.base import Stream
from footplate.services import audit, notebookuse
from footplate.services.access import Caller, may_touch
from footplate.services.accounts import Accounts
from footplate.services.boards import Boards
from footplate.services.entering import enter, find_enterable
from footplate.services.platform import Platform, Viewer
from footplate.services.programs import (
    DESKTOP,
    JUPYTER,
    NO_PYTHON,
    NOT_INSTALLED,
    PROGRAMS,
    TENSORBOARD,
    Program,
)
from footplate.services.servicetickets import ServiceTickets
from footplate.services.vncpassword import obscured

# Where packages come from, as variables, and whom the site trusts.
Site = Callable[[], tuple[Mapping[str, str], str]]

log = logging.getLogger(__name__)

PORTS = range(20_000, 32_000)
PORT_TRIES = 50
STARTED_WITHIN_S = 90.0
# What is not there yet is installed first.
SUPPLIED_WITHIN_S = 900.0
POLL_S = 0.1
IDLE_S = 3600.0
TIDY_EVERY_S = 5.0
REMEMBER_S = 2.0
KEPT_BYTES = 4096
MOST_JOBS = 50


class NotThere(Conflict):
    """A program is not installed where it should run."""


@dataclass(slots=True)
class Opening:
    """One service of one task, while it runs; or of several jobs, in a viewer beside them."""

    jobs: tuple[Job, ...]
    role: str
    index: int
    name: str
    port: int
    secret: str = field(default_factory=lambda: secrets.token_hex(24), repr=False)
    used_at: float = 0.0
    n_used_now: int = 0
    is_of_job: bool = False
    running: asyncio.Task[None] | None = None
    said: bytearray = field(default_factory=bytearray)
    exit_code: int | None = None
    viewer_id: str = ""
    viewer: Viewer | None = None

    @property
    def job(self) -> Job:
        return self.jobs[0]

    @property
    def task(self) -> str:
        return f"{self.role}-{self.index}"

    @property
    def node(self) -> str:
        """Where it runs; empty for a viewer, whose engine chooses."""
        placed = () if self.viewer_id or self.job.placement is None else self.job.placement.tasks
        here = (one.node for one in placed if (one.role, one.index) == (self.role, self.index))
        return next(here, "")

    @property
    def prefix(self) -> str:
        """Where it is below the address for services; begins and ends with a slash."""
        return prefix_of(self.viewer_id or self.job.id, self.task, self.name)

    @property
    def keeps_prefix(self) -> bool:
        """Whether the program itself knows where it is; others are asked as if they were at the root."""
        return self.name in PROGRAMS

    @property
    def password(self) -> str:
        """What a desktop is entered with: no more than eight characters count."""
        return self.secret[:8]


def prefix_of(job_id: str, task: str, name: str) -> str:
    return f"/s/{job_id}/{task}/{name}/"


class Openings:
    """The services that run, and who has been let into which."""

    def __init__(
        self, platform: Platform, accounts: Accounts, secret: bytes, site: Site = lambda: ({}, "")
    ) -> None:
        self._platform = platform
        self._site = site
        self._accounts = accounts
        self.tickets = ServiceTickets(platform.clock, secret)
        self._boards = Boards(platform)
        self._openings: dict[str, Opening] = {}
        # Kept only while somebody holds or awaits them.
        self._starting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._may: dict[tuple[str, str | None, str], tuple[bool, float]] = {}
        self._wished: dict[tuple[str, int, str, str], asyncio.Task[None]] = {}

    async def open(
        self, caller: Caller, id_or_name: str, name: str, task: str | None, others: Sequence[str] = ()
    ) -> Opening:
        """Let the caller into a port, or into a program that is started unless it runs; owners and admins."""
        _port_of(name)
        job = await find_enterable(self._platform, caller, id_or_name, "service")
        if name == TENSORBOARD:
            opening = await self._open_board(caller, job, task, others)
        elif others:
            raise InvalidInput("service_of_one_job", "others", service=name)
        else:
            job, role, index = await enter(self._platform, caller, job.id, task, "service")
            opening = await self._ensure(job, role, index, name)
        for shown in opening.jobs:
            detail = {"name": shown.spec.name, "owner": shown.owner, "task": opening.task, "service": name}
            await audit.note(self._platform, caller, "job.service_opened", shown.id, **detail)
        return opening

    async def _open_board(self, caller: Caller, job: Job, task: str | None, others: Sequence[str]) -> Opening:
        """Open the TensorBoard of a running task, where it has one, or else one of the platform's own."""
        found = [await find_enterable(self._platform, caller, other, "service") for other in others]
        jobs = tuple({one.id: one for one in (job, *found)}.values())
        if len(jobs) > MOST_JOBS:
            raise InvalidInput("too_many_entries", "others", most=MOST_JOBS - 1, given=len(jobs) - 1)
        if len(jobs) == 1 and (job.is_kept or job.state is JobState.RUNNING):
            _, role, index = await enter(self._platform, caller, job.id, task, "service")
            with contextlib.suppress(NotThere):
                return await self._ensure(job, role, index, TENSORBOARD)
        return await self._ensure_board(jobs)

    async def _ensure_board(self, jobs: tuple[Job, ...]) -> Opening:
        wanted = frozenset(job.id for job in jobs)
        async with self._starting.setdefault(" ".join(sorted(wanted)), asyncio.Lock()):
            for known in self._openings.values():
                is_same = known.viewer_id and {job.id for job in known.jobs} == wanted
                if is_same and known.running is not None and not known.running.done():
                    return known
            opening = Opening(jobs, "viewer", 0, TENSORBOARD, 0, used_at=self._platform.clock.now())
            opening.viewer_id = self._boards.admit(jobs, list(self._openings.values()))
            # Listed at once: who asks for another meanwhile is counted.
            self._openings[opening.prefix] = opening
            await self._start(opening)
        return opening

    async def _ensure(self, job: Job, role: str, index: int, name: str, is_of_job: bool = False) -> Opening:
        port = _port_of(name)
        opening = Opening((job,), role, index, name, port or 0, is_of_job=is_of_job)
        key = opening.prefix
        async with self._starting.setdefault(key, asyncio.Lock()):
            known = self._openings.get(key)
            if known is not None and (known.running is None or not known.running.done()):
                return known
            opening.used_at = self._platform.clock.now()
            if port is None:
                await self._start(opening)
            self._openings[key] = opening
        return opening

    async def _start(self, opening: Opening) -> None:
        opening.port = self._free_port(opening)
        program = PROGRAMS[opening.name]
        run = self._boards.run(opening) if opening.viewer_id else self._run(opening, program)
        opening.running = asyncio.create_task(run, name=f"footplate-{opening.name}")
        is_supplied = bool(opening.viewer_id) or opening.name == JUPYTER
        try:
            async with asyncio.timeout(SUPPLIED_WITHIN_S if is_supplied else STARTED_WITHIN_S):
                while not await self._answers(opening):
                    self._require_running(opening, program)
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            await self._end(opening)
            said = opening.said.decode(errors="replace")
            raise EngineUnavailable("service_silent", service=opening.name, said=said) from None
        except BaseException:
            await self._end(opening)
            raise
        opening.used_at = self._platform.clock.now()

    def _require_running(self, opening: Opening, program: Program) -> None:
        if opening.running is None or not opening.running.done():
            return
        if opening.exit_code == NOT_INSTALLED:
            raise NotThere(
                "service_not_installed", service=opening.name, by=program.by, package=program.package
            )
        if opening.exit_code == NO_PYTHON:
            raise NotThere("service_no_python", service=opening.name, package=program.package)
        # What the engine raised says more than that it has ended.
        opening.running.result()
        said = opening.said.decode(errors="replace").strip()
        raise EngineUnavailable("service_ended", service=opening.name, code=opening.exit_code, said=said)

    async def _run(self, opening: Opening, program: Program) -> None:
        path = wished_path(opening.job, opening.role, opening.name)
        argv = ("sh", "-c", program.script(opening.port, opening.prefix, path))
        async with self._platform.streams.run(opening.job, opening.role, opening.index, argv) as stream:
            hidden = obscured(opening.password) if opening.name == DESKTOP else ""
            site = await self._site_for(opening)
            await stream.write(f"{opening.secret}\n{hidden}\n{site}\n".encode())
            while data := await stream.read():
                opening.said += data
                del opening.said[:-KEPT_BYTES]
            opening.exit_code = await stream.wait()

    async def _site_for(self, opening: Opening) -> str:
        """Write where packages come from, for an image: other tasks have it in their variables."""
        spec = opening.job.spec
        image = next(role.image for role in spec.roles if role.name == opening.role) or spec.image
        if opening.name != JUPYTER or not image:
            return ""
        variables, certificates = await asyncio.to_thread(self._site)
        told = json.dumps({"variables": dict(variables), "certificates": certificates})
        return base64.b64encode(told.encode()).decode()

    async def _answers(self, opening: Opening) -> bool:
        try:
            async with self.connect(opening):
                return True
        except FootplateError:
            return False

    def connect(self, opening: Opening) -> AbstractAsyncContextManager[Stream]:
        """Connect to what a service listens at."""
        if not opening.viewer_id:
            return self._platform.streams.connect(opening.job, opening.role, opening.index, opening.port)
        if opening.viewer is None:
            raise EngineUnavailable("service_silent", service=opening.name, said="")
        return opening.viewer.connect(opening.port)

    @asynccontextmanager
    async def using(self, opening: Opening) -> AsyncIterator[Stream]:
        """Connect for a browser: a service that is used is not idle."""
        opening.n_used_now += 1
        try:
            async with self.connect(opening) as stream:
                yield stream
        finally:
            opening.n_used_now -= 1
            opening.used_at = self._platform.clock.now()
            self._note_use(opening, 0.0)

    def _note_use(self, opening: Opening, idle_s: float) -> None:
        """Let idle limits know; what pages of Jupyter ask for counts only as Jupyter counts it."""
        platform = self._platform
        if opening.name != JUPYTER or idle_s:
            for job in opening.jobs if not opening.viewer_id else ():
                platform.activity.note(job.id, platform.clock.elapsed() - idle_s)

    async def _ask_notebooks(self) -> None:
        for one in [one for one in self._openings.values() if one.name == JUPYTER]:
            now = self._platform.clock.now()
            with contextlib.suppress(FootplateError):
                idle_s = await notebookuse.idle_s(partial(self.connect, one), one.prefix, one.secret, now)
                if idle_s is not None:
                    self._note_use(one, max(idle_s, 0.001))

    def _free_port(self, opening: Opening) -> int:
        """Find a port that nobody uses where the task runs."""
        engine, node = self._platform.engines.name_of(opening.job), opening.node
        taken = {one.port for one in self._openings.values()}
        for _ in range(PORT_TRIES):
            port = random.choice(PORTS)  # noqa: S311  # not a secret
            if port not in taken and self._platform.engines.is_port_free(engine, node, port):
                return port
        raise EngineUnavailable("no_free_port")

    def of(self, job: Job) -> list[Opening]:
        """The services of a job that run, and the ports of it that somebody has opened."""
        return [one for one in self._openings.values() if any(shown.id == job.id for shown in one.jobs)]

    async def close_one(self, caller: Caller, id_or_name: str, name: str) -> None:
        job = await find_enterable(self._platform, caller, id_or_name, "service")
        found = [one for one in self.of(job) if one.name == name]
        if not found:
            raise NotFound("service_not_open", service=name, job=job.id)
        for one in found:
            await self._end(one)

    async def _end(self, opening: Opening) -> None:
        self._openings.pop(opening.prefix, None)
        if opening.running is not None:
            opening.running.cancel()
            await asyncio.gather(opening.running, return_exceptions=True)

    async def admit(self, prefix: str, cookie: str) -> Opening | None:
        """The service that a cookie opens, if its owner may still enter and the service is there."""
        caller, opening = self.tickets.caller_of(prefix, cookie), self._openings.get(prefix)
        if caller is None or opening is None or not await self._may_enter(caller, opening):
            return None
        opening.used_at = self._platform.clock.now()
        return opening

    async def _may_enter(self, caller: Caller, opening: Opening) -> bool:
        """Look up rights as they are now, or were a moment ago: each request asks."""
        now, key = self._platform.clock.now(), (caller.name, caller.token_id, opening.prefix)
        known = self._may.get(key)
        if known is None or now >= known[1]:
            self._may = {one: kept for one, kept in self._may.items() if now < kept[1]}
            known = self._may[key] = (await self._may_now(caller, opening), now + REMEMBER_S)
        return known[0]

    async def _may_now(self, caller: Caller, opening: Opening) -> bool:
        try:
            fresh = await self._accounts.renew(caller)
        except Unauthenticated:
            return False
        jobs = [await self._platform.store.job(job.id) for job in opening.jobs]
        return all(job is not None and job.deleted_at is None and may_touch(fresh, job) for job in jobs)

    async def tidy(self) -> None:
        """End what nobody uses, and what belongs to jobs that are over; start what jobs ask for."""
        await self._platform.viewers.end_left()
        now = self._platform.clock.now()
        self._start_wished()
        await self._ask_notebooks()
        for one in list(self._openings.values()):
            is_idle = not one.is_of_job and not one.n_used_now and now - one.used_at > IDLE_S
            has_ended = one.running is not None and one.running.done()
            if is_idle or has_ended or await self._is_over(one):
                await self._end(one)

    async def _is_over(self, one: Opening) -> bool:
        if one.viewer_id:
            jobs = [await self._platform.store.job(job.id) for job in one.jobs]
            return any(job is None or job.deleted_at is not None for job in jobs)
        job = self._platform.store.board.get(one.job.id)
        return job is None or job.attempt != one.job.attempt or job.state.is_final

    def _start_wished(self) -> None:
        """Begin what the files of running jobs ask for, once for each attempt."""
        board = self._platform.store.board
        asking = [job for job in list(board.values()) if job.spec.services and job.state is JobState.RUNNING]
        attempts = {(job.id, job.attempt) for job in asking}
        self._wished = {wish: task for wish, task in self._wished.items() if wish[:2] in attempts}
        for job in asking:
            for service in job.spec.services:
                wish = (job.id, job.attempt, service.kind, _role_of(service, job))
                if service.kind in PROGRAMS and wish not in self._wished:
                    self._wished[wish] = asyncio.create_task(self._grant(job, service))

    async def _grant(self, job: Job, service: Service) -> None:
        said = say("service_ready", service=service.kind)
        try:
            try:
                await self._ensure(job, _role_of(service, job), 0, service.kind, is_of_job=True)
            except NotThere:
                if service.kind != TENSORBOARD:
                    raise
                (await self._ensure_board((job,))).is_of_job = True
        except FootplateError as error:
            said = say("service_not_ready", service=service.kind, why=error.said)
        except Exception as error:  # the top of this work: whatever goes wrong, the job's owner is told
            log.exception("the service %s of job %s was not started", service.kind, job.id)
            said = say("service_not_ready", service=service.kind, why=text(str(error)))
        now = self._platform.clock.now()
        with contextlib.suppress(FootplateError):
            await self._platform.store.write(lambda tx: tx.record(job, "service", now, said))

    async def close(self) -> None:
        for wish in self._wished.values():
            wish.cancel()
        await asyncio.gather(*(self._end(one) for one in list(self._openings.values())))


def _role_of(service: Service, job: Job) -> str:
    return service.role or job.tasks[0].role


def wished_path(job: Job, role: str, name: str) -> str:
    """The folder that a job's file names for a service, as a word of the shell."""
    asked = [one for one in job.spec.services if one.kind == name and one.path]
    # Somebody may open it in another task than the file asks for: better there than nowhere.
    asked.sort(key=lambda one: _role_of(one, job) != role)
    return shlex.quote(asked[0].path) if asked else ""


def _port_of(name: str) -> int | None:
    """The number of a port that is asked for by it; None for a program by name."""
    if name in PROGRAMS:
        return None
    if name.isascii() and name.isdecimal() and 1 <= int(name) <= 65_535:
        return int(name)
    raise InvalidInput("service_unknown", "service", known=sorted(PROGRAMS), given=name[:80])
