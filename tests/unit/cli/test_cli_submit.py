from __future__ import annotations

import io
import json
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from commandline import Command, Start, read_until

from footplate.testing.fake_server import Asked, FakeServer, Reply, error, job, stream

ID = "0abcdefghjk1"
STREAM = f"GET /jobs/{ID}/logs/stream"


def accept(server: FakeServer, **changes: Any) -> None:
    server.on("POST /jobs", lambda asked: Reply(201, job(name=asked.json["name"], state="QUEUED", **changes)))


def state(name: str, message: str = "", attempt: int = 0) -> tuple[str, Any]:
    return "state", {
        "state": name,
        "reason": {"code": "x", "message": message, "details": {}},
        "attempt": attempt,
    }


def log(text: str, task: str = "main-0", attempt: int = 0) -> tuple[str, Any]:
    return "log", {"task": task, "attempt": attempt, "offset": 0, "text": text}


def end(name: str, exit_code: int | None = None) -> tuple[str, Any]:
    return "end", {"state": name, "reason": {"code": "x", "message": "that is all"}, "exit_code": exit_code}


def sent(server: FakeServer) -> Any:
    return server.requests("POST /jobs")[-1].json


def test_a_submit_prints_the_id_and_what_to_type_next(
    server: FakeServer, footplate: Command, tmp_path: Path
) -> None:
    accept(server)
    (tmp_path / "job.yaml").write_text("name: hello\ncommand: echo hi\n")
    result = footplate("submit", "job.yaml")
    assert result.exit_code == 0
    for text in (
        f"Submitted hello as {ID}",
        f"footplate logs -f {ID}",
        f"footplate show {ID}",
        f"footplate stop {ID}",
    ):
        assert text in result.out
    assert footplate("train", "job.yaml", "--quiet").out == f"{ID}\n"
    assert json.loads(footplate("submit", "job.yaml", "--json").out)["id"] == ID


def test_what_of_a_job_has_no_effect_is_told(server: FakeServer, footplate: Command) -> None:
    accept(server, warnings=[{"message": "services is stored"}])
    result = footplate("submit", "--name", "x", "--", "true")
    assert (result.exit_code, result.err) == (0, "warning: services is stored\n")


def test_a_manifest_is_sent_with_its_code(server: FakeServer, footplate: Command, tmp_path: Path) -> None:
    accept(server)
    server.on("POST /code", Reply(201, {"upload": "sha256:x", "size_bytes": 1}))
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text("print(1)")
    (tmp_path / "manifest.yml").write_text("name: x\ncommand: python train.py\n")
    result = footplate("train", "manifest.yml", "code/")
    assert "Sending 1 file (8B) from code/\n" in result.err
    assert sent(server)["code"]["upload"].startswith("sha256:")
    assert len(server.requests("POST /code")) == 1


def test_the_folder_one_is_in_is_not_taken_for_the_one_above(
    server: FakeServer, footplate: Command, tmp_path: Path
) -> None:
    accept(server)
    server.on("POST /code", Reply(201, {"upload": "sha256:x", "size_bytes": 1}))
    (tmp_path / "footplate.yaml").write_text("name: x\ncommand: true\ncode: .\n")
    assert footplate("submit").err.startswith("Sending 1 file (30B) from ./\n")


def test_a_parameter_without_a_value_says_how_to_write_it(footplate: Command) -> None:
    result = footplate("submit", "-p", "epochs", "--", "true")
    assert result.exit_code == 2
    assert "must be written NAME=VALUE" in result.err
    assert "--param NAME=VALUE" in footplate("help", "submit").out


def test_options_override_the_file(server: FakeServer, footplate: Command, tmp_path: Path) -> None:
    accept(server)
    (tmp_path / "footplate.yaml").write_text(
        "name: x\ncommand: run ${{ parameters.rate }}\nparameters: {rate: 1, word: a}\n"
    )
    options = [
        "-n",
        "y",
        "--queue",
        "vision",
        "--priority",
        "5",
        "-p",
        "rate=1e-3",
        "-p",
        "word=b=c",
        "-e",
        "A=1",
        "--tag",
        "t",
    ]
    assert footplate("submit", *options).exit_code == 0
    assert sent(server) == {
        "name": "y",
        "command": "run ${{ parameters.rate }}",
        "queue": "vision",
        "priority": 5,
        "parameters": {"rate": "1e-3", "word": "b=c"},
        "env": {"A": "1"},
        "tags": ["t"],
    }


