"""The composition root: everything is made and wired here, once."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from footplate import __version__
from footplate.control.context import Context
from footplate.control.controller import Controller
from footplate.control.ports import Ports
from footplate.control.storagewatch import StorageWatch
from footplate.domain.clock import Clock
from footplate.domain.cluster import GIVEN_PORTS
from footplate.engines.base import Engine
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.settings import LocalSettings
from footplate.server import errors
from footplate.server.auth import describe_security
from footplate.server.bundle import Bundle
from footplate.server.clock import SystemClock
from footplate.server.parts import Parts
from footplate.server.privacy import keep_private
from footplate.server.requests import RequestEnvelope
from footplate.server.routes import (
    accounts,
    audit,
    events,
    front,
    images,
    inside,
    invites,
    jobs,
    logs,
    meta,
    queues,
    secrets,
    session,
    storages,
    usage,
    waiting,
)
from footplate.server.sessions import Sessions
from footplate.server.settings import Settings
from footplate.services.accounts import Accounts
from footplate.services.feed import Feed
from footplate.services.keyring import Keyring
from footplate.services.platform import Platform
from footplate.services.queues import ensure_default
from footplate.services.vault import Vault
from footplate.store.blobs import Blobs
from footplate.store.catalogue import Catalogue
from footplate.store.cluster import Cluster
from footplate.store.database import open_engine, sqlite_url
from footplate.store.growth import Growth
from footplate.store.migrate import migrate
from footplate.store.store import Store
from footplate.wire.payloads import ErrorBody

API = "/api/v1"
ROUTES = (
    jobs,
    inside,
    usage,
    logs,
    events,
    queues,
    waiting,
    images,
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
) -> FastAPI:
    """Make the server; nothing is opened before it starts."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            app.state.parts = await _wire(
                settings, engine or local_engine(settings), clock or SystemClock(), on_fatal, stack
            )
            yield

    app = FastAPI(
        title="Footplate",
        version=__version__,
        summary="A platform for training jobs.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        # A redirect would name the host that the request named, which behind a proxy is the wrong one.
        redirect_slashes=False,
        lifespan=lifespan,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    errors.install(app)
    for module in ROUTES:
        app.include_router(module.router, prefix=API, responses=REFUSALS)
    front.install(app, Bundle())
    describe_security(app)
    app.add_middleware(RequestEnvelope, unbounded=(f"{API}/code",), larger={"/exec": inside.MOST_BODY_BYTES})
    return app


def _open_store(settings: Settings, clock: Clock) -> Store:
    keep_private(settings.home)
    database = open_engine(settings.database_url or sqlite_url(settings.home))
    migrate(database)
    return Store(database, f"{socket.gethostname()}:{os.getpid()}", clock.now())


def _make_sessions(settings: Settings, secret: bytes) -> Sessions:
    # Cookies do not tell ports apart: each server of a host needs a name of its own.
    return Sessions(secret, f"footplate_{settings.port}", settings.url.startswith("https:"))


async def _wire(
    settings: Settings,
    engine: Engine,
    clock: Clock,
    on_fatal: Callable[[BaseException], None],
    stack: AsyncExitStack,
) -> Parts:
    store = _open_store(settings, clock)
    stack.callback(store.close)
    cluster, blobs, growth = Cluster(), Blobs(settings.home / "blobs"), Growth()
    stack.callback(growth.close)
    await store.read(cluster.load)
    images_, secret = Catalogue(), server_secret(settings.home)
    await store.read(images_.load)

    keyring = Keyring(store, vault := Vault(secret), clock)
    # A task's token needs the accounts, and those need the platform, which needs the controller.
    issuers: list[Accounts] = []
    context = Context(
        store,
        cluster,
        blobs,
        engine,
        clock,
        settings.home,
        url=settings.url,
        job_token=lambda job_id, attempt: issuers[0].job_token(job_id, attempt),
        ports=Ports(begin_at=random.choice(GIVEN_PORTS)),  # noqa: S311  # a place to begin, no secret
        images=images_,
        secrets_of=keyring.variables_of,
        login_of=keyring.login_of,
        trash_kept_s=settings.trash_kept_s,
        idle_limit_s=settings.idle_limit_s,
        pauses=settings.pauses,
        storages=settings.storage_by_name,
        storage_watch=StorageWatch(settings.storage_timeout_s),
    )
    controller = Controller(context, settings.log_cap_bytes, on_fatal)
    platform = Platform(
        store,
        cluster,
        blobs,
        clock,
        settings.home,
        controller.admission,
        controller.replan,
        engine.refuses,
        controller.run_inside,
        vault,
        images_,
        settings.storage_by_name,
    )
    accounts_ = Accounts(platform, secret)
    issuers.append(accounts_)
    await ensure_default(platform)
    made_up = await accounts_.ensure_admin(settings.admin_password)
    await controller.start()
    stack.push_async_callback(controller.close)
    sessions = _make_sessions(settings, secret)
    return Parts(platform, accounts_, controller, Feed(store), growth, sessions, settings, made_up)


def local_engine(settings: Settings) -> LocalEngine:
    node = settings.node
    return LocalEngine(
        LocalSettings(
            node.name,
            node.address,
            node.milli_cpus,
            node.memory_bytes,
            node.declared_gpus(),
            home=settings.home,
            limits=settings.limits,
            n_processes=node.n_processes,
            containers=settings.containers,
            mounted_within_s=settings.storage_timeout_s,
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
