"""A job file that is run on this machine, without a server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commandline import Command

from footplate.domain.jobfile import read_job
from footplate.engines.base import LaunchPlan
from footplate.testing.builders import placement
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.fake_server import FakeServer
from footplate.testing.process import await_that

DUMP = (
    'python3 -c "import json, os; '
    "name = os.environ['FOOTPLATE_OUTPUT_DIR'] + '/' + os.environ['FOOTPLATE_TASK']; "
    "json.dump(dict(os.environ), open(name, 'w'))\""
)


def job_file(folder: Path, **fields: Any) -> str:
    """Write a job file; it is its own code."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "job.yaml"
    path.write_text(json.dumps({"name": "try", **fields}))
    return str(path)


def dumped(folder: Path, task: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / "output" / task).read_text())
    return found


def test_tasks_have_the_variables_of_the_platform(
    footplate: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "from the shell")
    monkeypatch.setenv("SOMETHING_ELSE", "of the shell alone")
    document: dict[str, Any] = {
        "roles": [{"name": "worker", "count": 3, "command": DUMP, "ports": [{"label": "http", "count": 2}]}],
        "parameters": {"lr": 0.1},
        "env": {"RATE": "${{ parameters.lr }}"},
        "secrets": {"HF_TOKEN": "hf"},
    }
    result = footplate(
        "run-local", job_file(tmp_path / "a", **document), "--nodes", "2", "--folder", str(tmp_path / "kept")
    )
    assert result.exit_code == 0, result.err
    tasks = [dumped(tmp_path / "kept", f"worker-{index}") for index in range(3)]
    assert [task["RANK"] for task in tasks] == ["0", "1", "2"]
    assert {task["WORLD_SIZE"] for task in tasks} == {"3"}
    assert [task["FOOTPLATE_NODE"] for task in tasks] == ["local-0", "local-0", "local-1"]
    assert {task["RATE"] for task in tasks} == {"0.1"}
    assert {task["HF_TOKEN"] for task in tasks} == {"from the shell"}
    ports = [port for task in tasks for port in (task["FOOTPLATE_PORT_MAIN"], task["FOOTPLATE_PORTS_HTTP"])]
    assert len(set(",".join(ports).split(","))) == 9
    spec = read_job({"name": "try", **document})
    plan = LaunchPlan("0" * 12, "ann", 0, spec, placement(spec))
    on_the_platform = FakeEngine().compile(plan)["tasks"][0]["env"].keys()
    assert on_the_platform <= tasks[0].keys()
    assert "SOMETHING_ELSE" not in tasks[0]
    assert "FOOTPLATE_TOKEN" not in tasks[0]


def test_each_task_finds_a_copy_of_what_a_submit_would_send(footplate: Command, tmp_path: Path) -> None:
    folder = tmp_path / "code"
    file = job_file(folder, code=".", command="ls -A; echo mine >own; ls own", count=2)
    (folder / ".gitignore").write_text("secret.txt\n")
    (folder / "secret.txt").write_text("no")
    (folder / "train.py").write_text("yes")
    result = footplate("run-local", file)
    assert result.exit_code == 0, result.err
    names = (".gitignore", "job.yaml", "train.py", "own")
    assert sorted(result.out.splitlines()) == sorted(f"main-{i} | {name}" for i in range(2) for name in names)
    assert not (folder / "own").exists()


def test_the_first_failed_task_ends_the_others_and_gives_the_exit_code(
    footplate: Command, tmp_path: Path
) -> None:
    command = '[ $RANK = 1 ] && exit 7; trap "echo asked to end; exit 0" TERM; sleep 600 & wait'
    result = footplate("run-local", job_file(tmp_path, command=command, count=2))
    assert result.exit_code == 7
    assert "main-0 | asked to end" in result.out
    assert "FAILED: task main-1 exited with code 7" in result.err