def test_data_of_the_command_line_is_added_to_that_of_the_file(
    server: FakeServer, footplate: Command, tmp_path: Path
) -> None:
    accept(server)
    kept = {"path": "/kept", "storage": "sets"}
    document = {"name": "x", "command": "true", "data": [kept, {"path": "/data", "storage": "old"}]}
    (tmp_path / "job.json").write_text(json.dumps(document))
    options = ("-d", "sets/mnist/v2:/data", "--data", "scratch:/scratch:rw")
    assert footplate("submit", "job.json", *options).exit_code == 0
    assert sent(server)["data"] == [
        kept,
        {"storage": "sets", "source": "mnist/v2", "path": "/data", "read_only": True},
        {"storage": "scratch", "source": "", "path": "/scratch", "read_only": False},
    ]


@pytest.mark.parametrize("text", ["sets", ":/data", "sets:", "sets:/data:wx"])
def test_data_that_is_written_wrong_says_how_to_write_it(footplate: Command, text: str) -> None:
    result = footplate("submit", "-d", text, "--", "true")
    assert result.exit_code == 2
    assert "STORAGE[/SOURCE]:PATH[:rw]" in result.err


def test_a_command_needs_no_file(server: FakeServer, footplate: Command) -> None:
    accept(server)
    assert (
        footplate(
            "submit", "--cpus", "0.5", "--memory", "2GB", "--", "python", "my train.py", "-n", "3"
        ).exit_code
        == 0
    )
    assert sent(server) == {
        "name": "my-train",
        "command": "python 'my train.py' -n 3",
        "cpus": 0.5,
        "memory": "2GB",
    }


def with_code(server: FakeServer, tmp_path: Path, **files: str) -> None:
    """Be in a folder with files, before a server that takes code."""
    accept(server)
    server.on("POST /code", Reply(201, {"upload": "sha256:x", "size_bytes": 1}))
    for name, text in {"train.py": "print(1)", **files}.items():
        (tmp_path / name).write_text(text)


def test_a_command_that_names_a_file_of_this_folder_needs_the_folder(
    server: FakeServer, footplate: Command, tmp_path: Path
) -> None:
    with_code(server, tmp_path)
    for command in (("python", "train.py"), ("python train.py --lr 1",), ("./train.py",)):
        result = footplate("submit", "--", *command)
        assert result.exit_code == 1
        assert "train.py, which lies in this folder and is not sent: use `footplate run`" in result.err
    assert server.requests("POST /jobs") == []
    assert footplate("submit", "--no-code", "--", "python", "train.py").exit_code == 0
    assert "code" not in sent(server)
    assert footplate("submit", "--code", ".", "--", "python", "train.py").exit_code == 0
    assert "upload" in sent(server)["code"]


@pytest.mark.parametrize(
    "command", ["python /train.py", "echo 'unclosed", "ls .", "python other.py", "a" * 5000]
)
def test_a_command_that_names_no_file_of_this_folder_needs_no_code(
    server: FakeServer, footplate: Command, tmp_path: Path, command: str
) -> None:
    with_code(server, tmp_path)
    assert footplate("submit", "-n", "x", "--", command).exit_code == 0


def test_run_sends_the_folder_installs_its_packages_and_follows(
    server: FakeServer, footplate: Command, tmp_path: Path
) -> None:
    with_code(server, tmp_path, **{"requirements.txt": "numpy\n"})
    server.on(f"GET /jobs/{ID}", job(state="SUCCEEDED"))
    server.on(STREAM, stream(state("RUNNING"), log("1\n"), end("SUCCEEDED", 0)))
    result = footplate("run", "--cpus", "2", "python", "train.py", "--lr", "0.1", "-n", "3")
    assert (result.exit_code, result.out) == (0, "1\n")
    assert "Installing the packages of requirements.txt (--no-requirements turns this off)" in result.err
    asked = sent(server)
    assert asked["command"] == "python train.py --lr 0.1 -n 3"
    assert (asked["name"], asked["cpus"]) == ("train", 2)
    assert asked["environment"] == {"requirements": "requirements.txt"}


def test_packages_that_nobody_wants_are_not_installed(
    server: FakeServer, footplate: Command, tmp_path: Path
) -> None:
    with_code(server, tmp_path, **{"requirements.txt": "numpy\n"})
    for option in (("--no-requirements",), ("--image", "torch:2", "--no-requirements")):
        result = footplate("run", "--detach", *option, "python", "train.py")
        assert result.exit_code == 0
        assert "environment" not in sent(server)
        assert "Installing" not in result.err


