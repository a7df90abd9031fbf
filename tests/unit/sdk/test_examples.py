"""The examples, run as plain processes with the variables that a task finds in its environment."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from footplate.domain.jobfile import read_job
from footplate.sdk.submission import prepare

EXAMPLES = Path(__file__).parents[3] / "examples"
DEADLINE_S = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def gang(example: str, output: Path, *commands: tuple[str, ...]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start one process per command, ranked in this order."""
    shared = {
        **os.environ,
        "WORLD_SIZE": str(len(commands)),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "FOOTPLATE_OUTPUT_DIR": str(output),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    started = [
        subprocess.Popen(
            [sys.executable, *command],
            cwd=EXAMPLES / example,
            env={**shared, "RANK": str(rank)},
            stdout=subprocess.PIPE,
        )
        for rank, command in enumerate(commands)
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def finish(process: subprocess.Popen[bytes]) -> str:
    out = process.communicate(timeout=DEADLINE_S)[0].decode()
    assert process.returncode == 0, out
    return out


def accuracy(out: str) -> float:
    found = re.search(r"test accuracy ([0-9.]+)", out)
    assert found, out
    return float(found[1])


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/job.yaml")), ids=lambda path: path.parent.name)
def test_every_example_is_a_valid_job(path: Path) -> None:
    submission = prepare(path)
    code = {"upload": "sha256:" + "0" * 64} if submission.code else None
    assert read_job({**submission.document, "code": code}).n_tasks >= 1


def test_two_workers_train_digits_together(tmp_path: Path) -> None:
    with gang("digits", tmp_path, ("train.py", "--epochs", "10"), ("train.py", "--epochs", "10")) as (
        first,
        second,
    ):
        out, other = finish(first), finish(second)
    assert accuracy(out) > 0.94
    epochs = [
        re.findall(r"\repoch \d+/10 loss [0-9.]+ accuracy [0-9.]+$", text, re.MULTILINE)
        for text in (out, other)
    ]
    assert len(epochs[0]) == 10
    # The averaged figures are the same for all, which they are only if the workers really exchange them.
    assert epochs[0] == epochs[1]
    assert "\repoch 1/10 [" in out
    assert np.load(tmp_path / "digits.npz")["weights"].ndim == 1


def test_one_process_trains_digits_alone(tmp_path: Path) -> None:
    with gang("digits", tmp_path, ("train.py", "--epochs", "5")) as (alone,):
        assert accuracy(finish(alone)) > 0.94


def test_a_worker_whose_peer_leaves_fails_instead_of_hanging(tmp_path: Path) -> None:
    with gang("digits", tmp_path, ("train.py", "--epochs", "1"), ("train.py", "--epochs", "3")) as (
        first,
        second,
    ):
        finish(first)
        second.communicate(timeout=DEADLINE_S)
        assert second.returncode != 0


def test_workers_share_weights_through_a_parameter_server(tmp_path: Path) -> None:
    with gang("parameter-server", tmp_path, ("server.py",), ("worker.py",), ("worker.py",)) as (ps, *workers):
        outs = [finish(worker) for worker in workers]
        assert ps.poll() is None
        ps.terminate()
        assert "serving weights" in finish(ps)
    assert min(map(accuracy, outs)) > 0.93
    assert np.load(tmp_path / "softmax.npz")["weights"].shape == (650,)
