"""Shells in tasks: opened by those who may, talked with, left and come back to, and noted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from apiclient import Api, Hire
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from footplate.services.shells import IDLE_S, KEPT_BYTES, LINGERS_S
from footplate.testing.fake_clock import FakeClock
from footplate.testing.server import Served


def submitted(api: Api) -> str:
    return str(api.running()["id"])


def talk(server: Served, api: Api, job: str, shell: str, seen: int = 0) -> ClientConnection:
    url = f"{server.url.replace('http', 'ws', 1)}/api/v1/jobs/{job}/shells/{shell}/stream?seen={seen}"
    header = {"Authorization": f"Bearer {api.token}"}
    return connect(url, additional_headers=header, open_timeout=10, close_timeout=10)


def begun(line: ClientConnection) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(line.recv(10))
    return told


def heard(line: ClientConnection, text: bytes) -> bytes:
    shown = b""
    while text not in shown:
        data = line.recv(10)
        assert isinstance(data, bytes), data
        shown += data
    return shown


def drain(line: ClientConnection) -> None:
    while True:
        line.recv(10)


def opened(api: Api, job: str, **body: Any) -> dict[str, Any]:
    answer = api.call("POST", f"/jobs/{job}/shells", json=body)
    assert answer.status_code == 201, answer.text
    shell: dict[str, Any] = answer.json()
    return shell


def test_a_shell_shows_what_is_typed_and_follows_the_size(server: Served, ann: Api) -> None:
    job = submitted(ann)
    shell = opened(ann, job, task="main/0", rows=30, columns=100)
    assert shell["task"] == "main-0"
    with talk(server, ann, job, shell["id"]) as line:
        assert begun(line)["offset"] == 0
        heard(line, b"terminal (30, 100)")
        line.send(b"ls\n")
        heard(line, b"ls\n")
        line.send(json.dumps({"rows": 40, "columns": 120}))
        heard(line, b"40 rows of 120")
        assert [one["id"] for one in ann.call("GET", f"/jobs/{job}/shells").json()["items"]] == [shell["id"]]


def test_whoever_comes_back_sees_what_they_missed_and_nothing_twice(server: Served, ann: Api) -> None:
    job = submitted(ann)
    shell = opened(ann, job)["id"]
    with talk(server, ann, job, shell) as line:
        begun(line)
        seen = len(heard(line, b"terminal (24, 80)\n"))
        line.send(b"before")
        seen += len(heard(line, b"before"))
        line.send(b"meanwhile")
    with talk(server, ann, job, shell, seen) as line:
        assert begun(line)["offset"] == seen
        assert heard(line, b"meanwhile") == b"meanwhile"


def test_of_much_output_the_end_is_told_again(server: Served, ann: Api) -> None:
    job = submitted(ann)
    shell = opened(ann, job)["id"]
    piece = b"x" * 100_000
    with talk(server, ann, job, shell) as line:
        begun(line)
        heard(line, b"terminal (24, 80)\n")
        for _ in range(20):
            line.send(piece)
        line.send(b"end")
        assert len(heard(line, b"end")) == 20 * len(piece) + 3
    with talk(server, ann, job, shell) as line:
        assert begun(line)["offset"] > 0
        assert len(heard(line, b"end")) == KEPT_BYTES


def test_the_second_who_connects_takes_the_shell_over(server: Served, ann: Api) -> None:
    job = submitted(ann)
    shell = opened(ann, job)["id"]
    with talk(server, ann, job, shell) as first:
        begun(first)
        heard(first, b"terminal")
        with talk(server, ann, job, shell) as second:
            begun(second)
            with pytest.raises(ConnectionClosed) as closed:
                drain(first)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4001
            second.send(b"mine")
            heard(second, b"mine")


def test_a_shell_that_is_ended_is_gone(server: Served, ann: Api) -> None:
    job = submitted(ann)
    shell = opened(ann, job)["id"]
    assert ann.call("DELETE", f"/jobs/{job}/shells/{shell}").status_code == 204
    assert ann.call("GET", f"/jobs/{job}/shells").json()["items"] == []
    refused = ann.call("DELETE", f"/jobs/{job}/shells/{shell}")
    assert (refused.status_code, refused.json()["message_code"]) == (404, "shell_gone")
    with pytest.raises(InvalidStatus) as no, talk(server, ann, job, shell):
        pytest.fail("it lives")
    assert no.value.response.status_code == 404


def test_the_exit_code_is_told(server: Served, ann: Api) -> None:
    job = submitted(ann)
    shell = opened(ann, job)["id"]
    with talk(server, ann, job, shell) as line:
        begun(line)
        # What ends the fake's stream.
        line.send(b"")
        while isinstance(told := line.recv(10), bytes):
            pass
        assert json.loads(told) == {"exit_code": 0}


def test_a_shell_that_nobody_comes_back_to_ends(server: Served, ann: Api, clock: FakeClock) -> None:
    job = submitted(ann)
    opened(ann, job)
    clock.advance(LINGERS_S + 1)
    server.run(server.parts.shells.tidy())
    assert ann.call("GET", f"/jobs/{job}/shells").json()["items"] == []


def test_a_shell_into_which_nobody_types_ends(server: Served, ann: Api, clock: FakeClock) -> None:
    job = submitted(ann)
    shell = opened(ann, job)["id"]
    with talk(server, ann, job, shell) as line:
        begun(line)
        heard(line, b"terminal")
        clock.advance(IDLE_S + 1)
        server.run(server.parts.shells.tidy())
        while isinstance(line.recv(10), bytes):
            pass
    assert ann.call("GET", f"/jobs/{job}/shells").json()["items"] == []


def test_others_are_refused_and_noted(server: Served, ann: Api, hire: Hire, admin: Api) -> None:
    bob = hire(default="member")
    job = submitted(ann)
    shell = opened(ann, job)["id"]
    assert bob.call("POST", f"/jobs/{job}/shells", json={}).status_code == 403
    with pytest.raises(InvalidStatus) as no, talk(server, bob, job, shell):
        pytest.fail("somebody else got in")
    assert no.value.response.status_code == 404
    stranger = hire()
    assert stranger.call("POST", f"/jobs/{job}/shells", json={}).status_code == 404
    actions = admin.call("GET", "/audit", params={"subject": job}).json()["items"]
    assert [one["action"] for one in actions] == [
        "job.entry_refused",
        "job.entry_refused",
        "job.shell_opened",
    ]
    assert actions[0]["detail"]["way"] == "shell"
    # Admins of the platform may, and it is noted too.
    assert admin.call("POST", f"/jobs/{job}/shells", json={}).status_code == 201


def test_who_may_no_longer_enter_is_out_while_connected(
    server: Served, hire: Hire, admin: Api, clock: FakeClock
) -> None:
    bob = hire(default="member")
    job = submitted(bob)
    shell = opened(bob, job)["id"]
    with talk(server, bob, job, shell) as line:
        begun(line)
        admin.ok("PUT", f"/queues/default/members/{bob.name}", status=204, json={"role": "viewer"})
        with pytest.raises(ConnectionClosed) as closed:
            drain(line)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


def test_a_revoked_token_closes_its_terminals(server: Served, hire: Hire) -> None:
    bob = hire(default="member")
    job = submitted(bob)
    shell = opened(bob, job)["id"]
    with talk(server, bob, job, shell) as line:
        begun(line)
        for token in bob.ok("GET", "/tokens")["items"]:
            bob.call("DELETE", f"/tokens/{token['id']}")
        with pytest.raises(ConnectionClosed) as closed:
            drain(line)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


def test_start_and_end_are_noted(ann: Api, admin: Api) -> None:
    job = submitted(ann)
    shell = opened(ann, job)["id"]
    ann.call("DELETE", f"/jobs/{job}/shells/{shell}")
    noted = admin.call("GET", "/audit", params={"subject": job}).json()["items"]
    assert [one["action"] for one in noted] == ["job.shell_closed", "job.shell_opened"]
    assert noted[0]["detail"]["task"] == "main-0"


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"rows": 0, "columns": 80}', '{"rows": "x"}', "null"])
def test_what_is_no_size_closes_the_connection_and_the_shell_lives(
    server: Served, ann: Api, text: str
) -> None:
    job = submitted(ann)
    shell = opened(ann, job)["id"]
    with talk(server, ann, job, shell) as line:
        line.send(text)
        with pytest.raises(ConnectionClosed) as closed:
            drain(line)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008
    with talk(server, ann, job, shell) as line:
        begun(line)
        heard(line, b"terminal")


def test_a_job_that_is_over_has_no_shell(ann: Api) -> None:
    job = ann.finished()["id"]
    assert ann.call("POST", f"/jobs/{job}/shells", json={}).status_code == 409
    assert ann.call("POST", f"/jobs/{job}/shells", json={"task": "x" * 90}).status_code == 422
