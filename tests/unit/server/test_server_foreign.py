"""Requests of other clouds' clients are known by their heads, and ours are left alone."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.server.foreign import COS, TIONE, UAI, UFILE, ForeignDoor, recognise
from footplate.server.headcase import CapitalHead, capitalize


def scope(path: str = "/", query: str = "", method: str = "GET", **headers: str) -> dict[str, object]:
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": sent,
    }


@pytest.mark.parametrize(
    ("sent", "cloud", "bucket", "key"),
    [
        (scope(method="POST", x_tc_action="A", host="http://127.0.0.1:1"), TIONE, "", ""),
        (scope("/x", method="POST", x_tc_action="A"), TIONE, "", ""),
        (scope("/a/b", host="demo-1.cos.ap-guangzhou.myqcloud.com"), COS, "demo-1", "a/b"),
        (scope("/a", host="my.dots.cos.ap-guangzhou.tencentcos.cn:443"), COS, "my.dots", "a"),
        (scope("/", host="service.cos.myqcloud.com"), COS, "", ""),
        (scope("/", authorization="q-sign-algorithm=sha1&q-ak=x", host="127.0.0.1:1"), COS, "", ""),
        (scope("/k", host="b.ufile.ucloud.com.cn"), UFILE, "b", "k"),
        (scope("/k", host="b.cn-bj.ufileos.com"), UFILE, "b", "k"),
        (scope("/", "Action=X&PublicKey=a&Signature=b", host="127.0.0.1"), UAI, "", ""),
        (scope("/", host="api.ucloud.cn"), UAI, "", ""),
        (scope("/", host="api-edu.ucloud.cn"), UAI, "", ""),
        (scope("/compat/cos/b/k/l", host="me"), COS, "b", "k/l"),
        (scope("/compat/uai", host="me"), UAI, "", ""),
    ],
)
def test_a_client_is_known(sent: dict[str, object], cloud: str, bucket: str, key: str) -> None:
    found = recognise(sent)
    assert found is not None
    assert (found.cloud, found.bucket, found.key) == (cloud, bucket, key)


@pytest.mark.parametrize(
    "sent",
    [
        scope("/", host="127.0.0.1:8750"),
        scope("/api/v1/jobs", authorization="Bearer x", host="footplate.example.com"),
        scope("/", "Action=X", host="127.0.0.1"),
        scope("/jobs", x_tc_action="A"),
        scope("/compat/other", host="me"),
        scope("/", host="uhub.service.ucloud.cn"),
        scope("/", host="myqcloud.com.example.com"),
    ],
)
def test_other_requests_are_left_alone(sent: dict[str, object]) -> None:
    assert recognise(sent) is None


HEADS = st.dictionaries(
    st.sampled_from([b"host", b"authorization", b"x-tc-action"]), st.binary(max_size=40), max_size=3
)


@given(HEADS, st.binary(max_size=40), st.text(max_size=20))
def test_any_head_is_looked_at_without_harm(headers: dict[bytes, bytes], query: bytes, path: str) -> None:
    sent = {
        "type": "http",
        "method": "GET",
        "path": f"/{path}",
        "raw_path": f"/{path}".encode(),
        "query_string": query,
        "headers": list(headers.items()),
    }
    recognise(sent)


def test_a_private_key_is_taken_out_of_the_query() -> None:
    seen = {}

    async def app(given, receive, send):  # type: ignore[no-untyped-def]
        seen.update(given)

    sent = scope("/", "Action=X&PublicKey=a&TrainPrivateKey=secret&Signature=b", host="api.ucloud.cn")
    asyncio.run(ForeignDoor(app)(sent, None, None))  # type: ignore[arg-type]
    # The server logs what it has given to the app, after that.
    assert sent["query_string"] == b""
    assert seen["path"] == "/compat/uai"
    assert "secret" in seen["footplate_foreign"].query


def test_heads_are_written_with_capital_letters() -> None:
    head = b'HTTP/1.1 200 OK\r\ncontent-length: 3\r\netag: "a:b"\r\nx-request-id: 1'
    assert capitalize(head) == b'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nETag: "a:b"\r\nX-Request-Id: 1'


def test_only_the_first_write_is_a_head() -> None:
    written: list[bytes] = []

    class Transport:
        def write(self, data: bytes) -> None:
            written.append(data)

    transport = CapitalHead(Transport())
    transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    transport.write(b"HTTP/1.1 200 OK\r\netag: 1\r\n\r\n")
    transport.write(b"etag: 1\r\n\r\n")
    assert written[1:] == [b"HTTP/1.1 200 OK\r\nETag: 1\r\n\r\n", b"etag: 1\r\n\r\n"]
