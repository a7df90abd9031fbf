"""Uploads of a cloud's client over a kill of the server: what was answered is there afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as Xml

import httpx
import pytest
from cloudkeys import Key, key_of

from footplate.dialects.cos import signature
from footplate.testing.process import ServerProcess

HOST = "demo-1256580188.cos.ap-guangzhou.myqcloud.com"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path / "home") as running:
        yield running


def call(
    server: ServerProcess, key: Key, method: str, name: str, query: str = "", content: bytes = b""
) -> httpx.Response:
    now = int(time.time())
    window = f"{now - 60};{now + 600}"
    parameters = signature.parameters_of(query)
    listed = tuple(sorted(one.lower() for one, _ in parameters))
    unsigned = signature.Authorization(key.id, window, window, ("host",), listed, "")
    signed = signature.Signed(method, f"/{name}", {"host": HOST}, parameters)
    given = (
        f"q-sign-algorithm=sha1&q-ak={key.id}&q-sign-time={window}&q-key-time={window}&q-header-list=host"
        f"&q-url-param-list={';'.join(listed)}&q-signature={signature.sign(unsigned, signed, key.secret)}"
    )
    headers = {"Host": HOST, "Authorization": given}
    return httpx.request(method, f"{server.url}/{name}?{query}", headers=headers, content=content, timeout=30)


def test_an_upload_in_parts_goes_on_after_a_kill(server: ServerProcess) -> None:
    key = key_of(server)
    assert call(server, key, "PUT", "whole", content=b"whole").status_code == 200
    begun = call(server, key, "POST", "big", "uploads=")
    upload = Xml.fromstring(begun.content).findtext("UploadId") or ""
    first = call(server, key, "PUT", "big", f"partNumber=1&uploadId={upload}", b"first ")
    server.kill()
    server.start()
    second = call(server, key, "PUT", "big", f"partNumber=2&uploadId={upload}", b"second")
    listed = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>{one.headers['etag']}</ETag></Part>"
        for number, one in ((1, first), (2, second))
    )
    body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
    assert call(server, key, "POST", "big", f"uploadId={upload}", body).status_code == 200
    server.kill()
    server.start()
    assert call(server, key, "GET", "big").content == b"first second"
    assert call(server, key, "GET", "whole").content == b"whole"
