"""A queue that maps an image otherwise changes nothing for jobs that run: they were placed as they were."""

from __future__ import annotations

from pathlib import Path

from footplate.testing.process import ServerProcess, await_that, processes_of

IMAGE = "registry.example.com/team/torch:2.13"
RESISTS = "trap '' TERM; echo ready; while :; do sleep 0.2; done"


def map_image(server: ServerProcess, environments: dict[str, str]) -> None:
    with server.client() as client:
        client.patch("/queues/default", json={"environments": environments}).raise_for_status()


def test_a_job_whose_image_is_no_longer_mapped_is_entered_adopted_and_stopped(tmp_path: Path) -> None:
    stand_in = tmp_path / "torch"
    (stand_in / "bin").mkdir(parents=True)
    with ServerProcess(tmp_path / "home", '[node]\ncpus = 1\nmemory = "1GB"\n') as server:
        map_image(server, {IMAGE: str(stand_in)})
        job = tmp_path / "job.yaml"
        job.write_text(
            f"name: mapped\nimage: {IMAGE}\ncpus: 0.1\nmemory: 64MB\ngrace: 1s\ncommand: |\n  {RESISTS}\n"
        )
        submitted = server.command("submit", str(job))
        assert submitted.returncode == 0, submitted.stderr
        await_that(lambda: server.command("logs", "mapped").stdout == "ready\n", what="the task runs")
        map_image(server, {})
        entered = server.command("exec", "mapped", "--", "sh", "-c", "echo $VIRTUAL_ENV")
        assert entered.stdout == f"{stand_in}\n", entered.stderr
        server.kill()
        server.start()
        assert "RUNNING" in server.command("show", "mapped").stdout
        stopped = server.command("stop", "mapped", "--wait")
        assert "STOPPED" in stopped.stdout, stopped.stderr
        assert processes_of(server.home) == []
