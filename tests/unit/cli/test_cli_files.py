"""Files of a job on the command line, and lists and logs that say what they leave out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commandline import Command

from footplate.testing.fake_server import Asked, FakeServer, Reply, job

ID = "0abcdefghjk1"
AT = "2026-11-15T08:00:00.000Z"


def entry(path: str, kind: str = "file", size_bytes: int = 2048) -> dict[str, Any]:
    return {"path": path, "kind": kind, "size_bytes": size_bytes, "modified_at": AT}


def test_files_are_listed_with_size_and_time(server: FakeServer, footplate: Command) -> None:
    listed = {"items": [entry("model.pt"), entry("runs", "folder", 0)], "is_cut": False}
    server.on("GET /jobs/digits", job())
    server.on(f"GET /jobs/{ID}/files/output", listed)
    result = footplate("files", "digits")
    head, first, second = result.out.splitlines()
    assert head.split() == ["SIZE", "CHANGED", "PATH"]
    assert first.split()[0] == "2KB"
    assert first.endswith("model.pt")
    assert second.endswith("runs/")
    assert f"footplate download {ID} PATH" in result.err
    assert json.loads(footplate("files", "digits", "--json").out) == listed


def test_files_below_a_folder_of_the_code_are_asked_for(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"GET /jobs/{ID}/files/code", {"items": [entry("a.py")], "is_cut": True})
    result = footplate("files", "digits", "src/models", "--what", "code")
    assert server.requests(f"GET /jobs/{ID}/files/code")[0].query["path"] == ["src/models"]
    assert "has more files: these are the first 1" in result.err


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ("attachment; filename*=UTF-8''model.pt", "model.pt"),
        ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
        ("attachment; filename*=UTF-8''..", "download"),
        ("attachment; filename*=UTF-8''%E6%A8%A1%E5%9E%8B.pt", "模型.pt"),
    ],
)
def test_one_file_is_saved_under_its_own_name_in_this_folder(
    server: FakeServer, footplate: Command, tmp_path: Path, disposition: str, name: str
) -> None:
    server.on("GET /jobs/digits", job())
    server.on(
        f"GET /jobs/{ID}/download", Reply(content=b"weights", headers={"Content-Disposition": disposition})
    )
    assert "(7 bytes)" in footplate("download", "digits", "best/model.pt").out
    assert (tmp_path / name).read_bytes() == b"weights"
    assert server.requests(f"GET /jobs/{ID}/download")[0].query["path"] == ["best/model.pt"]


def page(server: FakeServer, n_jobs: int, **changes: Any) -> None:
    def answer(asked: Asked) -> Reply:
        n = min(int(asked.query["limit"][0]), n_jobs)
        return Reply(
            data={"items": [job(name=f"j{i}", **changes) for i in range(n)], "next_page_token": None}
        )

    server.on("GET /jobs", answer)


def test_a_list_that_was_cut_says_so_and_how_to_see_more(server: FakeServer, footplate: Command) -> None:
    page(server, 5)
    cut = footplate("list", "-n", "3")
    assert len(cut.out.splitlines()) == 1 + 3
    assert cut.err == "These are the first 3; there are more: -n 12, or --all\n"
    assert json.loads(footplate("list", "-n", "3", "--json").out)["is_cut"] is True
    whole = footplate("list", "-n", "5")
    assert (len(whole.out.splitlines()), whole.err) == (1 + 5, "")


def test_a_list_has_submit_times_and_descriptions(server: FakeServer, footplate: Command) -> None:
    page(server, 1, description="my memo")
    head, row = footplate("list").out.splitlines()
    assert ("SUBMITTED" in head, "DESCRIPTION" in head) == (True, True)
    assert "2026-11-15" in row
    assert "my memo" in row
    page(server, 1)
    assert "DESCRIPTION" not in footplate("list").out


def logged(server: FakeServer, **texts: str) -> None:
    """Serve logs by attempt: `a0` is that of attempt 0, `now` that of the current one."""

    def answer(asked: Asked) -> Reply:
        attempt = asked.query.get("attempt", [""])[0]
        text = texts.get(f"a{attempt}" if attempt else "now", "")
        if "since" in asked.query:
            text = ""
        return Reply(content=text.encode(), headers={"X-Log-Size": str(len(text))})

    server.on(f"GET /jobs/{ID}/logs", answer)


def test_a_job_that_tries_again_shows_what_it_printed_before(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job(state="QUEUED", attempt=2))
    logged(server, a0="first\n", a1="second\n")
    result = footplate("logs", "digits")
    assert result.out == "second\n"
    assert result.err == "Attempt 2 has no output yet; this is that of attempt 1.\n"


def test_a_job_that_printed_is_not_said_to_have_printed_nothing(
    server: FakeServer, footplate: Command
) -> None:
    server.on("GET /jobs/digits", job())
    logged(server, now="words\n")
    result = footplate("logs", "digits", "--since", "1s")
    assert result.err == f"digits ({ID}) has printed nothing that was asked for\n"


def test_a_job_that_is_over_printed_nothing_rather_than_nothing_yet(
    server: FakeServer, footplate: Command
) -> None:
    server.on("GET /jobs/digits", job(state="SUCCEEDED"))
    logged(server)
    assert footplate("logs", "digits").err == f"digits ({ID}) is SUCCEEDED and printed nothing\n"


def test_a_job_that_failed_before_it_printed_says_why(server: FakeServer, footplate: Command) -> None:
    why = {"code": "launch_failed", "message": "no such image"}
    server.on("GET /jobs/digits", job(state="FAILED", reason=why))
    logged(server)
    assert footplate("logs", "digits").err == f"digits ({ID}) is FAILED and printed nothing: no such image\n"


def test_a_shell_is_told_to_have_no_terminal(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    ran = {"exit_code": 0, "output": "", "is_cut": False, "timed_out": False}
    server.on(f"POST /jobs/{ID}/exec", ran)
    assert "exec has no terminal: bash reads nothing and ends" in footplate("exec", "digits", "bash").err
    assert footplate("exec", "digits", "--", "bash", "-c", "true").err == ""
