"""SSH keys: added as a line of a .pub file, each for one account, and removed."""

from __future__ import annotations

import base64
import contextlib
import socket
import stat
from pathlib import Path

import asyncssh
import pytest
from apiclient import NODE, Api, Data, fresh

from footplate.server.ssh.accepting import BOUNDS
from footplate.services import sshkeys
from footplate.store import ssh_key_queries
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served
from footplate.wire.ssh import HandedOutKey, SshKeyBody, SshKeys


def line(content: bytes = b"k" * 32, comment: str = "me@laptop") -> str:
    kind = b"ssh-ed25519"
    blob = len(kind).to_bytes(4, "big") + kind + len(content).to_bytes(4, "big") + content
    return f"ssh-ed25519 {base64.b64encode(blob).decode()} {comment}"


def test_a_key_is_added_shown_and_removed(ann: Api) -> None:
    added = ann.ok("POST", "/me/ssh-keys", SshKeyBody, 201, json={"public_key": line(b"a" * 32)})
    assert (added["name"], added["kind"], added["last_used_at"]) == ("me@laptop", "ssh-ed25519", None)
    assert added["fingerprint"].startswith("SHA256:")
    assert [key["id"] for key in ann.ok("GET", "/me/ssh-keys", SshKeys)["items"]] == [added["id"]]
    ann.ok("DELETE", f"/me/ssh-keys/{added['id']}", status=204)
    assert ann.ok("GET", "/me/ssh-keys", SshKeys)["items"] == []
    ann.refused("DELETE", f"/me/ssh-keys/{added['id']}", 404)


def test_a_key_belongs_to_one_account(ann: Api, admin: Api) -> None:
    ann.ok("POST", "/me/ssh-keys", status=201, json={"public_key": line(b"b" * 32)})
    admin.refused("POST", "/me/ssh-keys", 409, json={"public_key": line(b"b" * 32, "mine")})
    key_id = ann.ok("GET", "/me/ssh-keys")["items"][0]["id"]
    admin.refused("DELETE", f"/me/ssh-keys/{key_id}", 404)
    ann.ok("DELETE", f"/me/ssh-keys/{key_id}", status=204)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "ssh-ed25519",
        "ssh-ed25519 !!!!",
        "ssh-ed25519 AAAA",
        "ssh-dss " + line().split()[1],
        line() + "\n" + line(),
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "ssh-rsa " + base64.b64encode(b"\0\0\0\x07ssh-rsa" + b"x" * 100).decode(),
    ],
)
def test_what_is_no_good_public_key_is_refused(ann: Api, text: str) -> None:
    ann.refused("POST", "/me/ssh-keys", 422, "public_key", json={"public_key": text})


def test_a_key_for_a_job_is_private_and_not_among_the_own_ones(ann: Api, admin: Api) -> None:
    job = ann.running()["id"]
    made = ann.ok("POST", f"/jobs/{job}/ssh-key", HandedOutKey, 201)
    assert made["private_key"].startswith("-----BEGIN OPENSSH PRIVATE KEY-----")
    assert ann.ok("GET", "/me/ssh-keys")["items"] == []
    noted = admin.ok("GET", "/audit", params={"subject": job})["items"]
    assert [one["action"] for one in noted] == ["job.ssh_key_made"]


def test_a_key_for_a_job_does_not_end_that_of_ones_other_machine(
    ann: Api, server: Served, clock: FakeClock
) -> None:
    job = ann.running()["id"]

    def id_of_new() -> str:
        clock.advance(1)
        made = ann.ok("POST", f"/jobs/{job}/ssh-key", HandedOutKey, 201)["private_key"]
        public = asyncssh.import_private_key(made).export_public_key().decode()
        return sshkeys.id_of(sshkeys.read_public(public)[1])

    def opens(key_id: str) -> bool:
        store = server.parts.platform.store
        return server.run(store.read(lambda connection: ssh_key_queries.find(connection, key_id))) is not None

    made = [id_of_new() for _ in range(sshkeys.MOST_HANDED_OUT)]
    assert all(map(opens, made))
    made.append(id_of_new())
    assert [opens(one) for one in made] == [False, *[True] * sshkeys.MOST_HANDED_OUT]


@pytest.mark.parametrize(
    "reached_from_elsewhere", [{"host": "0.0.0.0"}, {"public_url": "https://train.example.com"}]
)
def test_a_server_for_others_has_a_gateway_only_where_asked(
    tmp_path: Path, reached_from_elsewhere: dict[str, str]
) -> None:
    clock = FakeClock()
    engine = FakeEngine(clock, [NODE])
    with (
        served(tmp_path, engine, clock, **reached_from_elsewhere) as running,
        Api(running, running.sign_in(), "admin") as api,
    ):
        assert "ssh_port" in api.refused("GET", f"/jobs/{api.running()['id']}/ssh", 409)["message"]


def test_a_server_on_loopback_has_a_gateway_whose_key_stays(tmp_path: Path) -> None:
    def told() -> Data:
        clock = FakeClock()
        with (
            served(tmp_path, FakeEngine(clock, [NODE]), clock) as running,
            Api(running, running.sign_in(), "admin") as api,
        ):
            return api.ok("GET", f"/jobs/{api.running(name=fresh('job'))['id']}/ssh")

    first, again = told(), told()
    assert first["host"] == "127.0.0.1"
    assert first["host_key"].startswith("ssh-ed25519 ")
    assert again["host_key"] == first["host_key"]
    assert stat.S_IMODE((tmp_path / "ssh_host_key").stat().st_mode) == 0o600


def test_noise_at_the_gateway_harms_nobody(ann: Api) -> None:
    told = ann.ok("GET", f"/jobs/{ann.running()['id']}/ssh")
    for noise in (b"GET / HTTP/1.0\r\n\r\n", b"SSH-2.0-x\r\n" + b"\0" * 100_000, b""):
        with socket.create_connection((told["host"], told["port"]), 10) as client:
            client.sendall(noise)
            client.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                while client.recv(65536):
                    pass
    with socket.create_connection((told["host"], told["port"]), 10) as client:
        assert client.recv(64).startswith(b"SSH-2.0-Footplate")


def test_connections_to_the_gateway_that_are_only_held_open_keep_nobody_out(ann: Api) -> None:
    told = ann.ok("GET", f"/jobs/{ann.running()['id']}/ssh")
    with contextlib.ExitStack() as held:
        for _ in range(BOUNDS.n_connections + 4):
            held.enter_context(socket.create_connection((told["host"], told["port"]), 10))
        client = held.enter_context(socket.create_connection((told["host"], told["port"]), 10))
        assert client.recv(64).startswith(b"SSH-2.0-Footplate")
