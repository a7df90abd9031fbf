"""Waiting for a job in one long call, over the stop and the start of the server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from footplate.sdk.client import Client
from footplate.testing.process import PASSWORD, ServerProcess, await_that


def test_who_waits_for_a_job_goes_on_when_the_server_is_stopped_and_started(tmp_path: Path) -> None:
    command = "until [ -e $FOOTPLATE_OUTPUT_DIR/go ]; do sleep 0.05; done"
    with (
        ServerProcess(tmp_path) as server,
        Client(server.url, user="admin", password=PASSWORD) as client,
        ThreadPoolExecutor(1) as beside,
    ):
        job = client.submit({"name": "long", "command": command})
        await_that(lambda: job.refresh().state == "RUNNING")
        waiting = beside.submit(client.job(job.id).wait, 60)
        server.stop()
        assert "Traceback" not in server.log
        assert not waiting.done()
        server.start()
        (server.home / "jobs" / job.id[:5] / job.id / "output" / "go").touch()
        assert waiting.result(60).state == "SUCCEEDED"
