"""Trainings of frameworks that live in environments of their own, through a real server.

A variable such as FOOTPLATE_TEST_TENSORFLOW names the Python of an environment that has the framework; a
queue lets that environment stand in for an image, as an administrator would.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.testing.process import ServerProcess, await_that

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROBE = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
# DeepSpeed compiles a part of itself when it runs on a machine for the first time.
LONGEST_S = 400


def lacks(module: str) -> str:
    """Say why a framework cannot be tested here; nothing when it can."""
    name = f"FOOTPLATE_TEST_{module.upper()}"
    python = os.environ.get(name)
    if not python:
        return f"needs {module}: set {name} to the Python of an environment that has it"
    if subprocess.run([python, "-c", PROBE, module], check=False).returncode:
        return f"{name} is {python}, which cannot import {module}"
    return ""


def needs(module: str) -> pytest.MarkDecorator:
    reason = lacks(module)
    return pytest.mark.skipif(bool(reason), reason=reason)


needs_pdsh = pytest.mark.skipif(shutil.which("pdsh") is None, reason="needs pdsh: apt-get install pdsh")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    home = tmp_path_factory.mktemp("frameworks") / "home"
    with ServerProcess(home, '[node]\ncpus = 4\nmemory = "16GB"\n') as running:
        await_that(lambda: running.command("list").returncode == 0, what="the command finds the server")
        yield running


def stand_in(server: ServerProcess, module: str) -> None:
    """Let the environment that has a framework stand in for the image of that name."""
    environment = Path(os.environ[f"FOOTPLATE_TEST_{module.upper()}"]).absolute().parents[1]
    edited = server.command("queues", "edit", "default", "--environment", f"{module}={environment}")
    assert edited.returncode == 0, edited.stderr


def run(server: ServerProcess, module: str, file: Path) -> str:
    stand_in(server, module)
    done = server.command("submit", str(file), "--again", "--follow", "--image", module, timeout=LONGEST_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def example(server: ServerProcess, module: str, name: str) -> str:
    return run(server, module, EXAMPLES / name / "job.yaml")


@needs("tensorflow")
def test_multi_worker_mirrored_strategy_trains_on_two_workers(server: ServerProcess) -> None:
    printed = example(server, "tensorflow", "tensorflow-workers")
    for worker in (0, 1):
        assert f"worker-{worker} | worker {worker}, 2 replicas in step" in printed
        assert f"worker-{worker} | y = 3.00 x + -1.00" in printed


@needs("tensorflow")
def test_parameter_server_strategy_trains_and_ends_with_its_chief(server: ServerProcess) -> None:
    printed = example(server, "tensorflow", "tensorflow-ps")
    assert "ps-0 | ps 0 serves at grpc://127.0.0.1:" in printed
    assert "chief-0 | the weights live on /job:ps/replica:0/task:0/device:CPU:0" in printed
    assert "chief-0 | y = 3.00 x + -1.00" in printed


@needs("deepspeed")
@needs_pdsh
@pytest.mark.timeout(LONGEST_S)
def test_deepspeeds_launcher_trains_across_tasks(server: ServerProcess) -> None:
    printed = example(server, "deepspeed", "deepspeed")
    assert "rank 0 of 2 in worker-0" in printed
    assert "rank 1 of 2 in worker-1" in printed
    assert "y = 3.00 x + -1.00" in printed


@needs("deepspeed")
@needs_pdsh
@pytest.mark.timeout(LONGEST_S)
def test_stopping_a_deepspeed_job_leaves_another_one_running(server: ServerProcess, tmp_path: Path) -> None:
    stand_in(server, "deepspeed")
    (tmp_path / "wait.py").write_text(
        "import os, time\n"
        "print('up', flush=True)\n"
        "while not os.path.exists('go'): time.sleep(0.1)\n"
        "print('ran to its end', flush=True)\n"
    )
    (tmp_path / "job.yaml").write_text(
        "name: wait\ncode: .\nstrategy: deepspeed\nimage: deepspeed\nenv: {DS_ACCELERATOR: cpu}\n"
        "count: 2\ncpus: 0.5\nmemory: 2GB\n"
        "command: deepspeed $FOOTPLATE_DEEPSPEED_OPTIONS wait.py\n"
    )
    for name in ("stopped", "kept"):
        done = server.command("submit", str(tmp_path / "job.yaml"), "-n", name)
        assert done.returncode == 0, done.stderr
    for name in ("stopped", "kept"):
        await_that(
            lambda name=name: server.command("logs", name).stdout.count(": up") == 2, 120, f"{name} is up"
        )
    server.command("stop", "stopped")
    server.command("wait", "stopped", timeout=60)
    server.command("exec", "kept", "--", "touch", "go")
    assert server.command("wait", "kept", timeout=60).returncode == 0
    assert server.command("logs", "kept").stdout.count("ran to its end") == 2


@needs("horovod")
@pytest.mark.timeout(LONGEST_S)
def test_horovod_trains_across_tasks_by_mpirun(server: ServerProcess) -> None:
    printed = example(server, "horovod", "horovod")
    assert "rank 0 of 2 in worker-0" in printed
    assert "rank 1 of 2 in worker-1" in printed
    assert "y = 3.00 x + -1.00" in printed
