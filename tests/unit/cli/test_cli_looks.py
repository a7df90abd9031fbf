"""What show, logs, usage and strategies tell of a job, and the options of submit that say how it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commandline import Command

from footplate.testing.fake_server import FakeServer, Reply, job, task

ID = "0abcdefghjk1"
EVENTS = f"GET /jobs/{ID}/events"


def told(*events: dict[str, Any]) -> Any:
    """Answer with these events once, then with none."""
    return lambda asked: Reply(
        data={"items": list(events) if asked.query["after"] == ["0"] else [], "next_after": 99}
    )


def event(kind: str, message: str, attempt: int = 0, **data: Any) -> dict[str, Any]:
    at = "2026-11-15T08:00:05.000Z"
    said = {"message": message}
    if kind == "step":
        what = {"code": "text", "params": {"text": message}}
        said = {"message_code": "step_done", "params": {"what": what, "seconds": data["seconds"]}}
    return {"seq": 1, "at": at, "kind": kind, "attempt": attempt, **said, "data": data}


CODE = event("step", "code is in place", step="code", seconds=0.025)
PULLING = event("progress", "pulling image torch", step="image", seconds=0.1)
PROGRESS = event("progress", "pulling image torch: 2 of 5 layers are here", step="image", seconds=4.2)


def starting(server: FakeServer) -> None:
    server.on("GET /jobs/digits", job(state="STARTING", config={"image": "torch", "command": "true"}))
    server.on(EVENTS, told({**PROGRESS, "attempt": 7}, CODE, PULLING, PROGRESS))


def test_show_says_what_a_job_that_starts_is_doing_and_what_took_how_long(
    server: FakeServer, footplate: Command
) -> None:
    starting(server)
    lines = footplate("show", "digits").out.splitlines()
    assert "Step       pulling image torch: 2 of 5 layers are here" in lines
    assert "Image      torch" in lines
    steps = [line.split() for line in lines if line.startswith(("STEP", "code", "image"))]
    assert steps[0] == ["STEP", "TIME", "DURATION", "DETAIL"]
    assert steps[1][0] == "code"
    assert steps[1][3:] == ["0.03s", "code", "is", "in", "place"]
    assert steps[2][3:7] == ["not", "finished", "pulling", "image"]
    assert len(steps) == 3


def test_a_log_that_is_empty_while_its_job_starts_says_what_the_job_is_doing(
    server: FakeServer, footplate: Command
) -> None:
    starting(server)
    server.on(f"GET /jobs/{ID}/logs", Reply(content=b"", headers={"X-Log-Size": "0"}))
    said = footplate("logs", "digits").err
    assert "is STARTING and has no output yet: pulling image torch: 2 of 5 layers are here" in said


def test_show_names_the_addresses_of_tasks_and_how_earlier_runs_of_them_ended(
    server: FakeServer, footplate: Command
) -> None:
    tasks = [task("worker", 0, address="10.0.0.5", run=1), task("worker", 1, address="10.0.0.6", run=0)]
    server.on("GET /jobs/digits", job(n_tasks=2, tasks=tasks, config={}))
    server.on(
        EVENTS,
        told(
            event("task_exited", "task worker-0 exited with code 3", task="worker-0"),
            event("task_exited", "task worker-1 exited with code 0", task="worker-1"),
        ),
    )
    out = footplate("show", "digits").out
    assert "10.0.0.5" in out
    assert "10.0.0.6" in out
    table = out[out.index("TASK      RUN") :].splitlines()
    assert table[1].split()[:2] == ["worker-0", "0"]
    assert table[1].endswith("task worker-0 exited with code 3")
    assert table[2] == ""


def test_show_tells_which_ports_are_not_those_that_were_asked_for(
    server: FakeServer, footplate: Command
) -> None:
    tasks = [
        task("main", 0, ports={"main": [20001], "tb": [6006, 6007]}),
        task("main", 1, ports={"main": [20002], "tb": [6008, 6009]}),
    ]
    config = {"roles": [{"command": "true", "ports": [{"label": "tb", "begin_at": 6006, "count": 2}]}]}
    server.on("GET /jobs/digits", job(n_tasks=2, tasks=tasks, config=config))
    server.on(EVENTS, told())
    out = footplate("show", "digits").out
    lines = [line for line in out.splitlines() if line.startswith("main-")]
    assert lines[0].endswith("main:20001 tb:6006,6007")
    assert lines[1].endswith("main:20002 tb:6008,6009(not 6006)")


def test_show_writes_parameters_as_the_job_file_does(server: FakeServer, footplate: Command) -> None:
    parameters = {"flag": True, "lr": 0.1, "what": None, "name": "x"}
    server.on("GET /jobs/digits", job(config={"parameters": parameters}))
    server.on(EVENTS, told())
    assert "flag=true, lr=0.1, what=null, name=x" in footplate("show", "digits").out


def test_show_as_json_has_attempts_and_steps(server: FakeServer, footplate: Command) -> None:
    starting(server)
    server.on(f"GET /jobs/{ID}/attempts", {"items": [{"number": 0}]})
    data = json.loads(footplate("show", "digits", "--json").out)
    assert data["attempts"] == [{"number": 0}]
    assert [(one["step"], one["is_done"], one["seconds"]) for one in data["steps"]] == [
        ("code", True, 0.025),
        ("image", False, 4.2),
    ]
    assert data["id"] == ID


def point(cpus: float, memory_bytes: int, **more: Any) -> dict[str, Any]:
    unknown = dict.fromkeys(
        ("read_bytes_s", "written_bytes_s", "n_processes", "gpu_utilisation", "gpu_memory_bytes")
    )
    return {"at": "2026-11-15T08:00:00.000Z", "cpus": cpus, "memory_bytes": memory_bytes, **unknown, **more}


def test_usage_tells_the_last_values_and_the_peak_of_each_task(
    server: FakeServer, footplate: Command
) -> None:
    tasks = [task("worker", 0), task("worker", 1)]
    server.on("GET /jobs/digits", job(n_tasks=2, tasks=tasks))
    asked = {"cpus": 2, "memory_bytes": 1024**3, "gpus": 0}
    points = [point(1.97, 2**29, gpu_utilisation=0.5, read_bytes_s=2048.4), point(0.5, 2**28)]
    server.on(
        f"GET /jobs/{ID}/usage",
        lambda asks: Reply(data={"task": asks.query["task"][0], "asked": asked, "points": points}),
    )
    lines = footplate("usage", "digits").out.splitlines()
    assert lines[1].startswith("worker-0  0.5, peak 1.97 of 2  256MB, peak 512MB of 1GB  50%, peak 50%")
    assert "2KB/s, peak 2KB/s" in lines[1]
    assert lines[2].startswith("worker-1")
    (one,) = json.loads(footplate("usage", "digits", "-t", "worker-1", "--json").out)["items"]
    assert one == {"task": "worker-1", "asked": asked, "points": points}


def test_usage_of_a_task_that_was_never_looked_at_says_so(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    asked = {"cpus": 1, "memory_bytes": 1, "gpus": 0}
    server.on(f"GET /jobs/{ID}/usage", {"task": "main-0", "asked": asked, "points": []})
    assert "No measurements" in footplate("usage", "digits").err


def test_strategies_are_listed_with_a_line_each(server: FakeServer, footplate: Command) -> None:
    server.on("GET /strategies", {"items": [{"name": "torchrun", "description": "PyTorch by torchrun."}]})
    assert footplate("strategies").out.splitlines()[1] == "torchrun  PyTorch by torchrun."


def sent(server: FakeServer, footplate: Command, *options: str) -> Any:
    server.on("POST /jobs", lambda asked: Reply(201, job(name=asked.json["name"], state="QUEUED")))
    result = footplate("submit", *options, "--", "true")
    assert result.exit_code == 0, result.err
    return server.requests("POST /jobs")[-1].json


def test_strategy_shared_memory_deadline_and_secrets_can_be_typed(
    server: FakeServer, footplate: Command
) -> None:
    words = ("--strategy", "mpi", "--shm", "2GB", "--deadline", "2030-01-31T18:00:00Z")
    document = sent(server, footplate, *words, "--secret", "WANDB", "--secret", "KEY=hub-key")
    assert document["strategy"] == "mpi"
    assert document["shm"] == "2GB"
    assert document["deadline"] == "2030-01-31T18:00:00Z"
    assert document["secrets"] == {"WANDB": "WANDB", "KEY": "hub-key"}
    assert "[VARIABLE=]NAME" in footplate("submit", "--secret", "A=", "--", "true").err


def test_variables_can_come_from_a_file(server: FakeServer, footplate: Command, tmp_path: Path) -> None:
    path = tmp_path / "run.env"
    path.write_text("# of the team\n\nexport A=1\nB='two words'\nC=x=y\nD=\n")
    document = sent(server, footplate, "--env-file", str(path), "-e", "A=typed")
    assert document["env"] == {"A": "typed", "B": "two words", "C": "x=y", "D": ""}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"A=1\nB\n", "line 2: must be written NAME=VALUE"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"A=" + b"x" * 1024**2, "is larger than"),
    ],
)
def test_a_file_of_variables_that_cannot_be_read_says_where(
    server: FakeServer, footplate: Command, tmp_path: Path, content: bytes, says: str
) -> None:
    path = tmp_path / "run.env"
    path.write_bytes(content)
    result = footplate("submit", "--env-file", str(path), "--", "true")
    assert result.exit_code == 2
    assert says in result.err
    assert not server.requests("POST /jobs")


def test_metrics_are_listed_with_their_newest_values(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    last = {"at": "2026-11-15T08:00:00.000Z", "step": 9, "epoch": 1.5, "value": 0.123456789}
    curve = {
        "name": "val/loss",
        "task": "main-0",
        "lowest": 0.1,
        "highest": 2.0,
        "n_points": 10,
        "last": last,
    }
    server.on(f"GET /jobs/{ID}/metrics", {"items": [curve]})
    for verb in ("metrics", "emetrics"):
        lines = footplate(verb, "digits").out.splitlines()
        assert lines[1].split() == ["val/loss", "main-0", "0.123457", "0.1", "2", "9", "1.5", "10"]
    assert json.loads(footplate("metrics", "digits", "--json").out)["items"] == [curve]


def test_points_are_printed_line_by_line(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", job())
    head = "attempt,task,name,step,epoch,time,value\r\n"
    table = head + "0,main-0,loss,3,,1700000000.0,0.5\r\n0,main-0,acc,,1,1,2\r\n"
    server.on(f"GET /jobs/{ID}/metrics/export", Reply(content=table.encode()))
    (line,) = footplate("metrics", "digits", "--all", "--name", "loss").out.splitlines()
    assert line.endswith("main-0  step 3  loss=0.5")
    first = json.loads(footplate("metrics", "digits", "--all", "--json").out.splitlines()[0])
    assert (first["name"], first["value"], first["epoch"]) == ("loss", 0.5, None)
