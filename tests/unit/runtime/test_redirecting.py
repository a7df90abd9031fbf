"""The redirection of programs that name a cloud's hosts: where requests go, and what it leaves alone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from footplate.runtime import redirection
from footplate.runtime.redirecting import footplate_redirecting

SERVER = "http://127.0.0.1:8750"


@pytest.mark.parametrize(
    ("url", "to"),
    [
        ("https://tione.tencentcloudapi.com/", f"{SERVER}/"),
        ("https://tione.internal.tencentcloudapi.com/", f"{SERVER}/"),
        ("https://b-1.cos.ap-guangzhou.myqcloud.com/a%20b?x=1&y=", f"{SERVER}/a%20b?x=1&y="),
        ("http://api.ucloud.cn?Action=x", f"{SERVER}/?Action=x"),
        ("http://b.cn-bj.ufileos.com/k", f"{SERVER}/k"),
        ("https://cvm.tencentcloudapi.com/", None),
        ("https://example.com/myqcloud.com", None),
        ("https://myqcloud.com.example.com/", None),
    ],
)
def test_only_hosts_that_the_server_stands_in_for_are_redirected(
    url: str, to: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(redirection.URL, SERVER)
    assert footplate_redirecting.redirected(url) == to


def python(tmp_path: Path, program: str, **variables: str) -> str:
    given = {**os.environ, **redirection.variables(SERVER, {"PYTHONPATH": str(tmp_path)}), **variables}
    done = subprocess.run(
        [sys.executable, "-c", program], env=given, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    return done.stdout


FAKE_REQUESTS = """
class HTTPAdapter:
    def send(self, request, stream=False, timeout=None, proxies=None):
        return request.url, request.headers, proxies
"""


def test_requests_is_changed_when_it_is_imported(tmp_path: Path) -> None:
    (tmp_path / "requests").mkdir()
    (tmp_path / "requests" / "__init__.py").touch()
    (tmp_path / "requests" / "adapters.py").write_text(FAKE_REQUESTS)
    program = """
import sys
assert "requests" not in sys.modules and "footplate_redirecting" not in sys.modules
from requests.adapters import HTTPAdapter
class Request:
    url = "https://demo-1.cos.ap-guangzhou.myqcloud.com/key"
    headers = {}
print(HTTPAdapter().send(Request(), proxies={"https": "x"}))
"""
    said = python(tmp_path, program)
    assert said.strip() == f"('{SERVER}/key', {{'Host': 'demo-1.cos.ap-guangzhou.myqcloud.com'}}, {{}})"


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    """A server that answers with the host and the path that it was asked for."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f"{self.headers['Host']} {self.path}".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


CLOUD = "https://demo-1.cos.ap-guangzhou.myqcloud.com/a%20b?x=1"
CLIENTS = {
    "urllib": "import urllib.request as u; print(u.urlopen({url!r}).read().decode())",
    "http.client": """
import http.client
connection = http.client.HTTPSConnection("demo-1.cos.ap-guangzhou.myqcloud.com", timeout=5)
connection.request("GET", "/a%20b?x=1")
print(connection.getresponse().read().decode())
""",
    "httpx": "import httpx; print(httpx.get({url!r}).text)",
    "httpx, concurrently": """
import asyncio, httpx
async def main():
    async with httpx.AsyncClient() as client:
        print((await client.get({url!r})).text)
asyncio.run(main())
""",
    "aiohttp": """
import asyncio, aiohttp
async def main():
    async with aiohttp.ClientSession(trust_env=True) as client:
        async with client.get({url!r}) as answer:
            print(await answer.text())
asyncio.run(main())
""",
    "urllib3": "import urllib3; print(urllib3.PoolManager().request('GET', {url!r}).data.decode())",
    "botocore": """
from botocore.awsrequest import AWSRequest
from botocore.httpsession import URLLib3Session
print(URLLib3Session().send(AWSRequest("GET", {url!r}).prepare()).text)
""",
}
SERVERS_OWN = """
import asyncio, urllib.request, aiohttp, httpx, urllib3
async def main():
    async with aiohttp.ClientSession() as client, client.get("{server}/own") as answer:
        print(await answer.text())
asyncio.run(main())
print(urllib.request.urlopen("{server}/own").read().decode())
print(httpx.get("{server}/own").text)
print(urllib3.PoolManager().request("GET", "{server}/own").data.decode())
"""


@pytest.mark.parametrize("prefix", ["", "/below"])
@pytest.mark.parametrize("client", CLIENTS)
def test_clients_of_all_kinds_reach_the_server_with_the_host_that_they_sign(
    tmp_path: Path, echo: str, client: str, prefix: str
) -> None:
    # A proxy is not asked: it is for the cloud, and this request does not go there.
    nowhere = {"HTTPS_PROXY": "", "https_proxy": "", "HTTP_PROXY": "", "http_proxy": ""}
    said = python(
        tmp_path, CLIENTS[client].format(url=CLOUD), FOOTPLATE_REDIRECT_URL=echo + prefix, **nowhere
    )
    assert said == f"demo-1.cos.ap-guangzhou.myqcloud.com {prefix}/a%20b?x=1\n"


def test_requests_to_other_hosts_stay_as_they_are(tmp_path: Path, echo: str) -> None:
    said = python(tmp_path, SERVERS_OWN.format(server=echo), FOOTPLATE_REDIRECT_URL=SERVER)
    assert said == f"{echo.removeprefix('http://')} /own\n" * 4


def test_what_the_tools_of_uai_need_of_json_is_mended_for_them_alone(tmp_path: Path) -> None:
    (tmp_path / "uaitrain").mkdir()
    (tmp_path / "uaitrain" / "__init__.py").touch()
    program = """
import json
try:
    json.loads("1", encoding="utf-8")
except TypeError:
    print("as ever")
import uaitrain
print(json.loads("1", encoding="utf-8"))
"""
    assert python(tmp_path, program).split("\n")[:2] == ["as ever", "1"]


def test_a_sitecustomize_of_somebody_else_runs_too(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.theirs = 7\n")
    assert python(tmp_path, "print(theirs)").strip() == "7"


def test_python_starts_without_what_it_does_not_need(tmp_path: Path) -> None:
    named = ("requests", "typing", "urllib.parse", "json", "footplate_redirecting")
    program = f"import sys; print([one for one in {named} if one in sys.modules])"
    plain = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert python(tmp_path, program) == plain.stdout
