"""A real server process for tests: started by the real command, killed without mercy, started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

FOOTPLATE = Path(sys.executable).parent / "footplate"
PASSWORD = "correct horse battery"
START_DEADLINE_S = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def await_that(
    condition: Callable[[], Any], within_s: float = 20, what: str = "", every_s: float = 0.01
) -> Any:
    """Wait until a condition holds and return what it returned."""
    deadline = time.monotonic() + within_s
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"did not happen within {within_s} s: {what or condition}")
        time.sleep(every_s)
    return result


class ServerProcess:
    """`footplate up` in a home folder of its own, on one port over all its lives."""

    def __init__(self, home: Path, settings: str = "", **environment: str) -> None:
        self.home = home
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log_file = home / "server.log"
        self.options: tuple[str, ...] = ()
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        home.mkdir(parents=True, exist_ok=True)
        (home / "settings.toml").write_text(settings)

    def __enter__(self) -> ServerProcess:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FOOTPLATE_")}
        return {
            **kept,
            "FOOTPLATE_HOME": str(self.home),
            "FOOTPLATE_CONFIG": str(self.home / "none.toml"),
            "FOOTPLATE_ADMIN_PASSWORD": PASSWORD,
            **self._environment,
        }

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def start(self) -> None:
        """Start and wait until it answers, and until commands find it, which comes a moment later."""
        self.begin()
        self.await_answer()
        await_that((self.home / "client.toml").exists, START_DEADLINE_S, "commands find the server")

    def begin(self) -> None:
        """Start without waiting."""
        with self.log_file.open("ab") as out:
            self._process = subprocess.Popen(
                [FOOTPLATE, "up", "--home", self.home, "--port", str(self.port), *self.options],
                stdout=out,
                stderr=out,
                env=self.environment,
            )

    def await_answer(self) -> None:
        await_that(self._answers, START_DEADLINE_S, f"the server answers; its log: {self.log_file}")

    def _answers(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise AssertionError(f"the server ended with {self._process.returncode}: {self.log[-2000:]}")
        # Asked a hundred times a second: a client of httpx for each would take half a CPU from the server.
        connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/api/v1/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

    @property
    def has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def kill(self) -> None:
        """End it as a power cut would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                self.kill()

    def client(self, user: str = "admin", password: str = PASSWORD) -> httpx.Client:
        """An HTTP client that is signed in."""
        answer = httpx.post(f"{self.url}/api/v1/login", json={"user": user, "password": password})
        answer.raise_for_status()
        headers = {"Authorization": f"Bearer {answer.json()['token']}"}
        return httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=30)

    def command(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run the real command against this server."""
        return subprocess.run(
            [FOOTPLATE, *words], env=self.environment, text=True, capture_output=True, check=False, **options
        )


def processes_of(home: Path) -> list[int]:
    """The processes that tasks below a home folder have left running."""
    marker = str(home).encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            try:
                variables = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(v.startswith(b"FOOTPLATE_OUTPUT_DIR=" + marker) for v in variables):
                found.append(int(folder.name))
    return found
