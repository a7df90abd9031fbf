"""The composition root: everything is made and wired here, once."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa
from fastapi import FastAPI

from footplate import __version__
from footplate.control.context import Context
from footplate.control.controller import Controller
from footplate.control.ports import Ports
from footplate.control.quota import QuotaKeeper
from footplate.control.storagewatch import StorageWatch
from footplate.domain.clock import Clock
from footplate.domain.cluster import GIVEN_PORTS
from footplate.engines.base import Engine
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.machine.settings import LocalSettings
from footplate.engines.router import LOCAL, Engines
from footplate.server import errors
from footplate.server.auth import describe_more
from footplate.server.bundle import Bundle
from footplate.server.clock import SystemClock
from footplate.server.opening import Opening, await_lease
from footplate.server.outermost import Outermost
from footplate.server.parameters import KNOWN_ONLY
from footplate.server.parts import Parts
from footplate.server.privacy import keep_private
from footplate.server.requests import RequestEnvelope
from footplate.server.routes import (
    accounts,
    audit,
    environments,
    events,
    files,
    front,
    images,
    invites,
    jobs,
    logs,
    meta,
    queues,
    secrets,
    session,
    storages,
    streams,
    usage,
    waiting,
)
from footplate.server.routes import engines as engine_routes
from footplate.server.routes import exec as exec_routes
from footplate.server.sessions import Sessions
from footplate.server.settings import Settings
from footplate.services.accounts import Accounts
from footplate.services.feed import Feed
from footplate.services.keyring import Keyring
from footplate.services.masks import Masks
from footplate.services.platform import Platform
from footplate.services.queues import ensure_default
from footplate.services.tokens import Tokens
from footplate.services.vault import Vault
from footplate.store import faults, homes
from footplate.store.blobs import Blobs
from footplate.store.catalogue import Catalogue
from footplate.store.cluster import Cluster
from footplate.store.database import open_engine, sqlite_url
from footplate.store.disk import Disk
from footplate.store.jobfiles import JobFiles
from footplate.store.logs import Logs
from footplate.store.migrate import migrate
from footplate.store.people import People
from footplate.store.shared import Shared
from footplate.store.store import Store
from footplate.store.usagefiles import UsageFiles
from footplate.wire.body import ErrorBody

API = "/api/v1"
ROUTES = (
    jobs,
    exec_routes,
    files,
    usage,
    logs,
    events,
    streams,
    queues,
    engine_routes,
    waiting,
    images,
    environments,
    secrets,
    accounts,
    invites,
    audit,
    session,
    storages,
    meta,
)
REFUSALS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorBody, "description": "Refused; the body says why and names every field at fault."}
}


def make_app(
    settings: Settings,
    engine: Engine | None = None,
    clock: Clock | None = None,
    on_fatal: Callable[[BaseException], None] = lambda _error: None,
    more_engines: Mapping[str, Engine] = MappingProxyType({}),
) -> FastAPI:
    """Make the server; nothing is opened before it starts.

    `engine` is the default one, under the name `local`; `more_engines` are others by their names.
    """

    opening = Opening()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async def wire(made: AsyncExitStack) -> Parts:
            wanted = clock or SystemClock()
            store, identity = await _open_store(settings, wanted, opening, made)
            engines = Engines({LOCAL: engine or local_engine(settings, identity), **more_engines}, wanted)
            # What the engine has just made there is not for others either.
            keep_private(settings.home, tells=False)
            parts = app.state.parts = await _wire(settings, store, engines, wanted, on_fatal, made)
            return parts

        async with AsyncExitStack() as stack:
            await opening.begin(wire, stack)
            yield

    app = FastAPI(
        title="Footplate",
        version=__version__,
        summary="A platform for training jobs.",
        description="Query parameters that a call does not have are refused with 422, and named.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        # A redirect would name the host that the request named, which behind a proxy is the wrong one.
        redirect_slashes=False,
        lifespan=lifespan,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.opening = opening
    errors.install(app)
    for module in ROUTES:
        app.include_router(module.router, prefix=API, responses=REFUSALS, dependencies=[KNOWN_ONLY])
    front.install(app, Bundle())
    describe_more(app)
    app.add_middleware(
        RequestEnvelope, unbounded=(f"{API}/code",), larger={"/exec": exec_routes.MOST_BODY_BYTES}
    )
    return app


def answering(app: FastAPI) -> Outermost:
    """The app as it is served: with an answer for every call, from the first moment to the last."""
    opening: Opening = app.state.opening
    return Outermost(app, lambda: None if opening.parts else opening.refusal(), API)


async def _open_store(
    settings: Settings, clock: Clock, opening: Opening, stack: AsyncExitStack
) -> tuple[Store, str]:
    """Open the store of this home folder, and say what the folder is called."""
    try:
        database, identity = await _open_database(settings, clock, opening, stack)
        store = Store(database, f"{socket.gethostname()}:{os.getpid()}", clock.now())
    except faults.GONE as error:
        if faults.may_be_full(error):
            # The next try finds some room.
            Disk(settings.home).give_way(faults.is_full(error))
        raise
    stack.callback(store.close)
    return store, identity


async def _open_database(
    settings: Settings, clock: Clock, opening: Opening, stack: AsyncExitStack
) -> tuple[sa.Engine, str]:
    """Open the database that this home folder belongs to, in threads: it may take long to answer."""
    keep_private(settings.home, tells=not opening.waits_for)
    database = open_engine(settings.database_url or sqlite_url(settings.home))
    stack.callback(database.dispose)
    if settings.stands_by:
        if not settings.takes_over:
            await asyncio.to_thread(homes.check, database, settings.home)
        await await_lease(database, opening)
    await asyncio.to_thread(migrate, database)
    identity = await asyncio.to_thread(homes.claim, database, settings.home, clock.now(), settings.takes_over)
    return database, identity


async def _shared(settings: Settings, store: Store, clock: Clock) -> Shared:
    shared = Shared(
        store=store,
        cluster=Cluster(),
        blobs=Blobs(settings.home / "blobs"),
        clock=clock,
        home=settings.home,
        logs=Logs(settings.home),
        usage=UsageFiles(settings.home),
        files=JobFiles(settings.home, settings.storage_by_name),
        images=Catalogue(),
        people=People(store),
        storages=settings.storage_by_name,
    )
    for load in (shared.cluster.load, shared.images.load, shared.people.load):
        await store.read(load)
    return shared


def _context(
    settings: Settings, shared: Shared, engines: Engines, keyring: Keyring, tokens: Tokens
) -> Context:
    """What the loops of control share: parts of this server, and what its settings say of jobs' lives."""

    def is_free(node: str, port: int) -> bool:
        return engines.is_port_free(shared.cluster.engine_of(node), node, port)

    return Context(
        **shared.parts(),
        engines=engines,
        url=settings.url,
        job_token=tokens.issue,
        ports=Ports(is_free, begin_at=random.choice(GIVEN_PORTS)),  # noqa: S311  # a place to begin
        secrets_of=keyring.variables_of,
        login_of=keyring.login_of,
        trash_kept_s=settings.trash_kept_s,
        idle_limit_s=settings.idle_limit_s,
        pauses=settings.pauses,
        storage_watch=StorageWatch(settings.storage_timeout_s),
    )


