"""Requests that are carried to a service: over a real port, to a browser that may leave."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from starlette.types import Message

from footplate.domain.errors import EngineUnavailable
from footplate.engines.streams import HELD_BYTES, connection
from footplate.server.proxy.requests import relay
from footplate.services.openings import Opening
from footplate.testing import builders

WITHIN_S = 20
MB = 1024**2
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def port_of(serve: Serve) -> AsyncIterator[int]:
    """A service that reads the head of a request and then does what it is given to do."""

    is_done = asyncio.Event()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            await serve(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        is_done.set()

    server = await asyncio.start_server(one, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
        async with asyncio.timeout(WITHIN_S):
            await is_done.wait()
    finally:
        server.close()


class Browser:
    """What a browser has been told, and when it leaves."""

    def __init__(self) -> None:
        self.told: list[Message] = []
        self.leaves = asyncio.Event()
        self._asks = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive(self) -> Message:
        for message in self._asks:
            return message
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.told.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.told)


async def ask(port: int, browser: Browser, method: str = "GET", barred: asyncio.Event | None = None) -> None:
    """Carry one request to a port and its answer back."""
    barred = barred or asyncio.Event()

    async def until_barred() -> None:
        await barred.wait()

    opening = Opening((builders.running(),), "main", 0, str(port), port)
    headers = [(b"host", b"127.0.0.1")]
    scope = {"type": "http", "method": method, "headers": headers, "query_string": b"", "scheme": "http"}
    async with asyncio.timeout(WITHIN_S), connection("127.0.0.1", port) as stream:
        await relay(scope, browser.receive, browser.send, stream, b"/", opening, until_barred)


HEAD = b"HTTP/1.1 200 OK\r\n"
ANSWERS = {
    "of a known size": ([HEAD + b"Content-Length: 6\r\n\r\nabcdef"], b"abcdef"),
    "whose head comes alone": ([HEAD + b"Content-Length: 6\r\n\r\n", b"abc", b"def"], b"abcdef"),
    "whose head comes in two": ([HEAD + b"Content-Le", b"ngth: 6\r\n\r\nab", b"cdef"], b"abcdef"),
    "that says more than it announced": ([HEAD + b"Content-Length: 3\r\n\r\na", b"bcd", b"ef"], b"abc"),
    "without a body": ([HEAD + b"Content-Length: 0\r\n\r\n"], b""),
    "in chunks": (
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", b"3\r\ndef\r\n0\r\n\r\n"],
        b"abcdef",
    ),
    "that ends with the connection": ([HEAD + b"\r\nabc", b"def"], b"abcdef"),
    "after a notice": ([b"HTTP/1.1 103 Early\r\n\r\n", HEAD + b"Content-Length: 1\r\n\r\na"], b"a"),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_comes_through_as_it_was_meant(kind: str) -> None:
    pieces, expected = ANSWERS[kind]

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            # So that each comes by itself.
            await writer.drain()
            await asyncio.sleep(0)

    async def tried() -> None:
        browser = Browser()
        async with port_of(serve) as port:
            await ask(port, browser)
        assert browser.body == expected
        assert [bool(one.get("more_body")) for one in browser.told][-1] is False

    asyncio.run(tried())


def test_an_answer_that_is_none_is_told_as_such() -> None:
    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"what?")

    async def tried() -> None:
        browser = Browser()
        async with port_of(serve) as port:
            with pytest.raises(EngineUnavailable, match="gave no answer"):
                await ask(port, browser)
        assert browser.told == [], "whoever asked can still be told why"

    asyncio.run(tried())


LED = {
    b"/deep?x=1": b"{prefix}/deep?x=1",
    b"http://127.0.0.1/deep": b"{prefix}/deep",
    b"http://127.0.0.1:{port}/deep?x=1#y": b"{prefix}/deep?x=1#y",
    b"http://localhost:{port}": b"{prefix}/",
    b"deeper": b"deeper",
    b"http://127.0.0.1:1/": b"http://127.0.0.1:1/",
    b"https://example.org/deep": b"https://example.org/deep",
    b"http://[nonsense/": b"http://[nonsense/",
}


@pytest.mark.parametrize("location", LED)
def test_a_service_that_leads_to_itself_leads_below_its_prefix(location: bytes) -> None:
    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        port = str(writer.get_extra_info("sockname")[1]).encode()
        writer.write(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n")
        writer.write(b"Location: %s\r\n\r\n" % location.replace(b"{port}", port))

    async def tried() -> None:
        browser = Browser()
        async with port_of(serve) as port:
            await ask(port, browser)
        prefix = Opening((builders.running(),), "main", 0, str(port), port).prefix.rstrip("/")
        expected = LED[location].replace(b"{prefix}", prefix.encode())
        assert (b"location", expected) in browser.told[0]["headers"]

    asyncio.run(tried())


CUT = {
    "of a known size": HEAD + b"Content-Length: 6\r\n\r\nabc",
    "in chunks": HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    "in chunks that are none": HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nx\r\n",
}


@pytest.mark.parametrize("kind", CUT)
def test_an_answer_that_is_cut_short_is_not_told_as_whole(kind: str) -> None:
    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CUT[kind])

    async def tried() -> None:
        browser = Browser()
        async with port_of(serve) as port:
            await ask(port, browser)
        assert browser.body == b"abc"
        # The connection is cut instead.
        assert all(one["more_body"] for one in browser.told[1:])

    asyncio.run(tried())


def test_the_answer_to_a_question_for_the_head_waits_for_no_body() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: 1000\r\n\r\n")
        await reader.read()

    async def tried() -> None:
        browser = Browser()
        async with port_of(serve) as port:
            await ask(port, browser, "HEAD")
        assert (b"content-length", b"1000") in browser.told[0]["headers"]
        assert browser.body == b""

    asyncio.run(tried())


@pytest.mark.parametrize("is_barred", [False, True])
@pytest.mark.parametrize("head", [HEAD + b"\r\n", HEAD + b"Content-Length: 1000000000\r\n\r\n"])
def test_an_answer_without_an_end_is_given_up_when_its_browser_leaves_or_has_to(
    head: bytes, is_barred: bool
) -> None:
    """Streams of events have no end: each page that was closed would leave one behind."""

    async def tried() -> None:
        browser, is_left, barred = Browser(), asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(head + b"data: 1\n\n")
            await reader.read()
            is_left.set()

        async with port_of(serve) as port:
            asking = asyncio.create_task(ask(port, browser, barred=barred))
            async with asyncio.timeout(WITHIN_S):
                while not browser.body:
                    await asyncio.sleep(0)
            (barred if is_barred else browser.leaves).set()
            await asking
            async with asyncio.timeout(WITHIN_S):
                await is_left.wait()

    asyncio.run(tried())


def test_a_service_that_says_more_than_a_browser_takes_has_to_wait() -> None:
    async def tried() -> None:
        n_said, may_take = 0, asyncio.Event()

        async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal n_said
            writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % (200 * MB))
            for _ in range(200):
                writer.write(bytes(MB))
                await writer.drain()
                n_said += 1

        class Slow(Browser):
            n_bytes = 0

            async def send(self, message: Message) -> None:
                body = message.get("body", b"")
                assert len(body) <= HELD_BYTES
                self.n_bytes += len(body)
                if body:
                    await may_take.wait()

        browser = Slow()
        async with port_of(serve) as port:
            asking = asyncio.create_task(ask(port, browser))
            n_before = -1
            # What the two sockets hold is said; then it stands still.
            while n_said != n_before or not n_said:
                n_before = n_said
                await asyncio.sleep(0.2)
            assert n_said < 50
            may_take.set()
            await asking
        assert browser.n_bytes == 200 * MB

    asyncio.run(tried())
