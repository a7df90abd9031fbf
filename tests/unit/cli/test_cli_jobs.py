from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from commandline import Command

from footplate.testing.fake_server import FakeServer, Reply, error, job, stream, task

ID = "0abcdefghjk1"
NO_EVENTS = {"items": [], "next_after": 0}


def test_a_list_is_plain_and_whole_when_piped(server: FakeServer, footplate: Command) -> None:
    long = "waits because of a reason that is much longer than any terminal is wide " * 3
    waiting = job(name="big", state="QUEUED", position=2, reason={"code": "behind_others", "message": long})
    server.on("GET /jobs", {"items": [waiting, job()], "next_page_token": None})
    result = footplate("list")
    header, first, second = result.out.splitlines()
    assert header.split()[:3] == ["ID", "NAME", "STATE"]
    assert first.endswith(f"  {long.strip()}")
    assert "\x1b" not in result.out
    assert second.split()[:3] == [ID, "digits", "RUNNING"]


def test_the_jobs_ahead_are_counted_once(server: FakeServer, footplate: Command) -> None:
    why = "behind 2 jobs; needs 2 GPUs at once; 0 of 2 are free"
    waiting = job(state="QUEUED", position=2, reason={"code": "behind_others", "message": why})
    server.on("GET /jobs", {"items": [waiting], "next_page_token": None})
    server.on("GET /jobs/digits", waiting)
    server.on(f"GET /jobs/{ID}/events", NO_EVENTS)
    for verb in (("list",), ("show", "digits")):
        out = footplate(*verb).out
        assert why in out
        assert out.count("2 jobs") == 1


