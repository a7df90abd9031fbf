"""The verbs halt, preempt, release, restore, exec and download."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import Command

from footplate.testing.fake_server import FakeServer, Reply, error, job

ID = "0abcdefghjk1"


@pytest.mark.parametrize(
    ("verb", "says"),
    [
        ("halt", "footplate download"),
        ("preempt", "gives its place back"),
        ("release", "is given back"),
        ("restore", "is back"),
    ],
)
def test_a_verb_asks_the_server_and_says_what_follows(
    server: FakeServer, footplate: Command, verb: str, says: str
) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"POST /jobs/{ID}/{verb}", job(state="STOPPING"))
    assert says in footplate(verb, "digits").out
    assert json.loads(footplate(verb, "digits", "--json").out)["state"] == "STOPPING"


def test_a_refusal_is_shown_and_fails(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"POST /jobs/{ID}/release", error("conflict", "nothing of job is kept", 409))
    result = footplate("release", "digits")
    assert result.exit_code != 0
    assert "nothing of job is kept" in result.err


def test_a_command_runs_inside_and_its_exit_code_is_ours(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    answer = {"exit_code": 7, "output": "hello\n", "is_cut": True}
    server.on(f"POST /jobs/{ID}/exec", answer)
    result = footplate("exec", "digits", "-t", "main-0", "--", "ls", "-l", "--all")
    assert (result.exit_code, result.out) == (7, "hello\n")
    assert "cut" in result.err
    (asked,) = server.requests(f"POST /jobs/{ID}/exec")
    assert json.loads(asked.body) == {"command": ["ls", "-l", "--all"], "task": "main-0", "timeout_s": 60}


def test_what_a_job_made_is_saved(server: FakeServer, footplate: Command, tmp_path: Path) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"GET /jobs/{ID}/download", Reply(content=b"archive"))
    target = tmp_path / "model.tar.gz"
    assert "7 bytes" in footplate("download", "digits", "--trainedmodel", "--filename", str(target)).out
    assert target.read_bytes() == b"archive"
    footplate("download", "digits", "--definition", "-o", str(target))
    assert [asked.query["what"] for asked in server.requests(f"GET /jobs/{ID}/download")] == [
        ["output"],
        ["code"],
    ]


def test_the_trash_is_listed_on_request(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs", {"items": [], "next_page_token": None})
    footplate("list", "--trash")
    (asked,) = server.requests("GET /jobs")
    assert asked.query["trash"] == ["true"]


def test_show_tells_of_estimates_and_of_what_is_kept(server: FakeServer, footplate: Command) -> None:
    estimate = {"expected_at": "2030-01-01T00:00:00.000Z", "latest_at": None, "basis": "from usual run times"}
    server.on(f"GET /jobs/{ID}/events", {"items": [], "next_after": 0})
    server.on("GET /jobs/digits", job(state="QUEUED", estimate=estimate))
    assert "from usual run times" in footplate("show", "digits").out
    server.on("GET /jobs/digits", job(state="STOPPING", kept_until="2030-01-01T00:00:00.000Z"))
    out = footplate("show", "digits").out
    assert "Kept until" in out
    assert f"footplate exec {ID}" in out
