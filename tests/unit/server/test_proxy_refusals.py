"""What browsers read that reach no service, in their language."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from footplate.server.proxy.door import ServiceDoor

PLACE = "/s/2mjvmkz028ne/main-0/jupyter/"


def ask(kind: str, **headers: str) -> list[dict[str, Any]]:
    """What the door sends to somebody who asks for a service that is not there."""
    sent: list[dict[str, Any]] = []
    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": "GET", "path": PLACE, "query_string": b"", "headers": given}

    async def receive() -> dict[str, Any]:
        return {"type": f"{kind}.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(ServiceDoor(lambda: None)(scope, receive, send))
    return sent


@pytest.mark.parametrize(
    ("wished", "words"),
    [
        ("", "this page belongs to a service of a job"),
        ("en-GB,en;q=0.9,zh;q=0.8", "this page belongs to a service of a job"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "此页面属于某个任务的服务"),
        ("de-DE, zh-TW", "此页面属于某个任务的服务"),
        ("de", "this page belongs to a service of a job"),
    ],
)
def test_a_page_says_in_the_language_of_the_browser_why_it_is_not_shown(wished: str, words: str) -> None:
    start, body = ask("http", accept_language=wished)
    assert start["status"] == 404
    assert body["body"].decode().startswith(words)


def test_a_reason_for_closing_a_websocket_is_whole_characters_in_the_room_that_there_is() -> None:
    (closed,) = ask("websocket", accept_language="zh")
    assert closed["type"] == "websocket.close"
    assert closed["reason"].startswith("此页面属于")
    assert 110 < len(closed["reason"].encode()) <= 123
