"""The console's files and pages over HTTP."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path

import httpx
import pytest
from apiclient import Api
from fastapi import FastAPI

from footplate.server import errors
from footplate.server.bundle import Bundle
from footplate.server.routes import front
from footplate.testing.server import Served

HTML = {"Accept": "text/html,application/xhtml+xml"}
SCRIPT = b"console.log('footplate');" * 100


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assets = tmp_path / "static" / "assets"
    assets.mkdir(parents=True)
    (tmp_path / "static" / "index.html").write_text("<title>Footplate</title>")
    (tmp_path / "secret.txt").write_text("not for you")
    (assets / "index-abc.js").write_bytes(SCRIPT)
    (assets / "index-abc.js.gz").write_bytes(gzip.compress(SCRIPT))
    (assets / "page-abc.css").write_text("body {}")
    return tmp_path / "static"


class Client:
    """Calls an app that serves a folder as the console."""

    def __init__(self, folder: Path) -> None:
        self._app = FastAPI(redirect_slashes=False)
        errors.install(self._app)
        front.install(self._app, Bundle(folder))

    def call(self, method: str, path: str, headers: Mapping[str, str]) -> httpx.Response:
        async def calling() -> httpx.Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://console") as http:
                return await http.request(method, path, headers=headers)

        return asyncio.run(calling())

    def get(self, path: str, headers: Mapping[str, str] = HTML) -> httpx.Response:
        return self.call("GET", path, headers)


@pytest.fixture
def client(folder: Path) -> Client:
    return Client(folder)


@pytest.mark.parametrize("path", ["/", "/jobs", "/jobs/2abc?tab=logs", "/nowhere/at/all"])
def test_every_page_is_the_console(client: Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.text) == (200, "<title>Footplate</title>")
    assert answer.headers["cache-control"] == "no-cache"


def test_pages_run_no_script_but_ours_and_talk_to_nobody_else(client: Client) -> None:
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "connect-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/", "/v1/models"])
def test_paths_of_programs_are_not_pages(client: Client, path: str) -> None:
    headers = {"Accept": "*/*"} if path == "/v1/models" else HTML
    answer = client.get(path, headers=headers)
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


def test_a_page_is_only_read(client: Client) -> None:
    assert client.call("POST", "/jobs", HTML).status_code == 404
    assert client.call("HEAD", "/jobs", HTML).status_code == 200


def test_files_are_kept_for_ever_and_sent_compressed(client: Client) -> None:
    answer = client.get("/assets/index-abc.js", headers={"Accept-Encoding": "gzip, br"})
    assert answer.content == SCRIPT
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("accepted", ["", "identity", "gzip;q=0", "br"])
def test_who_cannot_unpack_gets_it_plain(client: Client, accepted: str) -> None:
    answer = client.get("/assets/index-abc.js", headers={"Accept-Encoding": accepted})
    assert "content-encoding" not in answer.headers
    assert answer.content == SCRIPT


@pytest.mark.parametrize(
    "name", ["gone.js", "index-abc.js.gz", "..%2fsecret.txt", "%2e%2e%2f%2e%2e%2fsecret.txt"]
)
def test_other_files_are_not_there(client: Client, name: str) -> None:
    answer = client.get(f"/assets/{name}")
    assert answer.status_code == 404
    assert "not for you" not in answer.text


def test_a_console_that_is_not_built_says_how_to(tmp_path: Path) -> None:
    answer = Client(tmp_path / "empty").get("/")
    assert answer.status_code == 200
    assert "make console" in answer.text


def test_the_api_is_described_on_a_page_that_loads_nothing_from_elsewhere(
    server: Served, nobody: Api
) -> None:
    answer = nobody.http.get(f"{server.url}/docs")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    described = nobody.ok("GET", "/openapi.json")["paths"]
    text = unescape(answer.text)
    for path, verbs in described.items():
        for verb, operation in verbs.items():
            assert f'<span class="verb {verb}">{verb.upper()}</span> <span class="path">{path}</span>' in text
            assert operation["description"] in text
    # No address of another machine, no script, nothing embedded.
    assert re.findall(r"(?:src|href|url)\s*[=(]\s*['\"]?(?:https?:)?//", answer.text) == []
    assert not re.search(r"<(script|iframe|object|embed|img|link)\b", answer.text)
    assert "script-src" not in answer.headers["content-security-policy"]
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_the_page_of_the_api_tells_fields_with_their_bounds(server: Served, nobody: Api) -> None:
    text = unescape(nobody.http.get(f"{server.url}/docs").text)
    assert "<code>password</code></td><td>string, 8 to 256 characters</td>" in text
    assert "<code>tasks[].exit_code</code>" in text
    assert "Revoke the earlier tokens of the same user and name." in text


def test_an_invitation_that_is_opened_in_a_browser_says_where_it_belongs(server: Served, nobody: Api) -> None:
    answer = nobody.http.get(f"{server.url}/join", headers=HTML)
    assert answer.status_code == 200
    assert "footplate join" in answer.text
    assert "您已受邀" in answer.text
