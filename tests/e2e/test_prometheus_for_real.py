"""A real Prometheus reads the figures as the example in `deploy` says, and answers what the board asks."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.testing.process import ServerProcess, await_that, free_port

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
DEADLINE_S = 60.0
OFTEN = "global: {scrape_interval: 1s}\n"
NAME = re.compile(r"footplate_[a-z_]+")
# The machine of these tests has cards on paper only: nobody can tell what is used of them.
NEEDS_CARDS = "footplate_task_gpu_utilisation"


@contextmanager
def prometheus(folder: Path, settings: str) -> Iterator[httpx.Client]:
    """Run it with its data in a folder of its own."""
    at, file = f"127.0.0.1:{free_port()}", folder / "prometheus.yml"
    file.write_text(settings)
    options = {"config.file": file, "storage.tsdb.path": folder / "data", "web.listen-address": at}
    words = [f"--{name}={value}" for name, value in options.items()]
    with (folder / "prometheus.log").open("wb") as log:
        running = subprocess.Popen(["prometheus", *words], stdout=log, stderr=log)
    try:
        with httpx.Client(base_url=f"http://{at}/api/v1", timeout=30) as client:
            yield client
    finally:
        running.terminate()
        running.wait()


def asked(client: httpx.Client, query: str) -> list[dict[str, Any]]:
    try:
        answer = client.get("/query", params={"query": query})
    except httpx.TransportError:
        return []
    # While it starts.
    if answer.status_code == 503:
        return []
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["data"]["result"]
    return found


@pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs Prometheus: apt install prometheus")
def test_a_prometheus_answers_all_that_the_board_shows(server: ServerProcess, tmp_path: Path) -> None:
    token = json.loads(server.command("tokens", "create", "prometheus", "--json").stdout)["token"]
    (tmp_path / "token").write_text(token)
    assert server.command("submit", "-n", "over", "-f", "--", "true").returncode == 0
    assert server.command("submit", "-n", "busy", "--", "while :; do sleep 0.1; done").returncode == 0
    example = (DEPLOY / "prometheus" / "prometheus.yml").read_text()
    settings = example.replace("/etc/prometheus/footplate.token", str(tmp_path / "token"))
    settings = OFTEN + settings.replace("127.0.0.1:8750", f"127.0.0.1:{server.port}")
    board = json.loads((DEPLOY / "grafana" / "footplate.json").read_text())
    shown = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    told = httpx.get(f"{server.url}/metrics", headers={"Authorization": f"Bearer {token}"}).text
    with prometheus(tmp_path, settings) as client:
        await_that(lambda: asked(client, "up == 1"), DEADLINE_S, "it reads the figures", 0.2)
        for expression in shown:
            for name in NAME.findall(expression):
                assert f"# TYPE {re.sub('_(bucket|sum|count)$', '', name)} " in told, expression
            if NEEDS_CARDS not in expression:
                await_that(lambda one=expression: asked(client, one), DEADLINE_S, expression, 0.2)
        (run,) = asked(client, 'footplate_task_memory_bytes{name="busy"}')
        assert (run["metric"]["user"], run["metric"]["task"]) == ("admin", "main-0")
        assert asked(client, "up == 0") == []
    server.command("stop", "busy")