def test_a_retry_is_a_new_attempt_with_the_same_checkpoints(footplate: Command, tmp_path: Path) -> None:
    command = "echo attempt $FOOTPLATE_ATTEMPT; cd $FOOTPLATE_CHECKPOINT_DIR; [ -e x ] || { >x; exit 1; }"
    result = footplate("run-local", job_file(tmp_path, command=command, retry=1))
    assert (result.exit_code, result.out) == (0, "attempt 0\nattempt 1\n"), result.err


def test_a_task_that_is_started_again_by_itself_counts_its_runs(footplate: Command, tmp_path: Path) -> None:
    command = "echo run $FOOTPLATE_TASK_RUN; [ $FOOTPLATE_TASK_RUN = 1 ]"
    result = footplate("run-local", job_file(tmp_path, command=command, task_retry=1))
    assert (result.exit_code, result.out) == (0, "run 0\nrun 1\n"), result.err


def test_a_time_limit_holds_here_too(footplate: Command, tmp_path: Path) -> None:
    result = footplate("run-local", job_file(tmp_path, command="sleep 600", time_limit="1s"))
    assert result.exit_code != 0
    assert "time limit" in result.err


def test_what_would_differ_is_told(footplate: Command, tmp_path: Path, server: FakeServer) -> None:
    file = job_file(
        tmp_path,
        command="true",
        gpus=1024,
        image="pytorch/pytorch",
        secrets={"NOT_IN_THIS_SHELL": "x"},
        data=[{"storage": "shared", "path": "/datasets"}],
        environment={"requirements": ["numpy"]},
        results={"storage": "home"},
        services=[{"kind": "jupyter"}],
        hang={"after": "10m"},
        alerts=[{"on": "failed"}],
        keep_on_failure="1h",
        model={"name": "m"},
    )
    told = footplate("run-local", file).err
    for words in (
        "not enforced",
        "1024 GPUs",
        "not in pytorch/pytorch",
        "no NOT_IN_THIS_SHELL",
        "/datasets",
        "no packages",
        "saved to home",
        "jupyter",
        "hangs",
        "no alerts are sent",
        "not kept",
        "no model m",
    ):
        assert words in told
    assert server.asked == []


@pytest.mark.parametrize(
    ("fields", "options", "words"),
    [
        ({"command": "true"}, ("--nodes", "2"), "2 nodes for 1 task"),
        ({"command": "echo ${{ parameters.x }}"}, (), "parameters.x"),
        ({}, (), "command"),
        ({"command": "true"}, ("--nodes", "0"), "--nodes"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(
    footplate: Command, tmp_path: Path, fields: dict[str, Any], options: tuple[str, ...], words: str
) -> None:
    result = footplate("run-local", job_file(tmp_path, **fields), *options)
    assert result.exit_code in (1, 2)
    assert words in result.err
    assert "STARTING" not in result.err


def test_a_file_of_another_system_is_to_be_converted_first(footplate: Command, tmp_path: Path) -> None:
    script = tmp_path / "train.sh"
    script.write_text("#!/bin/sh\n#SBATCH --mem=1G\ntrue\n")
    assert "footplate convert" in footplate("run-local", str(script)).err


def test_ctrl_c_ends_all_tasks_and_leaves_no_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    file = job_file(tmp_path / "a", command=f"sleep 600 & echo $$ $! >>{pids}; wait", count=2)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = subprocess.Popen(
        (sys.executable, "-m", "footplate", "run-local", file),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    await_that(lambda: pids.exists() and len(pids.read_text().split()) == 4)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert b"STOPPED" in err
    await_that(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids.read_text().split()))
    assert list(temporary.iterdir()) == []


def test_what_the_platform_would_refuse_for_its_strategy_is_not_run_here(
    footplate: Command, tmp_path: Path
) -> None:
    file = job_file(tmp_path / "a", command="echo ran", strategy="torchrun")
    result = footplate("run-local", file)
    assert result.exit_code == 1
    assert "the last line must begin with python" in result.err
    assert "ran" not in result.out
    unknown = footplate("run-local", job_file(tmp_path / "b", command="echo ran", strategy="pytorch"))
    assert unknown.exit_code == 1
    assert "pytorch" in unknown.err
