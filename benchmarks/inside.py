"""Inside a job: what the proxy adds to a request, its rate for a download, and the echo of a terminal."""

from __future__ import annotations

import json
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from websockets.sync.client import ClientConnection, connect

from benchmarks.client import token_of
from benchmarks.report import Row, percentile
from footplate.sdk.client import Client
from footplate.testing.process import ServerProcess, await_that, free_port

N_REQUESTS, N_KEYS, N_MB = 500, 300, 512
N_DOWNLOADS = 3
ADDED_BAR_MS, ECHO_BAR_MS, MEMORY_BAR_MB = 2, 10, 200
# Answers shortly, or with as many megabytes as the path says; connections are kept.
PROGRAM = """
import asyncio, sys

async def serve(reader, writer):
    while head := await reader.readuntil(b"\\r\\n\\r\\n"):
        n = int(head.split(b" ")[1].rpartition(b"/")[2] or 0)
        size = n * 1024**2 or 2
        writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % size)
        for _ in range(n):
            writer.write(bytes(1024**2))
            await writer.drain()
        writer.write(b"ok" if not n else b"")

async def main():
    await (await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))).serve_forever()

asyncio.run(main())
"""


def run(folder: Path) -> list[Row]:
    with ServerProcess(folder / "inside") as server:
        port = free_port()
        command = [sys.executable, "-c", PROGRAM, str(port)]
        made = server.command("submit", "--name", "inside", "--json", "--", *command)
        assert made.returncode == 0, made.stderr
        client = Client(server.url, token=token_of(server))
        job = client.job(json.loads(made.stdout)["id"])
        job.wait(timeout=60, until="RUNNING")
        direct = _Line(f"http://127.0.0.1:{port}/", {})
        await_that(direct.answers, 30)
        proxied = _enter(job.open_service(str(port))["url"])
        rows = [*_proxy(direct, proxied), _terminal(server, job.id)]
        used_mb = psutil.Process(server.pid).memory_info().rss / 1024**2
        job.stop()
        client.close()
    what, bar = "server memory with services and a terminal in use", f"< {MEMORY_BAR_MB} MB"
    return [*rows, Row(what, f"{used_mb:.0f} MB", bar, "", used_mb < MEMORY_BAR_MB)]


class _Line:
    """One connection that is kept, to an address below which the program is."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        parts = urlsplit(url)
        self._path, self._headers = parts.path, headers
        self._connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def ask_s(self, n_mb: int = 0) -> float:
        began_at = time.perf_counter()
        self._connection.request("GET", f"{self._path}{n_mb or ''}", headers=self._headers)
        answer = self._connection.getresponse()
        assert answer.status == 200, answer.status
        n_bytes = 0
        while data := answer.read(1024**2):
            n_bytes += len(data)
        assert n_bytes == (n_mb * 1024**2 or 2)
        return time.perf_counter() - began_at

    def answers(self) -> bool:
        try:
            return self.ask_s() > 0
        except OSError:
            self._connection.close()
            return False


def _enter(url: str) -> _Line:
    """Take the ticket of an address for its cookie."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port)
    connection.request("GET", f"{parts.path}?{parts.query}")
    cookie = (connection.getresponse().getheader("set-cookie") or "").partition(";")[0]
    connection.close()
    return _Line(url, {"Cookie": cookie})


def _proxy(direct: _Line, proxied: _Line) -> list[Row]:
    plain_ms, through_ms = (
        percentile([line.ask_s() for _ in range(N_REQUESTS)], 0.5) * 1000 for line in (direct, proxied)
    )
    plain_rate, through_rate = (
        N_MB / min(line.ask_s(N_MB) for _ in range(N_DOWNLOADS)) for line in (direct, proxied)
    )
    added_ms, part = through_ms - plain_ms, through_rate / plain_rate
    return [
        Row(
            "what the proxy of services adds to a request",
            f"{added_ms:.2f} ms",
            f"< {ADDED_BAR_MS} ms",
            f"{plain_ms:.2f} ms without it",
            added_ms < ADDED_BAR_MS,
        ),
        Row(
            f"a download of {N_MB} MB through the proxy",
            f"{through_rate:,.0f} MB/s",
            "≥ half of the direct rate",
            f"{plain_rate:,.0f} MB/s without it",
            part >= 0.5,
        ),
    ]


def _terminal(server: ServerProcess, job_id: str) -> Row:
    token = token_of(server)
    with server.client() as http:
        shell = http.post(f"/jobs/{job_id}/shells", json={}).json()["id"]
    url = f"{server.url.replace('http', 'ws', 1)}/api/v1/jobs/{job_id}/shells/{shell}/stream"
    with connect(url, additional_headers={"Authorization": f"Bearer {token}"}) as line:
        line.recv(10)
        # Nothing but the terminal itself answers.
        line.send(b"stty echo; exec cat >/dev/null; echo\n")
        _settle(line)
        echoes = [_echo_s(line) for _ in range(N_KEYS)]
    echo_ms, slow_ms = (percentile(echoes, part) * 1000 for part in (0.5, 0.95))
    return Row(
        "a key in a terminal until it is shown",
        f"{echo_ms:.1f} ms",
        f"< {ECHO_BAR_MS} ms",
        f"95 %: {slow_ms:.1f} ms",
        echo_ms < ECHO_BAR_MS,
    )


def _settle(line: ClientConnection) -> None:
    """Wait until nothing comes any more."""
    while True:
        try:
            line.recv(1)
        except TimeoutError:
            return


def _echo_s(line: ClientConnection) -> float:
    began_at = time.perf_counter()
    line.send(b"x")
    line.recv(10)
    return time.perf_counter() - began_at
