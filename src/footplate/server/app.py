"""The application: its routes, and a lifespan that opens the store and has the parts wired."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from types import MappingProxyType
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

from footplate import __version__
from footplate.domain.clock import Clock
from footplate.engines.base import Engine
from footplate.engines.router import LOCAL, Engines
from footplate.server import errors
from footplate.server.auth import describe_more
from footplate.server.bundle import Bundle
from footplate.server.clock import SystemClock
from footplate.server.foreign import PREFIX as FOREIGN
from footplate.server.foreign import ForeignDoor
from footplate.server.localengine import local_engine
from footplate.server.opening import Opening
from footplate.server.openstore import open_store
from footplate.server.outermost import Outermost
from footplate.server.parameters import KNOWN_ONLY
from footplate.server.parts import Parts
from footplate.server.requests import RequestEnvelope
from footplate.server.routes import (
    accesskeys,
    accounting,
    accounts,
    alerts,
    audit,
    choices,
    environments,
    events,
    files,
    front,
    images,
    invites,
    jobs,
    logs,
    meta,
    metrics,
    mlflow,
    mlflowlogged,
    mlflowmodels,
    models,
    nodes,
    notebooks,
    openings,
    prometheus,
    queues,
    retention,
    secrets,
    session,
    shells,
    ssh,
    storagefiles,
    streams,
    usage,
    waiting,
)
from footplate.server.routes import engines as engine_routes
from footplate.server.routes import exec as exec_routes
from footplate.server.routes import storages as storage_routes
from footplate.server.routes.compat import ccv1, cos, ffdl, ffdllogs, pai, tione, uai, ufile
from footplate.server.settings import Settings
from footplate.server.timing import measure_calls
from footplate.server.wiring import wire
from footplate.store.privacy import keep_private
from footplate.store.storages import Storages
from footplate.wire.body import ErrorBody

API = "/api/v1"
ROUTES = (
    jobs,
    exec_routes,
    openings,
    shells,
    ssh,
    files,
    usage,
    metrics,
    logs,
    events,
    streams,
    queues,
    nodes,
    notebooks,
    engine_routes,
    waiting,
    images,
    choices,
    environments,
    secrets,
    accounting,
    accounts,
    accesskeys,
    invites,
    alerts,
    audit,
    session,
    storage_routes,
    storagefiles,
    models,
    retention,
    meta,
)
# Of other clouds; they refuse in words of their own.
CLOUDS = (cos, tione, uai, ufile, ffdl, ffdllogs, ccv1, pai)
# Bodies that are files, however large; whoever takes them bounds them.
_UNBOUNDED = re.compile(
    rf"{API}/(code|model-contents/[^/]+|storages/[^/]+/(content|batch|uploads/[^/]+))|/(di/)?v1/models"
    rf"|{FOREIGN}/(cos|ufile)"
    rf"|{mlflow.ARTIFACTS}/.+"
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
        async def begin(made: AsyncExitStack) -> Parts:
            wanted = clock or SystemClock()
            store, identity = await open_store(settings, wanted, opening, made)
            declared = Storages(settings.home, settings.storage_by_name)
            local = engine or local_engine(settings, identity, declared)
            engines = Engines({LOCAL: local, **more_engines}, wanted)
            # What the engine has just made there is not for others either.
            keep_private(settings.home, tells=False)
            parts = app.state.parts = await wire(settings, store, engines, declared, wanted, on_fatal, made)
            return parts

        async with AsyncExitStack() as stack:
            await opening.begin(begin, stack)
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
    errors.install(app, {pai.PREFIX: pai.body_of, **ffdl.ERROR_BODIES, ccv1.PREFIX: ccv1.body_of})
    for module in ROUTES:
        app.include_router(module.router, prefix=API, responses=REFUSALS, dependencies=[KNOWN_ONLY])
    for module in CLOUDS:
        app.include_router(module.router)
    _add_at_root(app)
    front.install(app, Bundle())
    describe_more(app)
    measure_calls(app)
    app.add_middleware(
        RequestEnvelope,
        unbounded=_UNBOUNDED,
        larger={"/exec": exec_routes.MOST_BODY_BYTES, "/metrics": metrics.MOST_BODY_BYTES},
    )
    return app


def _add_at_root(app: FastAPI) -> None:
    """Add what programs of others look for at paths of their own."""
    for module in (prometheus, mlflow, mlflowmodels, mlflowlogged):
        app.include_router(module.router)


def answering(app: FastAPI) -> ASGIApp:
    """The app as it is served: with an answer for every call, from the first moment to the last."""
    opening: Opening = app.state.opening
    return ForeignDoor(
        Outermost(
            app, lambda: None if opening.parts else opening.refusal(), (API, f"{FOREIGN}/", f"{pai.PREFIX}/")
        )
    )