async def _watch_disk(settings: Settings, store: Store, clock: Clock, stack: AsyncExitStack) -> Disk:
    disk = Disk(settings.home, settings.disk_reserve_bytes, settings.disk_least_bytes)
    await asyncio.to_thread(disk.sample)
    store.use_reserve(disk.give_way)
    disk.person_quota_bytes = settings.quotas.person_bytes
    quota = QuotaKeeper(
        store, JobFiles(settings.home, settings.storage_by_name), clock, disk, settings.quotas
    )
    for name, work in (("disk", disk.watch()), ("quota", quota.watch())):
        stack.callback(asyncio.create_task(work, name=f"footplate-{name}").cancel)
    return disk


def _make_sessions(settings: Settings, secret: bytes) -> Sessions:
    # Cookies do not tell ports apart: each server of a host needs a name of its own.
    return Sessions(secret, f"footplate_{settings.port}", settings.url.startswith("https:"))


async def _wire(
    settings: Settings,
    store: Store,
    engines: Engines,
    clock: Clock,
    on_fatal: Callable[[BaseException], None],
    stack: AsyncExitStack,
) -> Parts:
    disk = await _watch_disk(settings, store, clock, stack)
    secret = server_secret(settings.home)
    shared, tokens, vault = await _shared(settings, store, clock), Tokens(secret), Vault(secret)
    stack.callback(shared.logs.close)
    masks = Masks(store, vault, tokens.issue)
    keyring = Keyring(store, vault, clock, masks)
    context = _context(settings, shared, engines, keyring, tokens)
    controller = Controller(context, settings.log_cap_bytes, on_fatal)
    platform = Platform(
        **shared.parts(),
        scheduler=controller.admission,
        replan=controller.replan,
        engines=engines,
        exec_in_task=controller.exec_in_task,
        environments=controller.environments,
        vault=vault,
        mask_of=masks.of,
        disk=disk,
    )
    accounts_ = Accounts(platform, tokens, shared.people.forget)
    await ensure_default(platform)
    made_up = await accounts_.ensure_admin(settings.admin_password)
    stack.push_async_callback(controller.close)
    await controller.start()
    return Parts(
        platform=platform,
        accounts=accounts_,
        tokens=tokens,
        controller=controller,
        feed=Feed(store),
        sessions=_make_sessions(settings, secret),
        settings=settings,
        first_password=made_up,
    )


def local_engine(settings: Settings, home_identity: str = "") -> LocalEngine:
    node = settings.node
    return LocalEngine(
        LocalSettings(
            home=settings.home,
            node_name=node.name,
            address=node.address,
            milli_cpus=node.milli_cpus,
            memory_bytes=node.memory_bytes,
            gpus=node.declared_gpus(),
            limits=settings.limits,
            n_processes=node.n_processes,
            containers=settings.containers,
            mounted_within_s=settings.storage_timeout_s,
            accounts=settings.accounts,
            home_id=home_identity,
            storages=settings.storage_by_name,
            find_code=Blobs(settings.home / "blobs").path,
            environments=settings.environments,
        )
    )


def server_secret(home: Path) -> bytes:
    """The key that signs tokens of jobs and seals secrets; made once, readable by the server's user only."""
    path = home / "secret"
    try:
        return path.read_bytes()
    except FileNotFoundError:
        secret, half = os.urandom(32), home / "secret.new"
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(secret)
            out.flush()
            os.fsync(descriptor)
        # A crash while it is written must not leave a short key, which could be guessed.
        half.replace(path)
        return secret
