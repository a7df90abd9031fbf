"""The verb show: what a job was told to do, how it failed, and its file."""

from __future__ import annotations

from typing import Any

import pytest
from commandline import Command

from footplate.domain.jobfile import read_job
from footplate.testing.fake_server import FakeServer, Reply, job, task
from footplate.wire.documents import load

ID = "0abcdefghjk1"
CONFIG: dict[str, Any] = {
    "name": "digits",
    "roles": [{"command": "first line\nsecond line\n", "env": {"ROLE": "r"}}],
    "env": {"SEED": "0042", "HF_TOKEN": "***"},
    "secrets": {"KEY": "mine"},
    "code": {"upload": "sha256:" + "0123456789abcdef" * 4},
    "environment": {"requirements": ["numpy", "torch"], "python": "3.12"},
    "data": [{"path": "/data", "storage": "sets", "source": "mnist"}],
    "strategy": "torchrun",
}


def serve(server: FakeServer, **changes: Any) -> None:
    server.on("GET /jobs/digits", job(**changes))
    server.on(f"GET /jobs/{ID}/events", {"items": [], "next_after": None})
    server.on(f"GET /jobs/{ID}/attempts", {"items": []})


def fields(text: str) -> dict[str, str]:
    """Names and values; what is indented belongs to the value above."""
    found: dict[str, str] = {}
    name = ""
    for line in text.split("\n\n")[0].splitlines():
        if line.startswith(" "):
            found[name] += "\n" + line.strip()
        else:
            name, _, value = line.partition("  ")
            found[name] = value.strip()
    return found


def test_show_has_what_the_job_was_told_to_do(server: FakeServer, footplate: Command) -> None:
    serve(server, config=CONFIG)
    shown = fields(footplate("show", "digits").out)
    assert shown["Command"] == "first line\nsecond line"
    assert shown["Variables"] == "SEED=0042\nHF_TOKEN=***\nmain: ROLE=r\nKEY from secret mine"
    assert shown["Code"] == "uploaded, sha256:0123456789ab…"
    assert shown["Packages"] == "numpy, torch; 3.12"
    assert shown["Data"] == "sets/mnist at /data (read-only)"
    assert shown["Strategy"] == "torchrun"


def test_each_role_has_its_own_command(server: FakeServer, footplate: Command) -> None:
    roles = [{"name": "ps", "command": "serve"}, {"name": "worker", "command": "train"}]
    serve(server, config={"name": "digits", "roles": roles})
    assert fields(footplate("show", "digits").out)["Command"] == "ps: serve\nworker: train"


def test_control_characters_of_a_job_do_not_reach_the_terminal(
    server: FakeServer, footplate: Command
) -> None:
    serve(server, config={"name": "x", "roles": [{"command": "a\x1b[2Jb"}], "env": {"X": "c\x07d"}})
    shown = fields(footplate("show", "digits").out)
    assert (shown["Command"], shown["Variables"]) == ("a[2Jb", "X=cd")


def test_the_file_of_a_job_can_be_submitted_again(server: FakeServer, footplate: Command) -> None:
    serve(server)
    config = {**CONFIG, "env": {"SEED": "0042"}}
    server.on(f"GET /jobs/{ID}/config", config)
    shown = footplate("show", "digits", "--yaml")
    assert read_job(load(shown.out, "f")) == read_job(config)
    assert shown.err == ""


def test_a_file_without_its_secrets_says_so(server: FakeServer, footplate: Command) -> None:
    serve(server)
    server.on(f"GET /jobs/{ID}/config", CONFIG)
    assert f"footplate clone {ID}" in footplate("show", "digits", "--yaml").err


def test_a_failed_job_shows_how_its_log_ends_below_its_reason(server: FakeServer, footplate: Command) -> None:
    tasks = [
        task(index=0, exit_code=137, finished_at="2026-11-15T08:00:02.000Z"),
        task(index=1, exit_code=1, finished_at="2026-11-15T08:00:01.000Z"),
    ]
    serve(server, state="FAILED", tasks=tasks, n_tasks=2)
    server.on(f"GET /jobs/{ID}/logs", Reply(content=b"Traceback\nValueError: no data\n"))
    out = footplate("show", "digits").out
    assert fields(out)["Last lines"] == "Traceback\nValueError: no data"
    (asked,) = server.requests(f"GET /jobs/{ID}/logs")
    assert asked.query["task"] == ["main-1"], "the first that failed"
    assert out.index("Reason") < out.index("Last lines") < out.index("Owner")


@pytest.mark.parametrize(("state", "exit_code"), [("RUNNING", None), ("SUCCEEDED", 0), ("STOPPED", 143)])
def test_a_job_that_has_not_failed_has_no_last_lines(
    server: FakeServer, footplate: Command, state: str, exit_code: int | None
) -> None:
    serve(server, state=state, tasks=[task(exit_code=exit_code)])
    assert "Last lines" not in footplate("show", "digits").out
    assert not server.requests(f"GET /jobs/{ID}/logs")


def test_a_job_whose_log_is_gone_is_shown_all_the_same(server: FakeServer, footplate: Command) -> None:
    serve(server, state="FAILED", tasks=[task(exit_code=1)])
    result = footplate("show", "digits")
    assert (result.exit_code, "Last lines" in result.out) == (0, False)


def test_who_waits_for_a_failed_job_reads_how_its_log_ends(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"GET /jobs/{ID}", job(state="FAILED", tasks=[task(exit_code=3)]))
    server.on(f"GET /jobs/{ID}/logs", Reply(content=b"out of paper\n"))
    result = footplate("wait", "digits")
    assert result.exit_code == 3
    assert result.out.endswith("Last lines of main-0:\n  out of paper\n")
