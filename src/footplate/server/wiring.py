"""Makes the parts of a server and wires them, once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

from footplate.control.context import Context
from footplate.control.controller import Controller
from footplate.control.faults import reporter
from footplate.control.loops import Loops
from footplate.control.ports import Ports
from footplate.control.quota import QuotaKeeper
from footplate.control.storagewatch import StorageWatch
from footplate.domain.clock import Clock
from footplate.domain.cluster import GIVEN_PORTS
from footplate.domain.pricebook import PriceBook
from footplate.engines.router import Engines
from footplate.server.housekeeping import housekeeping
from footplate.server.livesettings import LiveSettings
from footplate.server.parts import Parts
from footplate.server.secretkey import server_secret
from footplate.server.sessions import Sessions
from footplate.server.settings import Settings
from footplate.server.waysin import ways_into_tasks
from footplate.services.accounts import Accounts
from footplate.services.alerts import troubles
from footplate.services.alerts.alerts import Alerts
from footplate.services.alerts.conditions import Senses
from footplate.services.duemodels import DueModels
from footplate.services.feed import Feed
from footplate.services.figures import Waits
from footplate.services.filing import Filing
from footplate.services.gitcode import Repositories
from footplate.services.keyring import Keyring
from footplate.services.masks import Masks
from footplate.services.platform import Platform
from footplate.services.queues import ensure_default
from footplate.services.results import require_room
from footplate.services.signinlinks import SignInLinks
from footplate.services.storageroom import StorageRoom
from footplate.services.tokens import Tokens
from footplate.services.vault import Vault
from footplate.services.webtokens import WebTokens
from footplate.storages.lanes import Lanes
from footplate.store import price_queries
from footplate.store.blobs import Blobs
from footplate.store.catalogue import Catalogue
from footplate.store.cluster import Cluster
from footplate.store.disk import Disk
from footplate.store.jobfiles import JobFiles
from footplate.store.logs import Logs
from footplate.store.metrics import Metrics
from footplate.store.modelfiles import ModelFiles
from footplate.store.people import People
from footplate.store.shared import Shared
from footplate.store.storages import Storages
from footplate.store.store import Store
from footplate.store.trackedruns import TrackedRuns
from footplate.store.usagefiles import UsageFiles


async def wire(
    settings: Settings,
    store: Store,
    engines: Engines,
    storages: Storages,
    clock: Clock,
    on_fatal: Callable[[BaseException], None],
    stack: AsyncExitStack,
) -> Parts:
    """Make the parts of a server whose store is open, and set them going."""
    disk = await _disk(settings, store)
    secret = server_secret(settings.home)
    shared = await _shared(settings, store, clock, storages, disk)
    tokens, vault = Tokens(secret), Vault(secret)
    stack.callback(shared.logs.close)
    masks = Masks(store, vault, tokens.issue)
    keyring = Keyring(store, vault, clock, masks)
    filing = _filing(settings, shared, vault)
    room = StorageRoom(disk)
    context = _context(settings, shared, engines, keyring, tokens, filing, room)
    controller = Controller(context, settings.log_cap_bytes, on_fatal)
    platform = _platform(settings, shared, controller, engines, vault, filing, room, masks)
    platform = replace(platform, price_book=await _prices(settings, store, clock))
    accounts_ = Accounts(platform, tokens, shared.people.forget)
    await ensure_default(platform)
    made_up = await accounts_.ensure_admin(settings.admin_password)
    quota = QuotaKeeper(store, shared.files, clock, disk, settings.quotas)
    live = await LiveSettings.of(platform, settings, quota)
    alerts_ = await _start_alerts(settings, platform, controller, stack)
    stack.push_async_callback(controller.close)
    await controller.start()
    ways = await ways_into_tasks(settings, platform, accounts_, secret, stack)
    due = DueModels(platform)
    stack.callback(store.subscribe(due.take))
    loops = Loops(reporter(on_fatal))
    stack.push_async_callback(loops.close)
    loops.start(housekeeping(platform, quota, due, ways["shells"], ways["openings"]))
    return Parts(
        platform=platform,
        accounts=accounts_,
        tokens=tokens,
        controller=controller,
        feed=Feed(store),
        waits=Waits.over(store),
        sessions=_make_sessions(settings, secret),
        sign_in_links=SignInLinks(platform, accounts_),
        web_tokens=WebTokens(secret, accounts_),
        **ways,
        settings=settings,
        live=live,
        alerts=alerts_,
        first_password=made_up,
    )


async def _shared(settings: Settings, store: Store, clock: Clock, storages: Storages, disk: Disk) -> Shared:
    shared = Shared(
        store=store,
        cluster=Cluster(),
        blobs=Blobs(settings.home),
        clock=clock,
        home=settings.home,
        logs=Logs(settings.home),
        usage=UsageFiles(settings.home),
        metrics=Metrics(settings.home),
        runs=TrackedRuns(settings.home),
        files=JobFiles(settings.home, storages),
        images=Catalogue(),
        people=People(store),
        models=ModelFiles(settings.home),
        storages=storages,
        disk=disk,
    )
    catalogues = (shared.cluster, shared.images, shared.choices, shared.people, storages)
    for load in [one.load for one in catalogues]:
        await store.read(load)
    return shared


def _context(
    settings: Settings,
    shared: Shared,
    engines: Engines,
    keyring: Keyring,
    tokens: Tokens,
    filing: Filing,
    room: StorageRoom,
) -> Context:
    """What the loops of control share: parts of this server, and what its settings say of jobs' lives."""

    def is_free(node: str, port: int) -> bool:
        return engines.is_port_free(shared.cluster.engine_of(node), node, port)

    return Context(
        shared=shared,
        engines=engines,
        url=settings.url,
        job_token=tokens.issue,
        ports=Ports(is_free, begin_at=random.choice(GIVEN_PORTS)),  # noqa: S311  # a place to begin
        secrets_of=keyring.variables_of,
        hidden_of=keyring.masks.values_of,
        login_of=keyring.login_of,
        open_storage=filing.open_for_job,
        require_room=partial(require_room, filing, room),
        storage_watch=StorageWatch(settings.storage_timeout_s),
    )


