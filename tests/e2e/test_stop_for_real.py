"""Jobs that resist their end, or wait for something that never comes, by the real command."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.testing import container_engine as engines
from footplate.testing.container_engine import ContainerEngine, ContainerEngineMissing
from footplate.testing.process import ServerProcess, await_that

RESISTS = "trap '' TERM; echo ready; while :; do sleep 0.2; done"


def start_resisting(server: ServerProcess, folder: Path, name: str) -> None:
    file = folder / "job.yaml"
    file.write_text(f"name: {name}\ncpus: 0.1\nmemory: 64MB\ngrace: 1h\ncommand: |\n  {RESISTS}\n")
    assert server.command("submit", str(file)).returncode == 0
    await_that(lambda: server.command("logs", name).stdout == "ready\n", what="the task traps the signal")


def test_a_second_stop_need_not_wait_for_the_grace_of_the_first(
    server: ServerProcess, tmp_path: Path
) -> None:
    start_resisting(server, tmp_path, "resists")
    assert "STOPPING" in server.command("stop", "resists").stdout
    # Its grace is an hour, longer than a test may take.
    ended = server.command("stop", "resists", "--now", "--wait")
    assert ended.returncode == 0, ended.stderr
    assert "STOPPED" in ended.stdout


def test_a_running_job_that_is_deleted_is_gone_soon_whatever_its_grace(
    server: ServerProcess, tmp_path: Path
) -> None:
    start_resisting(server, tmp_path, "unwilling")
    job_id = json.loads(server.command("show", "unwilling", "--json").stdout)["id"]
    deleted = server.command("delete", "unwilling", "--yes", "--for-good")
    assert deleted.returncode == 0, deleted.stderr
    await_that(lambda: server.command("show", job_id).returncode != 0, what="nothing is left of it")


@pytest.fixture
def engine() -> Iterator[ContainerEngine]:
    try:
        with engines.running_podman() as running:
            yield running
    except ContainerEngineMissing as error:
        pytest.skip(str(error))


@pytest.mark.alone
def test_a_job_that_waits_for_its_image_is_stopped_at_once(engine: ContainerEngine, tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        ServerProcess(tmp_path / "home", FOOTPLATE_CONTAINER_SOCKET=str(engine.socket)) as server,
    ):
        image = f"127.0.0.1:{silent.getsockname()[1]}/never:1"
        assert server.command("submit", "--name", "pulls", "--image", image, "--", "true").returncode == 0
        await_that(
            lambda: "pulling image" in server.command("events", "pulls").stdout, what="the pull begins"
        )
        began_at = time.monotonic()
        stopped = server.command("stop", "pulls", "--wait")
        assert "STOPPED" in stopped.stdout, stopped.stderr
        assert time.monotonic() - began_at < 15