def test_a_locked_project_says_which_packages(server: FakeServer, footplate: Command, tmp_path: Path) -> None:
    with_code(server, tmp_path, **{"pyproject.toml": "", "uv.lock": ""})
    assert footplate("run", "--detach", "python", "train.py").exit_code == 0
    assert sent(server)["environment"] == {"pyproject": "pyproject.toml"}
    # An image has most of it, and would get everything once more.
    assert footplate("run", "--detach", "--image", "torch:2", "python", "train.py").exit_code == 0
    assert "environment" not in sent(server)


def test_requirements_are_added_to_an_image(server: FakeServer, footplate: Command, tmp_path: Path) -> None:
    with_code(server, tmp_path, **{"requirements.txt": "numpy\n"})
    assert footplate("run", "--detach", "--image", "torch:2", "python", "train.py").exit_code == 0
    assert sent(server)["environment"] == {"requirements": "requirements.txt"}


def test_run_takes_the_next_free_name(server: FakeServer, footplate: Command, tmp_path: Path) -> None:
    with_code(server, tmp_path)
    taken = error("conflict", "taken", 409)
    server.on("POST /jobs", taken, Reply(201, job(name="train-2", state="QUEUED")))
    server.on("GET /me", {"name": "ada"})
    server.on("GET /jobs", {"items": [job(name="train")], "next_page_token": None})
    assert footplate("run", "--detach", "python", "train.py").exit_code == 0
    assert sent(server)["name"] == "train-2"


def test_a_file_and_a_command_are_too_much(footplate: Command, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("name: x\ncommand: y\n")
    result = footplate("submit", "job.yaml", "--", "true")
    assert result.exit_code == 2
    assert "not both" in result.err


def test_nothing_to_submit_says_what_to_do(footplate: Command) -> None:
    result = footplate("submit")
    assert result.exit_code == 2
    assert "footplate init" in result.err


def test_a_job_can_come_from_standard_input(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept(server)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"name: piped\ncommand: true\n")))
    footplate("submit", "-")
    assert sent(server) == {"name": "piped", "command": "true"}


def test_every_problem_is_a_line_of_its_own(server: FakeServer, footplate: Command) -> None:
    server.on(
        "POST /jobs",
        error("invalid_input", "no", 422, ("cpus", "must be from 0.01"), ("name", "is required")),
    )
    result = footplate("submit", "--", "true")
    assert result.exit_code == 1
    assert result.err == "error: 2 things must be changed:\n  cpus: must be from 0.01\n  name: is required\n"


def test_again_takes_the_next_free_name(server: FakeServer, footplate: Command) -> None:
    taken = error("conflict", "you have a job named true already", 409)
    server.on("POST /jobs", taken, lambda asked: Reply(201, job(name=asked.json["name"])))
    server.on("GET /me", {"name": "ada", "is_admin": False, "queues": []})
    server.on("GET /jobs", {"items": [job(name="true")], "next_page_token": None})
    assert "Submitted true-2" in footplate("submit", "--again", "--", "true").out


