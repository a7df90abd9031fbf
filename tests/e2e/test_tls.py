"""A real server that speaks TLS by itself, as people and jobs meet it."""

from __future__ import annotations

import ssl
import subprocess
from http.client import HTTPException, HTTPSConnection
from pathlib import Path

import pytest

from footplate.testing.certificates import Authority
from footplate.testing.process import FOOTPLATE, ServerProcess, await_that


class SecureServer(ServerProcess):
    """`footplate up` with a certificate; commands trust its authority."""

    def __init__(self, home: Path, authority: Authority, settings: str) -> None:
        super().__init__(home, settings, SSL_CERT_FILE=str(authority.file))
        self.url = f"https://127.0.0.1:{self.port}"
        self.trust = ssl.create_default_context(cafile=str(authority.file))

    def _answers(self) -> bool:
        connection = HTTPSConnection("127.0.0.1", self.port, timeout=5, context=self.trust)
        try:
            connection.request("GET", "/api/v1/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


def test_a_server_with_a_certificate_serves_commands_and_streams_and_renews_it(
    tmp_path: Path, authority: Authority
) -> None:
    pair = authority.issue("127.0.0.1", "old.example.org")
    settings = f'tls_cert = "{pair.cert}"\ntls_key = "{pair.key}"\n'
    with SecureServer(tmp_path / "home", authority, settings) as server:
        # It answers a moment before it leaves its address for commands.
        await_that((server.home / "client.toml").exists)
        assert f'url = "{server.url}"' in (server.home / "client.toml").read_text()
        done = server.command("submit", "--name", "secure", "--follow", "--", "echo by $FOOTPLATE_URL")
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"by {server.url}" in done.stdout
        authority.issue("127.0.0.1", "new.example.org")
        await_that(lambda: "the certificate was renewed; it is for new.example.org" in server.log, 20)
        assert server.command("whoami").returncode == 0

        without = {**server.environment, "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt"}
        if not Path(without["SSL_CERT_FILE"]).exists():
            del without["SSL_CERT_FILE"]
        refused = subprocess.run(
            [FOOTPLATE, "list"], env=without, text=True, capture_output=True, check=False, timeout=60
        )
        assert refused.returncode == 1
        assert "was signed by Test Authority, whom this machine does not trust" in refused.stderr


def test_a_wrong_pair_stops_the_start_with_the_reason(tmp_path: Path, authority: Authority) -> None:
    pair, other = authority.issue("127.0.0.1"), authority.issue("127.0.0.1", into="other")
    words = [
        "up",
        "--home",
        tmp_path / "home",
        "--port",
        "0",
        "--tls-cert",
        pair.cert,
        "--tls-key",
        other.key,
    ]
    done = subprocess.run([FOOTPLATE, *words], text=True, capture_output=True, check=False, timeout=60)
    assert done.returncode == 1
    assert f"error: tls_key: {other.key} is not the key of the certificate {pair.cert}" in done.stderr
