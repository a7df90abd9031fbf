"""What a client says of certificates, to servers that really speak TLS."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from footplate.domain.errors import InvalidInput
from footplate.sdk.client import Client
from footplate.sdk.errors import Unreachable, Untrusted
from footplate.testing.certificates import Authority, Pair
from footplate.testing.fake_server import FakeServer, Reply


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"version": "1", "api": "v1"}')

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that leave."""


@contextmanager
def secure_server(pair: Pair) -> Iterator[int]:
    server = _Server(("127.0.0.1", 0), _Answers)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.cert, pair.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def serve() -> Iterator[Callable[[Pair], int]]:
    with ExitStack() as stack:
        yield lambda pair: stack.enter_context(secure_server(pair))


@pytest.fixture(autouse=True)
def usual_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def refusal(url: str) -> str:
    with Client(url, "t") as client, pytest.raises(Untrusted) as caught:
        client.version()
    return caught.value.message


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_an_authority_in_ssl_cert_file_is_trusted_on_loopback(
    authority: Authority, serve: Callable[[Pair], int], monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    port = serve(authority.issue("localhost", "127.0.0.1"))
    with Client(f"https://{host}:{port}", "t") as client:
        assert client.version()["version"] == "1"


def test_an_unknown_authority_is_named_with_what_to_do(
    authority: Authority, serve: Callable[[Pair], int]
) -> None:
    url = f"https://127.0.0.1:{serve(authority.issue('127.0.0.1'))}"
    said = refusal(url)
    assert f"the certificate of {url} was signed by Test Authority, whom this machine does not trust" in said
    assert "SHA-256 fingerprint" in said
    assert "export SSL_CERT_FILE=" in said
    assert "is it running" not in said


def test_the_file_that_was_named_is_told_when_it_does_not_help(
    authority: Authority, serve: Callable[[Pair], int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = Authority(tmp_path / "other", "Somebody Else")
    monkeypatch.setenv("SSL_CERT_FILE", str(other.file))
    said = refusal(f"https://127.0.0.1:{serve(authority.issue('127.0.0.1'))}")
    assert f"now it names {other.file}" in said


def test_a_certificate_for_another_name_says_for_which(
    authority: Authority, serve: Callable[[Pair], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    said = refusal(f"https://127.0.0.1:{serve(authority.issue('train.example.org', '10.0.0.7'))}")
    assert "is not for 127.0.0.1 but for train.example.org, 10.0.0.7: use such a name" in said


def test_a_certificate_that_is_over_says_so(
    authority: Authority, serve: Callable[[Pair], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    said = refusal(f"https://127.0.0.1:{serve(authority.issue('127.0.0.1', days=-1))}")
    assert "has expired: ask the server's operator to renew it" in said
    assert "clock" in said


def test_plain_http_behind_an_address_with_tls_is_told() -> None:
    with FakeServer() as server:
        url = server.url.replace("http:", "https:")
        assert f"does not speak TLS; on a network that you trust, use {server.url}" in refusal(url)


def test_tls_behind_an_address_without_is_told(authority: Authority, serve: Callable[[Pair], int]) -> None:
    port = serve(authority.issue("127.0.0.1"))
    said = refusal(f"http://127.0.0.1:{port}")
    assert said == f"the server at http://127.0.0.1:{port} speaks TLS: use https://127.0.0.1:{port}"


@pytest.mark.parametrize("content", [None, "no certificate\n"])
def test_an_unusable_ssl_cert_file_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with pytest.raises(InvalidInput, match=f"SSL_CERT_FILE: names {path}, which"):
        Client("https://127.0.0.1:1", "t")


def test_an_address_that_sends_on_to_another_says_which_one_to_use() -> None:
    with FakeServer() as server:
        moved = Reply(301, headers={"Location": "https://train.example.org/api/v1/version"})
        server.on("GET /version", moved)
        with Client(server.url, "t") as client, pytest.raises(Unreachable) as caught:
            client.version()
    assert "footplate login https://train.example.org`" in caught.value.message
