"""What a launch gets to open: the right values, or a clear word why not."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from apiclient import Api, Hire, fresh

from footplate.domain.errors import InvalidInput, NotFound, SecretUnreadable
from footplate.domain.secret import RegistryLogin
from footplate.services.keyring import Keyring
from footplate.services.masks import Masks
from footplate.services.platform import Platform
from footplate.services.tokens import Tokens
from footplate.services.vault import Vault
from footplate.store.tables import secrets as table
from footplate.testing.fake_clock import FakeClock
from footplate.testing.server import Served


@pytest.fixture
def queue(admin: Api) -> str:
    name = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": name})
    return name


def _keyring(platform: Platform, vault: Vault) -> Keyring:
    return Keyring(platform.store, vault, platform.clock, Masks(platform.store, vault, Tokens(b"x").issue))


class Desk:
    """A keyring on a real server, asked from the outside."""

    def __init__(self, server: Served) -> None:
        self.server = server
        platform = server.parts.platform
        self.keyring = _keyring(platform, platform.vault)

    def resolve(self, owner: Api, queue: str, *names: str) -> dict[str, str]:
        return dict(self.server.run(self.keyring.resolve(owner.name, queue, names)))

    def login(self, owner: Api, queue: str, name: str) -> RegistryLogin:
        return self.server.run(self.keyring.registry_login(owner.name, queue, name))

    def change(self, **columns: Any) -> None:
        """Change the rows of secrets behind the server's back."""
        statement = sa.update(table).values(**columns)
        self.server.run(
            self.server.parts.platform.store.write(lambda tx: tx.connection.execute(statement).rowcount)
        )


@pytest.fixture
def desk(server: Served) -> Desk:
    return Desk(server)


def put(api: Api, name: str, **body: Any) -> None:
    api.ok("PUT", f"/secrets/{name}", json=body)


def test_values_come_back_as_they_were_set(desk: Desk, hire: Hire) -> None:
    ada = hire(default="member")
    values = {"plain": "hunter22", "lines": "a\r\nb\n", "wide": "密码 🔑", "long": "x" * 65_536}
    for name, value in values.items():
        put(ada, name, value=value)
    assert desk.resolve(ada, "default", *values) == values
    assert desk.resolve(ada, "default") == {}


def test_a_secret_of_ones_own_comes_before_that_of_the_queue(
    desk: Desk, admin: Api, hire: Hire, queue: str
) -> None:
    ada, bob = hire(**{queue: "member"}), hire(**{queue: "member"})
    put(admin, "token", value="the queue's", queue=queue)
    put(ada, "token", value="ada's")
    assert desk.resolve(ada, queue, "token") == {"token": "ada's"}
    assert desk.resolve(bob, queue, "token") == {"token": "the queue's"}


def test_who_has_left_the_queue_no_longer_gets_its_secrets(
    desk: Desk, admin: Api, hire: Hire, queue: str
) -> None:
    ada = hire(**{queue: "member"})
    put(admin, "token", value="the queue's", queue=queue)
    admin.ok("PUT", f"/queues/{queue}/members/{ada.name}", status=204, json={"role": "viewer"})
    with pytest.raises(NotFound, match=f"no secret token that jobs of {ada.name} in queue {queue} may use"):
        desk.resolve(ada, queue, "token")
    admin.ok("DELETE", f"/queues/{queue}/members/{ada.name}", status=204)
    with pytest.raises(NotFound):
        desk.resolve(ada, queue, "token")


def test_a_platform_admin_may_use_the_secrets_of_any_queue(desk: Desk, admin: Api, queue: str) -> None:
    put(admin, "token", value="the queue's", queue=queue)
    assert desk.resolve(admin, queue, "token") == {"token": "the queue's"}


def test_a_login_comes_back_as_it_was_set(desk: Desk, hire: Hire) -> None:
    ada = hire(default="member")
    put(ada, "hub", kind="registry", server="docker.io", username="ada", password='p"ß')
    assert desk.login(ada, "default", "hub") == RegistryLogin("docker.io", "ada", 'p"ß')
    with pytest.raises(InvalidInput, match="is of kind registry, not value"):
        desk.resolve(ada, "default", "hub")


def test_a_plain_value_is_no_login(desk: Desk, hire: Hire) -> None:
    ada = hire(default="member")
    put(ada, "plain", value="hunter22")
    with pytest.raises(InvalidInput, match="is of kind value"):
        desk.login(ada, "default", "plain")


def test_a_secret_that_is_gone_is_named_with_what_to_do(desk: Desk, hire: Hire) -> None:
    ada = hire(default="member")
    put(ada, "here", value="hunter22")
    with pytest.raises(NotFound, match="`footplate secrets set gone`"):
        desk.resolve(ada, "default", "here", "gone")


def test_the_last_use_is_told(desk: Desk, hire: Hire, clock: FakeClock) -> None:
    ada = hire(default="member")
    put(ada, "used", value="hunter22")
    put(ada, "unused", value="hunter22")

    def last_uses() -> list[str | None]:
        return [one["last_used_at"] for one in ada.ok("GET", "/secrets")["items"]]

    desk.resolve(ada, "default", "used")
    unused, first = last_uses()
    assert unused is None
    assert first is not None
    clock.advance(3600)
    desk.resolve(ada, "default", "used")
    assert last_uses()[1] > first


def test_another_key_is_told_and_not_a_crash(desk: Desk, hire: Hire) -> None:
    ada = hire(default="member")
    put(ada, "token", value="hunter22")
    platform = desk.server.parts.platform
    other = _keyring(platform, Vault(b"another"))
    with pytest.raises(SecretUnreadable, match="set it again with `footplate secrets set token`"):
        desk.server.run(other.resolve(ada.name, "default", ["token"]))


def test_a_value_changed_in_the_database_is_told(desk: Desk, admin: Api, hire: Hire, queue: str) -> None:
    ada = hire(**{queue: "member"})
    put(admin, "token", value="hunter22", queue=queue)
    desk.change(sealed=b"\x01 something else")
    with pytest.raises(SecretUnreadable, match=f"`footplate secrets set token --queue {queue}`"):
        desk.resolve(ada, queue, "token")
    put(admin, "token", value="set again", queue=queue)
    assert desk.resolve(ada, queue, "token") == {"token": "set again"}


def test_a_row_given_to_somebody_else_does_not_open(desk: Desk, hire: Hire) -> None:
    ada, eve = hire(default="member"), hire(default="member")
    name = fresh("stolen")
    put(ada, name, value="hunter22")
    stolen = sa.update(table).where(table.c.name == name).values(scope=f"user:{eve.name}", owner=eve.name)
    desk.server.run(desk.server.parts.platform.store.write(lambda tx: tx.connection.execute(stolen).rowcount))
    with pytest.raises(SecretUnreadable):
        desk.resolve(eve, "default", name)
