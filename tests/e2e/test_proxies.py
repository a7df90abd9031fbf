"""The examples for nginx and Caddy, run by the real programs: uploads, streams and logins pass through."""

from __future__ import annotations

import json
import os
import re
import shutil
import ssl
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import httpx
import pytest

from footplate.testing.certificates import Authority, Pair
from footplate.testing.process import FOOTPLATE, ServerProcess, await_that, free_port

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
NAME = "train.example.org"
PACKAGES = {"nginx": "nginx-light", "caddy": "caddy"}


@dataclass(frozen=True)
class Proxy:
    """A running proxy: where it listens, and what clients must trust."""

    url: str
    plain_url: str
    trust: ssl.SSLContext
    authority: Authority


Configure = Callable[[Path, Pair, int, int, int], list[str]]


def configure_nginx(folder: Path, pair: Pair, server: int, port: int, plain: int) -> list[str]:
    text = (DEPLOY / "nginx" / "footplate.conf").read_text()
    changes = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "listen 80": f"listen 127.0.0.1:{plain}",
        "127.0.0.1:8750": f"127.0.0.1:{server}",
        "/etc/ssl/footplate/fullchain.pem": str(pair.cert),
        "/etc/ssl/footplate/privkey.pem": str(pair.key),
    }
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    around = (
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;\n"
        f"{'user root;' if os.getuid() == 0 else ''}\n"
        f"events {{}}\nhttp {{ access_log off;\n{places}{changed(text, changes)}\n}}\n"
    )
    (folder / "nginx.conf").write_text(around)
    return ["nginx", "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]


def configure_caddy(folder: Path, pair: Pair, server: int, port: int, plain: int) -> list[str]:
    text = (DEPLOY / "caddy" / "Caddyfile").read_text()
    changes = {
        f"{NAME} {{": f"https://{NAME}:{port} {{\n\tbind 127.0.0.1\n\ttls {pair.cert} {pair.key}",
        "127.0.0.1:8750": f"127.0.0.1:{server}",
    }
    options = (
        f"{{\n\tadmin off\n\thttp_port {plain}\n\thttps_port {port}\n\tdefault_bind 127.0.0.1\n"
        f"\tstorage file_system {folder}/data\n}}\n"
    )
    (folder / "Caddyfile").write_text(options + changed(text, changes))
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def changed(text: str, changes: dict[str, str]) -> str:
    """The example with ports and files of the test; what is to be changed must be there."""
    for old, new in changes.items():
        assert old in text, f"the example has no {old!r} any more"
        text = text.replace(old, new)
    return text


@contextmanager
def running(configure: Configure, folder: Path, server: ServerProcess) -> Iterator[Proxy]:
    folder.mkdir()
    authority = Authority(folder / "authority")
    pair, port, plain = authority.issue(NAME), free_port(), free_port()
    command = configure(folder, pair, server.port, port, plain)
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed: Debian has it as {PACKAGES[command[0]]}")
    environment = {
        **os.environ,
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
    }
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    trust = ssl.create_default_context(cafile=str(authority.file))
    proxy = Proxy(f"https://{NAME}:{port}", f"http://127.0.0.1:{plain}", trust, authority)
    try:

        def answers() -> bool:
            assert process.poll() is None, (folder / "output").read_text()
            try:
                with client(proxy) as http:
                    return http.get("/api/v1/health").status_code == 200
            except httpx.TransportError:
                return False

        await_that(answers, 30, f"{command[0]} answers")
        yield proxy
    finally:
        process.terminate()
        process.wait(20)


class Here(httpx.HTTPTransport):
    """Finds the example's name on this machine."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.extensions["sni_hostname"] = NAME
        request.headers["Host"] = f"{NAME}:{request.url.port}"
        request.url = request.url.copy_with(host="127.0.0.1")
        return super().handle_request(request)


def client(proxy: Proxy, token: str = "") -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=proxy.url, transport=Here(verify=proxy.trust), headers=headers, timeout=30)


@pytest.fixture(params=[configure_nginx, configure_caddy], ids=["nginx", "caddy"])
def proxy(request: pytest.FixtureRequest, server: ServerProcess, tmp_path: Path) -> Iterator[Proxy]:
    with running(request.param, tmp_path / "proxy", server) as found:
        yield found


@pytest.fixture
def signed(proxy: Proxy, server: ServerProcess) -> Iterator[httpx.Client]:
    await_that((server.home / "client.toml").exists)
    token = re.search(r'token = "(.*)"', (server.home / "client.toml").read_text())
    assert token is not None
    with client(proxy, token[1]) as http:
        yield http


def test_lines_of_a_log_come_as_they_are_written(signed: httpx.Client) -> None:
    command = "printf 'fi%s\\n' rst; sleep 2; printf 'la%s\\n' st"
    job = signed.post("/api/v1/jobs", json={"name": f"through-{time.time_ns()}", "command": command}).json()
    seen, state_at_first = b"", ""
    with signed.stream("GET", f"/api/v1/jobs/{job['id']}/logs/stream") as stream:
        assert stream.status_code == 200
        for piece in stream.iter_raw():
            seen += piece
            if b"first" in seen and not state_at_first:
                # The first line is here while the task still sleeps: nothing held it back.
                assert b"last" not in seen
                state_at_first = signed.get(f"/api/v1/jobs/{job['id']}").json()["state"]
            if b"last" in seen:
                break
    # A line may be seen before the start is stored; that the job is not over is what counts.
    assert state_at_first in ("STARTING", "RUNNING")


def test_a_large_upload_passes(signed: httpx.Client) -> None:
    content = BytesIO()
    with tarfile.open(fileobj=content, mode="w") as packed:
        entry = tarfile.TarInfo("data.bin")
        entry.size = 60 * 1024**2
        packed.addfile(entry, BytesIO(os.urandom(1024) * (60 * 1024)))
    answer = signed.post("/api/v1/code", content=content.getvalue())
    assert answer.status_code == 201, answer.text
    assert answer.json()["size_bytes"] == len(content.getvalue())


def test_a_browser_signs_in_through_the_proxy(proxy: Proxy, server: ServerProcess) -> None:
    server.command("users", "add", "browser", "--password-stdin", input="a long password\n")
    with client(proxy) as http:
        answer = http.post("/api/v1/session", json={"user": "browser", "password": "a long password"})
        assert answer.status_code == 200, answer.text
        assert http.get("/docs").status_code == 200


def test_the_command_works_through_the_proxy_and_is_sent_on_from_plain_http(
    proxy: Proxy, server: ServerProcess, tmp_path: Path
) -> None:
    plain = subprocess.run(
        [FOOTPLATE, "--url", proxy.plain_url, "list"],
        env=server.environment,
        text=True,
        capture_output=True,
        check=False,
    )
    assert plain.returncode == 1
    assert "redirects to https://" in plain.stderr
    with client(proxy) as http:
        version = http.get("/api/v1/version").json()
    assert json.loads(server.command("version", "--server", "--json").stdout)["server"] == version
