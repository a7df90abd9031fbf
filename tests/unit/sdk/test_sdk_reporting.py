"""`footplate.log` never holds a training up, and loses nothing when the server is away for a while."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from footplate.sdk.reporting import Reporter
from footplate.testing.process import await_that

JOB = "0123456789ab"


class Kept:
    """A server that keeps batches once each, and can be told to fail."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.status = 200
        kept = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if kept.status == 200:
                    kept.bodies.append({**body, "path": self.path, "auth": self.headers["Authorization"]})
                self.send_response(kept.status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_told: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def points(self) -> list[dict[str, Any]]:
        once = {(body["source"], body["seq"]): body for body in self.bodies}
        return [point for body in once.values() for point in body["points"]]

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def kept() -> Iterator[Kept]:
    server = Kept()
    yield server
    server.close()


def environment(kept: Kept, folder: Path) -> dict[str, str]:
    return {
        "FOOTPLATE_URL": kept.url,
        "FOOTPLATE_TOKEN": "secret",
        "FOOTPLATE_JOB_ID": JOB,
        "FOOTPLATE_TASK": "worker-1",
        "FOOTPLATE_ATTEMPT": "2",
        "FOOTPLATE_CHECKPOINT_DIR": str(folder),
    }


def test_points_arrive_with_their_steps_task_and_attempt(kept: Kept, tmp_path: Path) -> None:
    reporter = Reporter(environment(kept, tmp_path))
    reporter.log({"loss": 0.5}, total_steps=100)
    reporter.log({"loss": 0.4})
    reporter.log({"loss": float("nan"), "text": "no number"}, step=10, epoch=1.5, group="val")
    assert reporter.flush()
    first, second, third = kept.points()
    assert (first["step"], second["step"], third["step"], third["epoch"]) == (0, 1, 10, 1.5)
    assert (third["values"], third["group"]) == ({"loss": "NaN"}, "val")
    body = kept.bodies[0]
    assert (body["task"], body["attempt"], body["total_steps"]) == ("worker-1", 2, 100)
    assert (body["path"], body["auth"]) == (f"/api/v1/jobs/{JOB}/metrics", "Bearer secret")
    reporter.close()


@pytest.mark.alone
def test_a_server_that_is_away_holds_nobody_up_and_gets_all_points_later(kept: Kept, tmp_path: Path) -> None:
    reporter = Reporter(environment(kept, tmp_path))
    kept.status = 503
    began = time.monotonic()
    for step in range(5000):
        reporter.log({"loss": step}, step=step)
    assert time.monotonic() - began < 2.0
    assert not reporter.flush(0.1)
    kept.status = 200
    await_that(lambda: reporter.flush(0.1) or None)
    assert [point["step"] for point in kept.points()] == list(range(5000))
    reporter.close()


def test_points_that_are_refused_do_not_stop_the_others(kept: Kept, tmp_path: Path, capsys: Any) -> None:
    reporter = Reporter(environment(kept, tmp_path))
    kept.status = 422
    reporter.log({"bad": 1})
    assert reporter.flush()
    kept.status = 200
    reporter.log({"good": 1})
    assert reporter.flush()
    assert [point["values"] for point in kept.points()] == [{"good": 1.0}]
    assert "refused" in capsys.readouterr().err
    reporter.close()


def test_what_could_not_be_sent_before_the_end_is_sent_by_the_next_process(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("footplate.sdk.reporting.GOODBYE_S", 0.1)
    kept.status = 503
    first = Reporter(environment(kept, tmp_path))
    first.log({"loss": 1}, step=1)
    first.close()
    kept.status = 200
    second = Reporter(environment(kept, tmp_path))
    second.log({"loss": 2}, step=2)
    assert second.flush()
    assert sorted(point["step"] for point in kept.points()) == [1, 2]
    second.close()
    assert not list(tmp_path.iterdir())


def test_a_script_ends_with_all_its_points_sent(kept: Kept, tmp_path: Path) -> None:
    script = "import footplate\nfor step in range(100): footplate.log({'loss': 1 / (step + 1)}, step=step)"
    run = subprocess.run(
        [sys.executable, "-c", script], env=environment(kept, tmp_path), capture_output=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, b"")
    assert [point["step"] for point in kept.points()] == list(range(100))


def test_outside_of_a_job_a_script_runs_on_and_is_told_once(tmp_path: Path) -> None:
    script = "import footplate\nfor _ in range(3): footplate.log({'loss': 1})"
    run = subprocess.run([sys.executable, "-c", script], env={}, capture_output=True, check=True)
    assert run.stderr.count(b"not a job") == 1


def test_nothing_but_the_standard_library_is_loaded() -> None:
    script = "import sys, footplate; footplate.log; print([m for m in sys.modules if m in ('httpx', 'yaml')])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert run.stdout.strip() == "[]"
