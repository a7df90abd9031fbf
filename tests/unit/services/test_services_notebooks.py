"""Notebooks as jobs: what is submitted, and when one counts as used."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.jobfile import read_job
from footplate.domain.notebook import STORED, notebook_job
from footplate.services import notebooks, notebookuse

NOW = 1_700_000_000.0


class Answers:
    """A stream to a Jupyter that answers what it is told to, and remembers what it was asked."""

    def __init__(self, bodies: dict[str, Any]) -> None:
        self.bodies = bodies
        self.asked: list[str] = []
        self._rest = b""

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Any]:
        yield self

    async def write(self, data: bytes) -> None:
        self.asked.append(data.decode())
        path = data.split()[1].decode().partition("?")[0]
        body = self.bodies.get(path)
        status = "404 Not Found" if body is None else "200 OK"
        self._rest = f"HTTP/1.0 {status}\r\nServer: x\r\n\r\n".encode() + json.dumps(body).encode()

    async def read(self) -> bytes:
        piece, self._rest = self._rest[:7], self._rest[7:]
        return piece


def moment(seconds_ago: float) -> str:
    return datetime.fromtimestamp(NOW - seconds_ago, UTC).isoformat().replace("+00:00", "Z")


def idle(bodies: dict[str, Any]) -> float | None:
    answers = Answers(bodies)
    found = asyncio.run(notebookuse.idle_s(answers.connect, "/s/x/", "secret", NOW))
    assert all("no_track_activity=1" in one and "token secret" in one for one in answers.asked)
    return found


@pytest.mark.parametrize(
    ("status", "kernels", "expected"),
    [
        (500, [], 500),
        (500, [("idle", 100)], 100),
        (50, [("idle", 100), ("idle", 9)], 9),
        (500, [("idle", 100), ("busy", 400)], 0),
        (500, [("starting", 400)], 0),
        (-5, [], 0),
    ],
)
def test_a_notebook_is_idle_since_its_last_activity_unless_a_kernel_is_busy(
    status: float, kernels: list[tuple[str, float]], expected: float
) -> None:
    told = [{"execution_state": state, "last_activity": moment(ago)} for state, ago in kernels]
    bodies = {"/s/x/api/status": {"last_activity": moment(status)}, "/s/x/api/kernels": told}
    assert idle(bodies) == expected


@pytest.mark.parametrize(
    "bodies",
    [
        {},
        {"/s/x/api/status": {"last_activity": "x"}, "/s/x/api/kernels": []},
        {"/s/x/api/status": [], "/s/x/api/kernels": [1]},
        {"/s/x/api/status": {"last_activity": moment(1)}, "/s/x/api/kernels": {"message": "no"}},
    ],
)
def test_a_jupyter_that_does_not_tell_is_not_believed_to_be_used(bodies: dict[str, Any]) -> None:
    assert idle(bodies) is None


def test_a_notebook_is_a_job_of_one_task_that_is_reclaimed_when_idle() -> None:
    wish = {
        "cpus": 2,
        "memory": "4GB",
        "image": "",
        "queue": None,
        "environment": {"requirements": ["numpy"]},
    }
    spec = read_job(notebook_job(wish, ["first-steps.ipynb"], NOW))
    assert spec.name == "notebook-1114-221320"
    assert (spec.n_tasks, spec.tags, spec.idle_limit_s) == (1, ("notebook",), 7200)
    assert [(one.kind, one.path) for one in spec.services] == [("jupyter", "notebooks")]
    assert "first-steps.ipynb" in spec.roles[0].command
    assert "$HOME/notebooks" in spec.roles[0].command


def test_in_an_image_notebooks_are_kept_with_the_output_and_wishes_win() -> None:
    spec = read_job(notebook_job({"name": "mine", "image": "x", "idle_limit": "10m"}, (), NOW))
    assert (spec.name, spec.idle_limit_s) == ("mine", 600)
    assert "FOLDER=$FOOTPLATE_OUTPUT_DIR\n" in spec.roles[0].command
    assert "samples" not in spec.roles[0].command


def test_in_an_image_the_next_notebook_finds_the_files_of_the_last_on_the_storage_home(
    tmp_path: Path,
) -> None:
    wish = {"name": "mine", "image": "x", "data": ["shared:sets"]}
    spec = read_job(notebook_job(wish, (), NOW, storage="home"))
    mount = spec.data[1]
    assert (mount.storage, mount.source, mount.path, mount.read_only) == ("home", "", STORED, False)
    command = spec.roles[0].command.replace(STORED, str(tmp_path)).replace("sleep infinity", "true")
    for _ in range(2):
        subprocess.run(
            ["/bin/sh", "-e", "-c", command], cwd=tmp_path, check=True, env={"PATH": os.environ["PATH"]}
        )
    assert (tmp_path / "notebooks").is_dir()


def test_every_sample_is_a_notebook_that_python_can_read() -> None:
    assert {path.name for path in notebooks.FOLDER.glob("*.ipynb")} == notebooks.SAMPLES.keys()
    for name in notebooks.SAMPLES:
        sample = json.loads(notebooks.read_sample(name))
        assert sample["nbformat"] == 4
        assert sample["cells"][0]["source"][0].startswith("# ")
        for cell in sample["cells"]:
            if cell["cell_type"] == "code":
                compile("".join(cell["source"]), name, "exec")
                assert cell["outputs"] == []
