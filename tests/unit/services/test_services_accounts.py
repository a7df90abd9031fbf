"""Callers are known by their tokens, and no longer than those are good for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.errors import Conflict, Denied, Throttled, Unauthenticated
from footplate.domain.estimate import WouldBe
from footplate.domain.events import Placed, StopAsked, TaskExited, TasksGone
from footplate.domain.job import Job
from footplate.domain.messages import text
from footplate.domain.states import Reason, ReasonCode
from footplate.engines.router import one_engine
from footplate.services import accounts, passwords, queues
from footplate.services.access import Caller
from footplate.services.accounts import Accounts, Change
from footplate.services.filing import Filing
from footplate.services.platform import Platform
from footplate.services.storageroom import StorageRoom
from footplate.services.throttle import FIRST_WAIT_S, FREE_TRIES, FREE_TRIES_OF_ADDRESS, FREE_TRIES_OF_NAME
from footplate.services.tokens import Tokens
from footplate.services.vault import Vault
from footplate.store import account_queries, transitions
from footplate.store.blobs import Blobs
from footplate.store.cluster import Cluster
from footplate.store.database import open_engine
from footplate.store.disk import Disk
from footplate.store.jobfiles import JobFiles
from footplate.store.logs import Logs
from footplate.store.people import People
from footplate.store.shared import Shared
from footplate.store.store import Store
from footplate.store.usagefiles import UsageFiles
from footplate.testing.builders import AT, job, placement
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine

ROOT = Caller("admin", is_admin=True)


class NoScheduler:
    """A platform whose scheduler has nothing to say."""

    order: tuple[str, ...] = ()

    async def enter(self, job: Job, unit: Any) -> Any:
        raise NotImplementedError

    async def explain(self, job_ids: object) -> dict[str, Any]:
        return {}

    async def estimate(self, job_id: str) -> None:
        return None

    async def dry_run(self, job: Job) -> WouldBe:
        raise NotImplementedError


class NoWayIn:
    """A platform whose tasks nobody enters."""

    def run(self, *_what: Any) -> Any:
        raise NotImplementedError

    def connect(self, *_what: Any) -> Any:
        raise NotImplementedError


class NoViewers:
    """A platform whose engines show nothing of jobs."""

    shown = ""

    def new_id(self) -> str:
        raise NotImplementedError

    def run(self, *_: Any) -> Any:
        raise NotImplementedError

    def last_words(self, viewer_id: str) -> str:
        raise NotImplementedError

    async def end_left(self) -> None:
        raise NotImplementedError


class NoEnvironments:
    """A platform whose engines build no environments."""

    async def all(self) -> list[Any]:
        return []

    async def remove(self, environment_id: str) -> None:
        raise NotImplementedError


class Office:
    """Accounts on a database of their own."""

    def __init__(self, database_url: str, home: Path) -> None:
        self.clock = FakeClock(AT)
        self.store = Store(open_engine(database_url), "test", AT)
        shared = Shared(
            store=self.store,
            cluster=Cluster(),
            blobs=Blobs(home),
            clock=self.clock,
            home=home,
            logs=Logs(home),
            usage=UsageFiles(home),
            files=JobFiles(home),
        )
        self.platform = Platform(
            shared=shared,
            scheduler=NoScheduler(),
            replan=lambda: None,
            engines=one_engine(FakeEngine(), self.clock),
            streams=NoWayIn(),
            environments=NoEnvironments(),
            viewers=NoViewers(),
            vault=Vault(b"secret"),
            filing=Filing(
                store=self.store,
                vault=Vault(b"secret"),
                people=People(),
                storages={},
                spool=lambda name: home / name,
            ),
            room=StorageRoom(Disk(home)),
        )
        self.tokens = Tokens(b"secret")
        self.accounts = Accounts(self.platform, self.tokens)

    async def open(self) -> None:
        await queues.ensure_default(self.platform)
        await self.accounts.ensure_admin("admin's password")

    async def hire(self, name: str = "ann") -> str:
        """Add a user and sign in."""
        await self.accounts.add(ROOT, name, "a password", False, {"default": "member"})
        text, _token = await self.accounts.login(name, "a password", "127.0.0.1", "login", 3600)
        return text

    async def put(self, new: Job) -> None:
        await self.store.write(lambda tx: transitions.insert(tx, new))


Test = Callable[[Office], Awaitable[None]]


def in_office(test: Test) -> Callable[..., None]:
    """Run a coroutine with accounts, once on each kind of database."""

    def run(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(passwords, "_N", 2)

        async def scenario() -> None:
            office = Office(database_url, tmp_path)
            try:
                await office.open()
                await test(office)
            finally:
                office.store.close()

        asyncio.run(scenario())

    run.__name__, run.__doc__ = getattr(test, "__name__", "run"), test.__doc__
    return run


async def is_known(office: Office, token: str) -> bool:
    try:
        await office.accounts.identify(token)
    except Unauthenticated:
        return False
    return True


@in_office
async def test_a_token_names_its_user_and_their_roles(office: Office) -> None:
    caller = await office.accounts.identify(await office.hire())
    assert replace(caller, token_id=None) == Caller("ann", False, {"default": "member"})


@in_office
async def test_a_token_is_good_until_it_expires(office: Office) -> None:
    token = await office.hire()
    office.clock.advance(3599)
    assert await is_known(office, token)
    office.clock.advance(1)
    assert not await is_known(office, token)


@in_office
async def test_a_token_without_end_stays_good(office: Office) -> None:
    await office.hire()
    token, _ = await office.accounts.issue(Caller("ann"), "forever", None)
    office.clock.advance(10 * 365 * 86400)
    assert await is_known(office, token)


@in_office
async def test_a_revoked_token_is_refused_at_once(office: Office) -> None:
    await office.hire()
    token, kept = await office.accounts.issue(Caller("ann"), "ci", None)
    assert await is_known(office, token)
    await office.accounts.revoke(Caller("ann"), kept.id)
    assert not await is_known(office, token)


@in_office
async def test_a_token_revoked_while_it_is_looked_up_is_not_remembered(office: Office) -> None:
    await office.hire()
    token, kept = await office.accounts.issue(Caller("ann"), "ci", None)
    looking = asyncio.ensure_future(is_known(office, token))
    await asyncio.sleep(0)
    await office.accounts.revoke(Caller("ann"), kept.id)
    await looking
    assert not await is_known(office, token)


@in_office
async def test_changed_rights_count_from_the_next_call_on(office: Office) -> None:
    token = await office.hire()
    await office.accounts.identify(token)
    await office.accounts.change(ROOT, "ann", Change(is_admin=True))
    assert (await office.accounts.identify(token)).is_admin
    await office.accounts.change(ROOT, "ann", Change(is_enabled=False))
    assert not await is_known(office, token)


@in_office
async def test_only_so_many_callers_are_remembered(office: Office) -> None:
    await office.hire()
    tokens = [(await office.accounts.issue(Caller("ann"), str(n), None))[0] for n in range(12)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "MOST_REMEMBERED", 5)
        for token in tokens:
            assert await is_known(office, token)
    assert len(office.accounts._remembered) <= 5


@in_office
async def test_a_jobs_token_is_good_while_its_attempt_lives(office: Office) -> None:
    await office.hire()
    one = job(retry=1)
    await office.put(one)
    first, second = (office.tokens.issue(one.id, attempt) for attempt in (0, 1))
    assert (await office.accounts.identify(first)).job_id == one.id
    assert not await is_known(office, second)
    await office.store.apply(one.id, Placed(AT, one.attempt, placement(one.spec)))
    await office.store.apply(one.id, TaskExited(AT, 0, "main", 0, 1))
    assert await is_known(office, first)
    await office.store.apply(one.id, TasksGone(AT, 0))
    assert not await is_known(office, first)
    assert await is_known(office, second)
    await office.store.apply(one.id, StopAsked(AT, Reason(ReasonCode.STOPPED_BY_USER, text("stopped"))))
    assert not await is_known(office, second)


@in_office
async def test_a_forged_token_of_a_job_is_refused(office: Office) -> None:
    await office.hire()
    one = job()
    await office.put(one)
    good = office.tokens.issue(one.id, 0)
    elsewhere = Tokens(b"another secret").issue(one.id, 0)
    assert await is_known(office, good)
    for forged in (
        elsewhere,
        good[:-1],
        good + "0",
        good.replace("_0_", "_1_"),
        f"fpj_{one.id}_0_",
        "fpj_",
        "fpj___",
    ):
        assert not await is_known(office, forged), forged


@in_office
async def test_a_job_of_a_platform_admin_is_none_itself(office: Office) -> None:
    one = job(owner="admin")
    await office.put(one)
    caller = await office.accounts.identify(office.tokens.issue(one.id, 0))
    assert (caller.name, caller.is_admin, caller.roles) == ("admin", False, {"default": "member"})
    with pytest.raises(Denied):
        await office.accounts.issue(caller, "sneaky", None)


@in_office
async def test_a_job_has_no_role_that_its_owner_has_lost(office: Office) -> None:
    await office.hire()
    one = job()
    await office.put(one)
    token = office.tokens.issue(one.id, 0)
    assert (await office.accounts.identify(token)).roles == {"default": "member"}
    await queues.remove_member(office.platform, ROOT, "default", "ann")
    office.accounts.forget()
    assert (await office.accounts.identify(token)).roles == {}


@in_office
async def test_a_job_neither_sees_nor_revokes_tokens_nor_hands_out_roles(office: Office) -> None:
    token = await office.hire()
    inside = Caller("ann", False, {"default": "admin"}, job_id="0abcdefghjk1")
    (kept,) = await office.accounts.tokens(Caller("ann"))
    refused: dict[str, Awaitable[object]] = {
        "look at tokens": office.accounts.tokens(inside),
        "revoke tokens": office.accounts.revoke(inside, kept.id),
        "create tokens": office.accounts.issue(inside, "sneaky", None),
        "change passwords": office.accounts.change_password(inside, "a password", "another one"),
        "grant roles": queues.put_member(office.platform, inside, "default", "admin", "viewer"),
        "revoke roles": queues.remove_member(office.platform, inside, "default", "ann"),
        "list users": office.accounts.users(inside),
        "add users": office.accounts.add(inside, "eve", "a password", True, {}),
        "change users": office.accounts.change(inside, "ann", Change(is_admin=True)),
        "delete users": office.accounts.remove(inside, "ann"),
    }
    for what, call in refused.items():
        with pytest.raises(Denied, match=f"a job may not {what}: "):
            await call
    assert await is_known(office, token)


@in_office
async def test_a_job_of_a_disabled_owner_is_refused(office: Office) -> None:
    await office.hire()
    one = job()
    await office.put(one)
    token = office.tokens.issue(one.id, 0)
    await office.accounts.change(ROOT, "ann", Change(is_enabled=False))
    assert not await is_known(office, token)


async def log_in(office: Office, name: str, password: str, address: str = "10.0.0.1") -> str:
    """Try to sign in; say what became of it."""
    try:
        await office.accounts.login(name, password, address, "login", None)
    except (Unauthenticated, Throttled) as refusal:
        return refusal.code
    return "let in"


@in_office
async def test_guesses_at_the_same_time_are_throttled_like_one_after_the_other(office: Office) -> None:
    await office.hire()
    answers = await asyncio.gather(*(log_in(office, "ann", f"guess {n}") for n in range(60)))
    assert answers.count("unauthenticated") == FREE_TRIES
    assert answers.count("throttled") == 60 - FREE_TRIES
    office.clock.advance(FIRST_WAIT_S)
    assert await log_in(office, "ann", "a password") == "let in"


@in_office
async def test_right_logins_at_the_same_time_are_all_let_in(office: Office) -> None:
    await office.hire()
    answers = await asyncio.gather(*(log_in(office, "ann", "a password") for _ in range(50)))
    assert set(answers) == {"let in"}


@in_office
async def test_many_wrong_names_from_an_address_hold_up_nobody_else_there(office: Office) -> None:
    await office.hire()
    for number in range(2 * FREE_TRIES_OF_ADDRESS):
        assert await log_in(office, f"user-{number}", "a guess") == "unauthenticated"
    assert await log_in(office, "ann", "a password") == "let in"
    # Who goes on guessing there has fewer tries than elsewhere.
    answers = [await log_in(office, "eve", "a guess") for _ in range(FREE_TRIES)]
    assert answers.count("unauthenticated") == 2


@in_office
async def test_guesses_of_others_elsewhere_do_not_hold_up_where_one_has_signed_in_before(
    office: Office,
) -> None:
    await office.hire()
    assert await log_in(office, "ann", "a password", "10.0.0.9") == "let in"
    for number in range(FREE_TRIES_OF_NAME):
        assert await log_in(office, "ann", "a guess", f"10.0.1.{number}") == "unauthenticated"
    assert await log_in(office, "ann", "a guess", "10.0.2.1") == "throttled"
    assert await log_in(office, "ann", "a password", "10.0.2.1") == "throttled"
    assert await log_in(office, "ann", "a password", "10.0.9.9") == "throttled"
    assert await log_in(office, "ann", "a password", "10.0.0.9") == "let in"


@in_office
async def test_a_right_password_makes_up_for_the_wrong_ones_before(office: Office) -> None:
    await office.hire()
    for _ in range(3):
        for _ in range(FREE_TRIES - 1):
            assert await log_in(office, "ann", "a guess") == "unauthenticated"
        assert await log_in(office, "ann", "a password") == "let in"


@in_office
async def test_tokens_that_expired_long_ago_are_swept(office: Office) -> None:
    await office.hire()
    await office.accounts.issue(Caller("ann"), "forever", None)
    await office.accounts.issue(Caller("ann"), "longer", 7200)

    async def sweep(before: float) -> int:
        return await office.store.write(
            lambda tx: account_queries.remove_expired_tokens(tx.connection, before)
        )

    expired_at = AT + 3600
    assert await sweep(expired_at) == 0
    assert await sweep(expired_at + 1) == 1
    assert await sweep(expired_at + 1) == 0
    left = await office.accounts.tokens(Caller("ann"))
    assert {token.name for token in left} == {"forever", "longer"}


@in_office
async def test_the_first_account_is_made_once(office: Office) -> None:
    assert await office.accounts.ensure_admin("another password") is None
    await office.accounts.login("admin", "admin's password", "127.0.0.1", "login", None)


@in_office
async def test_the_last_enabled_admin_cannot_be_lost(office: Office) -> None:
    await office.accounts.add(ROOT, "two", "a password", True, {})
    await office.accounts.change(ROOT, "two", Change(is_enabled=False))
    with pytest.raises(Conflict, match="last enabled admin"):
        await office.accounts.remove(ROOT, "admin")
    assert {one.user.name for one in await office.accounts.users(ROOT)} == {"admin", "two"}


def test_an_account_without_a_given_password_gets_one_that_is_shown(
    database_url: str, tmp_path: Path
) -> None:
    async def scenario() -> None:
        office = Office(database_url, tmp_path)
        made_up = await office.accounts.ensure_admin(None)
        assert made_up is not None
        assert len(made_up) >= 12
        await office.accounts.login("admin", made_up, "127.0.0.1", "login", None)
        office.store.close()

    asyncio.run(scenario())