def _platform(
    settings: Settings,
    shared: Shared,
    controller: Controller,
    engines: Engines,
    vault: Vault,
    filing: Filing,
    room: StorageRoom,
    masks: Masks,
) -> Platform:
    """What services share: parts of this server, and what its settings say of use."""
    return Platform(
        shared=shared,
        scheduler=controller.admission,
        replan=controller.replan,
        engines=engines,
        streams=controller.streams,
        environments=controller.environments,
        viewers=controller.viewers,
        vault=vault,
        filing=filing,
        room=room,
        mask_of=masks.of,
        retention=settings.retention,
        repositories=Repositories(settings.git_sources),
        storage_roots=settings.storage_roots,
    )


async def _disk(settings: Settings, store: Store) -> Disk:
    disk = Disk(settings.home, settings.disk_reserve_bytes, settings.disk_least_bytes)
    await asyncio.to_thread(disk.sample)
    store.use_reserve(disk.give_way)
    disk.person_quota_bytes = settings.quotas.person_bytes
    return disk


def _filing(settings: Settings, shared: Shared, vault: Vault) -> Filing:
    return Filing(
        store=shared.store,
        vault=vault,
        people=shared.people,
        storages=shared.storages,
        spool=shared.storages.spool,
        lanes=Lanes(settings.storage_timeout_s),
    )


def _make_sessions(settings: Settings, secret: bytes) -> Sessions:
    # Cookies do not tell ports apart: each server of a host needs a name of its own.
    return Sessions(secret, f"footplate_{settings.port}", settings.url.startswith("https:"))


async def _prices(settings: Settings, store: Store, clock: Clock) -> PriceBook:
    """Note what things cost from now on; what is past keeps its prices."""
    now = clock.now()
    return await store.write(lambda tx: price_queries.note(tx.connection, settings.prices, now))


async def _start_alerts(
    settings: Settings, platform: Platform, controller: Controller, stack: AsyncExitStack
) -> Alerts:
    """Begin to tell people what happens, before anything can."""
    senses = Senses(
        idle_s=controller.idle_s,
        metric_of=partial(troubles.metric_of, platform),
        nodes=partial(troubles.of_nodes, platform),
        disks=partial(troubles.of_disks, platform, controller.silent_storages),
    )
    alerts_ = Alerts(platform, settings.url, senses)
    await alerts_.start()
    stack.push_async_callback(alerts_.close)
    return alerts_