def test_a_syntax_error_names_file_line_and_column(footplate: Command, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("name: x\ncommand: a: b\n")
    result = footplate("submit", "job.yaml")
    assert result.exit_code == 1
    assert "job.yaml, line 2, column 11" in result.err


def test_a_dry_run_prints_the_job_and_submits_nothing(server: FakeServer, footplate: Command) -> None:
    reason = {"code": "x", "message": "2 jobs are ahead", "details": {}}
    answer = {"config": {"name": "x", "retry": 0}, "would_start": False, "reason": reason, "request": {}}
    server.on("POST /jobs/dry-run", answer)
    result = footplate("submit", "--dry-run", "--", "true")
    assert result.out == "name: x\nretry: 0\n"
    assert "Nothing was submitted. The job would wait: 2 jobs are ahead" in result.err
    assert not server.requests("POST /jobs")


@pytest.mark.parametrize(
    ("final", "exit_code", "expected"),
    [("SUCCEEDED", None, 0), ("FAILED", 3, 3), ("FAILED", 137, 1), ("FAILED", None, 1), ("STOPPED", None, 1)],
)
def test_following_exits_with_the_outcome(
    server: FakeServer, footplate: Command, final: str, exit_code: int | None, expected: int
) -> None:
    accept(server)
    server.on(f"GET /jobs/{ID}", job(state=final))
    server.on(STREAM, stream(state("QUEUED"), log("hi\n"), end(final, exit_code)))
    assert footplate("submit", "-f", "--", "true").exit_code == expected


def test_piped_output_holds_the_log_alone_and_notes_go_beside(server: FakeServer, footplate: Command) -> None:
    accept(server, n_tasks=2)
    server.on(f"GET /jobs/{ID}", job(state="SUCCEEDED", run_time_s=5.5))
    step = ("step", {"kind": "waiting", "message": "1 job is ahead"})
    server.on(
        STREAM,
        stream(
            state("QUEUED", "2 jobs are ahead"),
            step,
            step,
            state("RUNNING", "all tasks run"),
            log("\r 10%", "worker-0"),
            log("other\n", "worker-1"),
            log("\r100%\nno end", "worker-0"),
            end("SUCCEEDED"),
        ),
    )
    result = footplate("submit", "--quiet", "-f", "--", "true")
    assert result.out == "worker-1 | other\nworker-0 | 100%\nworker-0 | no end\n"
    assert "· QUEUED: 2 jobs are ahead\n· 1 job is ahead\n· RUNNING: all tasks run\n" in result.err
    assert "SUCCEEDED after 5.5s: that is all" in result.err


def test_what_a_step_has_said_is_not_said_again_with_the_state(
    server: FakeServer, footplate: Command
) -> None:
    accept(server)
    server.on(f"GET /jobs/{ID}", job(state="SUCCEEDED"))
    step = ("step", {"kind": "waiting", "message": "behind 1 job"})
    server.on(STREAM, stream(step, state("QUEUED", "behind 1 job"), end("SUCCEEDED")))
    notes = [line for line in footplate("submit", "-f", "--", "true").err.splitlines() if line[0] == "·"]
    assert notes == ["· behind 1 job", "· QUEUED"]


def test_the_end_of_each_run_of_a_task_is_told(server: FakeServer, footplate: Command) -> None:
    accept(server)
    server.on(f"GET /jobs/{ID}", job(state="FAILED"))
    told = "task main-0 exited with code 1"
    ends = [
        ("step", {"kind": "task_exited", "message": told, "data": {"task": "main-0", **run}})
        for run in ({}, {"run": 1}, {"run": 2})
    ]
    server.on(STREAM, stream(state("RUNNING"), *ends, end("FAILED", 1)))
    notes = [line for line in footplate("submit", "-f", "--", "true").err.splitlines() if line[0] == "·"]
    assert notes == ["· RUNNING", *[f"· {told}"] * 3]


def test_following_as_json_gives_one_event_a_line(server: FakeServer, footplate: Command) -> None:
    accept(server)
    server.on(STREAM, stream(state("RUNNING"), log("hi\n"), end("SUCCEEDED")))
    lines = [json.loads(line) for line in footplate("submit", "-f", "--json", "--", "true").out.splitlines()]
    assert [line["event"] for line in lines] == ["state", "log", "end"]


def test_following_a_job_that_is_kept_after_a_failure_ends_at_once(
    server: FakeServer, footplate: Command
) -> None:
    accept(server)
    until = "2030-01-01T00:00:00.000Z"
    server.on(f"GET /jobs/{ID}", job(state="STOPPING", kept_until=until, run_time_s=1.0))
    why = "task main-0 exited with code 3; kept for 30m"
    kept = ("state", {**state("STOPPING", why)[1], "kept_until": until, "exit_code": 3})
    opened = OpenStream(state("RUNNING"), log("hi\n"), kept)
    server.on(STREAM, opened)
    result = footplate("submit", "-f", "--", "true")
    opened.released.set()
    assert result.exit_code == 3
    assert result.out == "hi\n"
    assert f"FAILED after 1.0s: {why}" in result.err
    assert f"footplate exec {ID}" in result.err
    assert f"footplate release {ID}" in result.err


def test_a_kept_failure_is_an_end_in_json_too(server: FakeServer, footplate: Command) -> None:
    accept(server)
    kept = ("state", {**state("STOPPING")[1], "kept_until": "2030-01-01T00:00:00.000Z", "exit_code": 3})
    server.on(STREAM, stream(state("RUNNING"), kept))
    result = footplate("submit", "-f", "--json", "--", "true")
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert [(line["event"], line["state"]) for line in lines] == [("state", "RUNNING"), ("end", "FAILED")]
    assert result.exit_code == 3


def test_raw_logs_pass_untouched(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    server.on(f"GET /jobs/{ID}", job(state="SUCCEEDED"))
    server.on(STREAM, stream(log("\r 10%"), log("\r100%\n"), end("SUCCEEDED")))
    result = footplate("logs", "-f", "--raw", "digits")
    assert (result.exit_code, result.out) == (0, "\r 10%\r100%\n")


class OpenStream:
    """A stream that sends some events and then stays open until it is released."""

    def __init__(self, *events: tuple[str, Any]) -> None:
        self._events = events
        self.released = threading.Event()

    def __call__(self, _: Asked) -> Reply:
        first = stream(*self._events)
        return Reply(headers=first.headers, pieces=self._pieces(first))

    def _pieces(self, first: Reply) -> Any:
        yield from first.pieces or ()
        self.released.wait(20)
        yield from stream(end("SUCCEEDED")).pieces or ()


def test_ctrl_c_leaves_the_job_running_and_says_so(
    server: FakeServer, terminal: tuple[int, int], start: Start
) -> None:
    accept(server)
    opened = OpenStream(state("RUNNING", "the task runs"), log("hello\n"))
    server.on(STREAM, opened)
    process = start(terminal[1], "submit", "-f", "--", "true")
    read_until(terminal[0], "hello")
    process.send_signal(signal.SIGINT)
    seen = read_until(terminal[0], f"footplate stop {ID}")
    assert "job true goes on" in seen
    assert process.wait(10) == 130
    opened.released.set()
    assert not server.requests(f"POST /jobs/{ID}/stop")


def test_a_terminal_shows_state_and_progress_and_wipes_them_at_the_end(
    server: FakeServer, terminal: tuple[int, int], start: Start
) -> None:
    accept(server, n_tasks=2)
    server.on(f"GET /jobs/{ID}", job(state="SUCCEEDED"))
    opened = OpenStream(
        state("RUNNING", "all run"), log("\repoch 1 [##..]", "worker-0"), log("hi\n", "worker-1")
    )
    server.on(STREAM, opened)
    process = start(terminal[1], "submit", "-f", "--", "true")
    seen = read_until(terminal[0], "worker-0 | epoch 1 [##..]")
    seen += read_until(terminal[0], "RUNNING 0:01")
    assert "worker-1" in seen
    opened.released.set()
    seen = read_until(terminal[0], "that is all")
    assert "\x1b[2K" in seen
    assert process.wait(10) == 0


def test_a_file_of_another_system_is_sent_as_it_is_with_what_replaces_its_fields(
    server: FakeServer, footplate: Command, tmp_path: Path
) -> None:
    server.on("POST /jobs", Reply(201, job(name="mnist", state="QUEUED")))
    text = '{"jobName": "mnist", "image": "x", "taskRoles": []}'
    (tmp_path / "job.json").write_text(text)
    assert footplate("submit", "job.json", "--cpus", "2").exit_code == 0
    assert sent(server) == {"original": text, "overrides": {"cpus": 2}}


def test_the_folder_of_a_batch_script_goes_along(
    server: FakeServer, footplate: Command, tmp_path: Path
) -> None:
    server.on("POST /jobs", Reply(201, job(name="mnist", state="QUEUED")))
    server.on("HEAD /code/x", Reply(404))
    server.on("POST /code", Reply(201, {"upload": "sha256:x"}))
    (tmp_path / "jobs").mkdir()
    script = "#!/bin/bash\n#SBATCH --mem=1G\npython a.py\n"
    (tmp_path / "jobs" / "train.sbatch").write_text(script)
    result = footplate("submit", "jobs/train.sbatch")
    assert result.exit_code == 0
    assert sent(server)["original"] == script
    assert sent(server)["overrides"]["code"]["upload"].startswith("sha256:")
    assert "Sending 1 file" in result.err


def test_a_taken_name_of_a_foreign_file_is_counted_on(
    server: FakeServer, footplate: Command, tmp_path: Path
) -> None:
    params = {"name": "mnist", "job": ID}
    taken = {"code": "conflict", "message": "taken", "message_code": "job_name_taken", "params": params}
    server.on("POST /jobs", Reply(409, taken), Reply(201, job(name="mnist-2", state="QUEUED")))
    server.on("GET /jobs", {"items": [job(name="mnist")], "next_page_token": None})
    server.on("GET /me", {"name": "ada"})
    (tmp_path / "job.json").write_text('{"jobName": "mnist", "image": "x", "taskRoles": []}')
    assert footplate("submit", "job.json", "--again").exit_code == 0
    assert sent(server)["overrides"] == {"name": "mnist-2"}
