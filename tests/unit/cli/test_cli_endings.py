"""The verbs halt, preempt, release, restore, exec and download."""

from __future__ import annotations

import io
import json
import sys
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest
from commandline import Command

from footplate.cli.main import run
from footplate.testing.fake_server import FakeServer, Reply, error, job

ID = "0abcdefghjk1"


@pytest.mark.parametrize(
    ("verb", "says"),
    [
        ("halt", "footplate download"),
        ("preempt", "preempted and requeued"),
        ("release", "Released the kept environment"),
        ("restore", "Restored "),
    ],
)
def test_a_verb_asks_the_server_and_says_what_follows(
    server: FakeServer, footplate: Command, verb: str, says: str
) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"POST /jobs/{ID}/{verb}", job(state="STOPPING"))
    assert says in footplate(verb, "digits").out
    assert json.loads(footplate(verb, "digits", "--json").out)["state"] == "STOPPING"


def test_a_job_that_comes_back_under_another_name_says_so(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"POST /jobs/{ID}/restore", job(name="digits-2"))
    out = footplate("restore", "digits").out
    assert out == f"Restored digits-2 ({ID}) under a new name: there is another digits now.\n"


def test_a_refusal_is_shown_and_fails(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"POST /jobs/{ID}/release", error("conflict", "nothing of job is kept", 409))
    result = footplate("release", "digits")
    assert result.exit_code != 0
    assert "nothing of job is kept" in result.err


def ran(output: bytes, exit_code: int = 0, is_cut: bool = False, timed_out: bool = False) -> dict[str, Any]:
    encoded = b64encode(output).decode()
    return {"exit_code": exit_code, "output": encoded, "is_cut": is_cut, "timed_out": timed_out}


def test_a_command_runs_inside_and_its_exit_code_is_ours(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"POST /jobs/{ID}/exec", ran(b"hello\n", 7))
    result = footplate("exec", "digits", "-t", "main-0", "--", "ls", "-l", "--all")
    assert (result.exit_code, result.out, result.err) == (7, "hello\n", "")
    (asked,) = server.requests(f"POST /jobs/{ID}/exec")
    assert json.loads(asked.body) == {
        "command": ["ls", "-l", "--all"],
        "task": "main-0",
        "timeout_s": 60,
        "encoding": "base64",
    }


def test_output_that_was_cut_and_a_command_that_was_ended_are_no_success(
    server: FakeServer, footplate: Command
) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"POST /jobs/{ID}/exec", ran(b"ab", is_cut=True), ran(b"", 124, timed_out=True))
    cut = footplate("exec", "digits", "--", "yes")
    assert (cut.exit_code, cut.out) == (1, "ab")
    assert "the output was cut after 2 bytes" in cut.err
    ended = footplate("exec", "digits", "--timeout", "5", "--", "sleep", "9")
    assert ended.exit_code == 124
    assert "it took longer than 5 s" in ended.err


def test_bytes_go_in_and_out_of_a_command_unchanged(
    server: FakeServer, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = bytes(range(256))
    server.on("GET /jobs/digits", job())
    server.on(f"POST /jobs/{ID}/exec", lambda asked: Reply(data=ran(b64decode(asked.json["input"]))))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert run(["exec", "digits", "-i", "--", "cat"]) == 0
    assert capfdbinary.readouterr().out == content


def test_more_input_than_is_taken_is_refused(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * (16 * 1024**2 + 1))))
    result = footplate("exec", "digits", "-i", "--", "cat")
    assert result.exit_code == 1
    assert "larger than 16MB" in result.err
    assert not server.requests(f"POST /jobs/{ID}/exec")


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


def test_show_of_a_private_job_says_who_sees_more(server: FakeServer, footplate: Command) -> None:
    outline = job(is_readable=False, tasks=[], config={}, owner="bob")
    server.on("GET /jobs/digits", outline)
    out = footplate("show", "digits").out
    assert "Owner" in out
    assert f"footplate edit {ID} --shared" in out
    assert "TASK" not in out
    assert json.loads(footplate("show", "digits", "--json").out)["attempts"] == []
    # Nothing was asked that would be refused.
    assert {one.path for one in server.asked} == {"/jobs/digits"}


def test_logs_of_a_private_job_are_refused(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job(is_readable=False, tasks=[], config={}, owner="bob"))
    for options in ((), ("--follow",), ("--output", "file")):
        refused = footplate("logs", "digits", *options)
        assert refused.exit_code == 1
        assert f"footplate edit {ID} --shared" in refused.err


def test_show_tells_of_estimates_and_of_what_is_kept(server: FakeServer, footplate: Command) -> None:
    estimate = {
        "expected_at": "2030-01-01T00:00:00.000Z",
        "latest_at": None,
        "basis": {"message": "from usual run times"},
    }
    server.on(f"GET /jobs/{ID}/events", {"items": [], "next_after": 0})
    server.on("GET /jobs/digits", job(state="QUEUED", estimate=estimate))
    assert "from usual run times" in footplate("show", "digits").out
    server.on("GET /jobs/digits", job(state="STOPPING", kept_until="2030-01-01T00:00:00.000Z"))
    out = footplate("show", "digits").out
    assert "Kept until" in out
    assert f"footplate exec {ID}" in out
