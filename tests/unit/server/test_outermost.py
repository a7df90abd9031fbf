"""Whatever happens inside the app, a caller gets an answer in our own form."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footplate.domain.errors import FootplateError, Starting
from footplate.server.outermost import Outermost

SCOPE = {"type": "http", "method": "GET", "path": "/api/v1/jobs"}
START: Message = {"type": "http.response.start", "status": 200, "headers": []}
END: Message = {"type": "http.response.body", "body": b"done"}


async def breaks(scope: Scope, receive: Receive, send: Send) -> None:
    raise RuntimeError("a fault of ours")


async def breaks_halfway(scope: Scope, receive: Receive, send: Send) -> None:
    await send(START)
    raise RuntimeError("a fault of ours")


async def breaks_after_its_answer(scope: Scope, receive: Receive, send: Send) -> None:
    await send(START)
    await send(END)
    raise RuntimeError("told already")


async def takes_for_ever(scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.Event().wait()


async def call(app: ASGIApp, refusal: FootplateError | None = None, stops: bool = False) -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    calling = asyncio.ensure_future(Outermost(app, lambda: refusal, "/api/")(dict(SCOPE), receive, send))
    if stops:
        await asyncio.sleep(0)
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
    else:
        await calling
    return sent


def answer_of(sent: list[Message]) -> tuple[int, dict[str, Any]]:
    assert dict(sent[0]["headers"])[b"content-type"] == b"application/json"
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_a_fault_without_an_answer_is_answered_in_our_form() -> None:
    status, body = answer_of(asyncio.run(call(breaks)))
    assert (status, body["code"]) == (500, "internal")


def test_a_call_that_the_end_of_the_server_cuts_is_told_to_come_again() -> None:
    status, body = answer_of(asyncio.run(call(takes_for_ever, stops=True)))
    assert (status, body["code"]) == (503, "starting")
    assert "the server is stopping" in body["message"]


def test_a_server_that_is_not_ready_says_why() -> None:
    status, body = answer_of(asyncio.run(call(breaks, Starting("it waits for its disk"))))
    assert (status, body["message"]) == (503, "it waits for its disk")


def test_what_was_answered_in_full_is_no_fault_any_more() -> None:
    assert asyncio.run(call(breaks_after_its_answer)) == [START, END]


def test_an_answer_that_broke_halfway_is_cut() -> None:
    with pytest.raises(RuntimeError):
        asyncio.run(call(breaks_halfway))