def test_filters_reach_the_server_in_its_own_words(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs", {"items": [], "next_page_token": None})
    server.on("GET /me", {"name": "ada", "is_admin": False, "queues": []})
    footplate(
        "ps", "--mine", "-s", "completed", "-s", "Running", "--search", "x y", "--tag", "t", "-q", "vision"
    )
    (asked,) = server.requests("GET /jobs")
    assert asked.query["state"] == ["RUNNING", "SUCCEEDED"]
    assert asked.query["owner"] == ["ada"]
    assert asked.query["search"] == ["x y"]
    assert asked.query["queue"] == ["vision"]


def test_json_is_the_apis_own(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs", {"items": [job()], "next_page_token": None})
    server.on("GET /jobs/digits", job())
    server.on(f"GET /jobs/{ID}/events", NO_EVENTS)
    server.on(f"GET /jobs/{ID}/attempts", {"items": []})
    assert json.loads(footplate("list", "--json").out)["items"] == [job()]
    assert json.loads(footplate("show", "digits", "--json").out) == {**job(), "attempts": [], "steps": []}


def test_show_names_state_reason_tasks_and_what_to_type_next(server: FakeServer, footplate: Command) -> None:
    tasks = [task("worker", 0, exit_code=3, state="EXITED"), task("worker", 1, ports={"main": [20001]})]
    server.on("GET /jobs/digits", job(state="FAILED", n_tasks=2, tasks=tasks, retry=2, retries_used=1))
    server.on(f"GET /jobs/{ID}/events", NO_EVENTS)
    out = footplate("show", "digits").out
    for text in (
        "FAILED",
        "it is failed",
        "worker-0",
        "main:20001",
        "1 of 2 retries",
        f"footplate clone {ID}",
    ):
        assert text in out


def test_show_lists_the_attempts_of_a_job_that_was_tried_again(
    server: FakeServer, footplate: Command
) -> None:
    attempt = {
        "number": 0,
        "state": "FAILED",
        "reason": {"code": "task_failed", "message": "exited with code 4; retry 1 of 2", "details": {}},
        "started_at": "2026-11-15T08:00:00.000Z",
        "running_at": "2026-11-15T08:00:01.000Z",
        "finished_at": "2026-11-15T08:01:04.000Z",
        "tasks": [],
    }
    server.on("GET /jobs/digits", job(), job(attempt=1, retry=2, retries_used=1))
    server.on(f"GET /jobs/{ID}/events", NO_EVENTS)
    server.on(f"GET /jobs/{ID}/attempts", {"items": [attempt, {**attempt, "number": 1}]})
    assert "ATTEMPT" not in footplate("show", "digits").out
    lines = footplate("show", "digits").out.splitlines()
    assert "0        FAILED  1m03s     exited with code 4; retry 1 of 2" in lines


def test_stop_says_what_happened_to_which_job(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/a", job(name="a"))
    server.on("GET /jobs/b", job(name="b", state="SUCCEEDED"))
    server.on(f"POST /jobs/{ID}/stop", job(name="a", state="STOPPING"))
    result = footplate("stop", "a", "b")
    assert result.exit_code == 0
    assert result.out.splitlines() == [
        f"a ({ID}) is stopping: STOPPING.",
        f"b ({ID}) had ended already: SUCCEEDED.",
    ]
    assert len(server.requests(f"POST /jobs/{ID}/stop")) == 1


def test_a_job_that_is_not_there_is_one_clear_message(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/none", error("not_found", "there is no job none", 404))
    result = footplate("stop", "none")
    assert (result.exit_code, result.out, result.err) == (1, "", "error: there is no job none\n")


def test_delete_asks_first_and_does_nothing_without_a_yes(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    server.on("GET /jobs/digits", job())
    server.on(f"DELETE /jobs/{ID}", Reply(202))
    result = footplate("delete", "digits")
    assert result.exit_code == 1
    assert "Move digits (RUNNING) to the trash? [y/N]" in result.err
    assert "nothing was moved" in result.err
    assert not server.requests(f"DELETE /jobs/{ID}")


def test_a_question_that_nobody_can_answer_names_the_option_that_does(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    server.on("GET /jobs/digits", job())
    result = footplate("delete", "digits")
    assert (result.exit_code, result.err.splitlines()[-1]) == (
        1,
        "error: nothing was moved: --yes does not ask",
    )
    server.on("GET /version", {"version": "0.1.0", "api": "v1"})
    login = footplate("login", server.url)
    assert login.err.splitlines()[-1].startswith("error: the input has ended without an answer")


@pytest.mark.parametrize(
    ("state", "status", "options", "fate"),
    [
        ("RUNNING", 202, ["--for-good"], "stopping, then deleted"),
        ("SUCCEEDED", 204, ["--for-good"], "deleted"),
        ("SUCCEEDED", 202, ["--for-good"], "being deleted"),
        ("SUCCEEDED", 204, [], f"in the trash; restore it with: footplate restore {ID}"),
        ("RUNNING", 202, [], f"stopping, then in the trash; restore it with: footplate restore {ID}"),
    ],
)
def test_delete_says_whether_the_job_is_gone(
    server: FakeServer, footplate: Command, state: str, status: int, options: list[str], fate: str
) -> None:
    server.on("GET /jobs/digits", job(state=state))
    server.on(f"DELETE /jobs/{ID}", Reply(status))
    assert footplate("delete", "-y", "digits", *options).out == f"digits ({ID}): {fate}\n"
    (answer,) = json.loads(footplate("delete", "-y", "digits", *options, "--json").out)["items"]
    assert answer["is_deleted"] is (status == 204)


def test_edit_sends_only_what_changes_and_needs_something(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"PATCH /jobs/{ID}", job())
    assert footplate("edit", "digits").exit_code == 2
    assert "Changed description of digits" in footplate("edit", "digits", "-d", "").out
    assert server.requests(f"PATCH /jobs/{ID}")[0].json == {"description": ""}


@pytest.mark.parametrize(("option", "shared"), [("--shared", True), ("--private", False)])
def test_a_job_is_shared_and_taken_back(
    server: FakeServer, footplate: Command, option: str, shared: bool
) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"PATCH /jobs/{ID}", job())
    assert footplate("edit", "digits", option).exit_code == 0
    assert server.asked[-1].json == {"shared": shared}


def test_wait_exits_with_the_outcome(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"GET /jobs/{ID}", job(state="FAILED", tasks=[task(exit_code=7)]))
    assert footplate("wait", "digits").exit_code == 7
    server.on(f"GET /jobs/{ID}", job(state="SUCCEEDED", tasks=[task(exit_code=0)]))
    assert footplate("wait", "digits").exit_code == 0


def test_wait_says_that_results_are_still_being_saved_and_waits_for_them_if_asked(
    server: FakeServer, footplate: Command
) -> None:
    place = {"storage": "home", "path": "outputs/x"}
    saving, saved = (
        job(state="SUCCEEDED", tasks=[task(exit_code=0)], results={**place, "is_complete": done})
        for done in (False, True)
    )
    server.on("GET /jobs/digits", job())
    server.on(f"GET /jobs/{ID}", saving)
    result = footplate("wait", "digits")
    assert result.exit_code == 0
    assert "still being saved in home:outputs/x: footplate wait digits --results" in result.err
    server.on(f"GET /jobs/{ID}", saving, saved)
    result = footplate("wait", "digits", "--results")
    assert result.exit_code == 0
    assert "still being saved" not in result.err


def test_whoever_waits_hears_once_that_the_job_has_failed_and_is_kept(
    server: FakeServer, footplate: Command
) -> None:
    kept = job(state="STOPPING", kept_until="2030-01-01T00:00:00.000Z")
    answers = iter([kept, kept, job(state="FAILED", tasks=[task(exit_code=7)])])
    server.on("GET /jobs/digits", job())
    server.on(f"GET /jobs/{ID}", lambda _asked: Reply(data=next(answers)))
    result = footplate("wait", "digits")
    assert result.exit_code == 7
    assert result.err.count(f"digits ({ID}) failed: ") == 1
    assert f"footplate release {ID}" in result.err


def test_a_wait_that_is_too_long_has_an_exit_code_of_its_own(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"GET /jobs/{ID}", job())
    result = footplate("wait", "digits", "--timeout", "1")
    assert (result.exit_code, result.out) == (124, "")
    assert result.err == f"job digits ({ID}) is still RUNNING after 1 s\n"


def test_a_list_is_watched_on_a_terminal_only(footplate: Command) -> None:
    result = footplate("list", "--watch")
    assert result.exit_code == 2
    assert "footplate events -f" in result.err


def test_logs_of_several_tasks_carry_their_names(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job(n_tasks=2, tasks=[task("worker", 0), task("worker", 1)]))
    server.on(
        f"GET /jobs/{ID}/logs",
        lambda asked: Reply(
            content=f"hello from {asked.query['task'][0]}\n".encode(), headers={"X-Log-Size": "9"}
        ),
    )
    assert (
        footplate("logs", "digits").out == "worker-0 | hello from worker-0\nworker-1 | hello from worker-1\n"
    )
    assert footplate("logs", "digits", "--task", "worker-1").out == "hello from worker-1\n"


def test_log_choices_reach_the_server(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"GET /jobs/{ID}/logs", Reply(content=b"x\n", headers={"X-Log-Size": "2"}))
    footplate("logs", "digits", "--tail", "5", "--since", "10m", "--attempt", "1", "--raw")
    query = server.requests(f"GET /jobs/{ID}/logs")[0].query
    assert {name: query[name] for name in ("tail", "since", "attempt", "raw", "task")} == {
        "tail": ["5"],
        "since": ["10m"],
        "attempt": ["1"],
        "raw": ["true"],
        "task": ["main-0"],
    }


def test_an_empty_log_says_why(server: FakeServer, footplate: Command) -> None:
    server.on(
        "GET /jobs/digits", job(state="QUEUED", reason={"code": "x", "message": "2 of 2 CPUs are in use"})
    )
    server.on(f"GET /jobs/{ID}/logs", Reply(content=b""))
    result = footplate("logs", "digits")
    assert result.out == ""
    assert "is QUEUED and has no output yet: 2 of 2 CPUs are in use" in result.err


def test_a_log_is_stored_in_a_file(server: FakeServer, footplate: Command, tmp_path: Path) -> None:
    server.on("GET /jobs/digits", job(tasks=[task("worker", 0), task("worker", 1)]))
    server.on(f"GET /jobs/{ID}/logs/download", Reply(content=b"a\rb\n\xff"))
    path = tmp_path / "out.log"
    result = footplate("logs", "digits", "-o", str(path))
    assert result.exit_code == 2
    assert "name one with --task: worker-0, worker-1" in result.err
    assert footplate("logs", "digits", "-t", "worker-1", "-o", str(path)).exit_code == 0
    assert path.read_bytes() == b"a\rb\n\xff"


def happened(kind: str, seq: int = 1, job_id: str = ID) -> dict[str, Any]:
    return {
        "seq": seq,
        "at": "2026-11-15T08:00:00.000Z",
        "job_id": job_id,
        "kind": kind,
        "attempt": 0,
        "actor": "ada" if kind == "submitted" else "",
        "message": f"it is {kind}",
        "data": {},
    }


def test_events_are_lines_with_time_and_sentence(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(
        f"GET /jobs/{ID}/events",
        {"items": [happened("submitted")], "next_after": 1},
        {"items": [], "next_after": 1},
    )
    assert footplate("events", "digits").out.endswith("submitted: it is submitted (by ada)\n")


def test_the_stacks_of_a_hang_are_shown_below_it(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    stacks = {"main-0": "Thread 7 (idle)\n    wait (t.py:3)\n", "main-1": "Thread 8 (idle)\n"}
    hang = {**happened("hang"), "message": "no progress", "actor": "", "data": {"stacks": stacks}}
    ends = {"items": [], "next_after": 1}
    server.on(f"GET /jobs/{ID}/events", {"items": [hang], "next_after": 1}, ends)
    below = footplate("events", "digits").out.partition("hang: no progress\n")[2]
    assert below == (
        "    main-0\n      Thread 7 (idle)\n          wait (t.py:3)\n    main-1\n      Thread 8 (idle)\n"
    )


def test_following_the_events_of_a_job_ends_with_the_job(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"GET /jobs/{ID}", job())
    kinds = ("submitted", "task_exited", "succeeded", "deleted")
    server.on("GET /events/stream", stream(*(("event", happened(kind)) for kind in kinds)))
    result = footplate("events", "-f", "digits")
    assert result.exit_code == 0
    assert [line.split("  ")[1].split(":")[0] for line in result.out.splitlines()] == [*kinds[:3]]
    query = server.requests("GET /events/stream")[0].query
    assert query == {"job": [ID], "after": ["0"]}
