"""The verb clone: every option of submit, and another command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commandline import Command

from footplate.testing.fake_server import FakeServer, Reply, error, job

ID = "0abcdefghjk1"
CLONE = f"POST /jobs/{ID}/clone"


@pytest.fixture
def cloning(server: FakeServer) -> FakeServer:
    server.on("GET /jobs/digits", job())
    server.on(CLONE, Reply(201, job(id="new", name="digits-2")))
    return server


def sent(server: FakeServer) -> Any:
    return server.requests(CLONE)[-1].json


def test_a_clone_leaves_its_name_to_the_server(cloning: FakeServer, footplate: Command) -> None:
    result = footplate("clone", "digits")
    assert f"Submitted digits-2 as new, a clone of digits ({ID})." in result.out
    assert "footplate logs -f new" in result.out
    assert sent(cloning) == {}


def test_a_clone_takes_the_options_of_submit(cloning: FakeServer, footplate: Command) -> None:
    options = """-n other -q vision --priority 5 --description memo --private --image python:3.12 --cpus 0.5
        --memory 2GB --shm 1GB --gpus 1 --gpu-type A100 --count 2 --strategy torchrun --retry 3
        --time-limit 2h --deadline 2030-01-31T18:00:00Z --tag t -p rate=1.10 -e A=0042 --secret KEY=mine
        -d sets:/data
        --image-credentials hub --port http --port grpc:2@9000 --grace 1m --idle-limit 1h
        --keep-on-failure 30m"""
    assert footplate("clone", "digits", *options.split()).exit_code == 0
    assert sent(cloning) == {
        "name": "other",
        "queue": "vision",
        "priority": 5,
        "description": "memo",
        "shared": False,
        "image": "python:3.12",
        "cpus": 0.5,
        "memory": "2GB",
        "shm": "1GB",
        "gpus": 1,
        "gpu_type": "A100",
        "count": 2,
        "strategy": "torchrun",
        "retry": 3,
        "time_limit": "2h",
        "deadline": "2030-01-31T18:00:00Z",
        "tags": ["t"],
        "parameters": {"rate": "1.10"},
        "env": {"A": "0042"},
        "secrets": {"KEY": "mine"},
        "data": [{"storage": "sets", "source": "", "path": "/data", "read_only": True}],
        "image_credentials": "hub",
        "ports": [
            {"label": "http", "count": 1, "begin_at": 0},
            {"label": "grpc", "count": 2, "begin_at": 9000},
        ],
        "grace": "1m",
        "idle_limit": "1h",
        "keep_on_failure": "30m",
    }


def test_submit_run_and_clone_describe_a_job_alike(footplate: Command) -> None:
    helps = {verb: footplate(verb, "--help").out for verb in ("submit", "run", "clone")}
    for option in (
        "--port",
        "--grace",
        "--idle-limit",
        "--keep-on-failure",
        "--image-credentials",
        "--env-file",
    ):
        assert [verb for verb, text in helps.items() if option in text] == ["submit", "run", "clone"], option


@pytest.mark.parametrize("text", ["", ":2", "http:x", "http@", "http:2@x", "a:1:2"])
def test_a_port_that_is_written_wrong_says_how_to_write_it(footplate: Command, text: str) -> None:
    result = footplate("clone", "digits", "--port", text)
    assert result.exit_code == 2
    assert "LABEL[:COUNT][@FIRST]" in result.err


def test_another_command_and_other_code_are_sent(
    cloning: FakeServer, footplate: Command, tmp_path: Path
) -> None:
    cloning.on("POST /code", Reply(201, {"upload": "x", "size_bytes": 1}))
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "train.py").write_text("print(2)")
    assert footplate("clone", "digits", "--code", "new", "--", "python", "my train.py").exit_code == 0
    assert sent(cloning)["command"] == "python 'my train.py'"
    assert sent(cloning)["code"]["upload"].startswith("sha256:")


def test_a_clone_is_told_as_its_id_or_as_json(cloning: FakeServer, footplate: Command) -> None:
    assert footplate("clone", "digits", "--quiet").out == "new\n"
    assert json.loads(footplate("clone", "digits", "--json").out)["id"] == "new"


def test_a_dry_run_of_a_clone_shows_the_file_and_makes_nothing(
    cloning: FakeServer, footplate: Command
) -> None:
    config = {"name": "digits", "roles": [{"command": "true", "cpus": 1}], "env": {"A": "1"}}
    cloning.on(f"GET /jobs/{ID}/config", config)
    cloning.on("GET /me", {"name": "ada", "is_admin": False, "queues": []})
    cloning.on("GET /jobs", {"items": [job()], "next_page_token": None})
    reason = {"code": "x", "message": "now", "details": {}}
    cloning.on(
        "POST /jobs/dry-run",
        lambda asked: Reply(data={"config": asked.json, "would_start": True, "reason": reason}),
    )
    out = footplate("clone", "digits", "--dry-run", "--cpus", "2", "-e", "B=0042").out
    assert "name: digits-2" in out
    assert "cpus: 2" in out
    assert "B: '0042'" in out
    assert not cloning.requests(CLONE)


def test_what_the_server_refuses_comes_with_the_option_that_helps(
    server: FakeServer, footplate: Command
) -> None:
    taken = error("conflict", "there is one", 409)
    taken.data = {**taken.data, "message_code": "job_name_taken", "params": {"name": "x", "job": ID}}
    server.on("POST /jobs", taken)
    refused = footplate("submit", "--name", "x", "--", "true")
    assert refused.exit_code == 1
    assert refused.err.endswith("or delete that job\n  --again takes the next free name, such as x-2\n")
