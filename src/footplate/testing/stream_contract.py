"""Streams of engines as tests: commands inside of tasks, with input or a terminal, and ports of tasks."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable

import pytest

from footplate.domain.errors import EngineError
from footplate.domain.spec import RoleSpec
from footplate.engines.base import OpensStreams, Stream
from footplate.engines.streams import run
from footplate.testing.engine_bench import Bench, on_loop
from footplate.testing.process import free_port

# Listens at a port, and answers once.
ANSWER = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("ready", flush=True)
caller, _ = server.accept()
caller.sendall(b"you said " + caller.recv(100))
caller.close()
"""


def streaming(bench: Bench) -> OpensStreams:
    if not isinstance(bench.engine, OpensStreams):
        pytest.skip("this engine opens no streams")
    return bench.engine


class StreamContract:
    """For engines that run real commands."""

    @on_loop
    async def test_a_command_runs_in_a_task(self, bench: Bench) -> None:
        engine = streaming(bench)
        request = bench.compile(RoleSpec("echo here >file; echo ready; sleep 600", env={"GREETING": "hi"}))
        launched = await bench.start(request)
        await bench.until_logged(launched, b"ready")
        ran = await run(engine, request, "main", 0, ["sh", "-c", "echo $GREETING; cat file; exit 3"])
        assert (ran.exit_code, ran.output, ran.is_cut) == (3, b"hi\nhere\n", False)
        ran = await run(engine, request, "main", 0, ["sleep", "600"], timeout_s=0.3)
        assert ran.exit_code == 124
        ran = await run(engine, request, "main", 0, ["sh", "-c", "yes | head -c 100000"], most_bytes=10)
        assert (ran.output, ran.is_cut) == (b"y\ny\ny\ny\ny\n", True)

    @on_loop
    async def test_standard_error_comes_apart_where_that_is_asked_for(self, bench: Bench) -> None:
        engine = streaming(bench)
        request = bench.compile("echo ready; sleep 600")
        await bench.until_logged(await bench.start(request), b"ready")
        script = "echo out; echo wrong >&2; echo more; exit 6"
        async with engine.exec(request, "main", 0, ["sh", "-c", script], errors_apart=True) as stream:
            output, errors = await asyncio.gather(_whole(stream.read), _whole(stream.read_errors))
            assert (output, errors, await stream.wait()) == (b"out\nmore\n", b"wrong\n", 6)

    @on_loop
    async def test_a_command_in_a_task_reads_what_is_sent(self, bench: Bench) -> None:
        engine = streaming(bench)
        request = bench.compile("echo ready; sleep 600")
        await bench.until_logged(await bench.start(request), b"ready")
        sent = b"0123456789abcdef" * 50_000
        ran = await run(engine, request, "main", 0, ["wc", "-c"], stdin=sent)
        assert (ran.exit_code, ran.output.strip()) == (0, b"800000")

    @on_loop
    async def test_a_command_that_does_not_read_what_is_sent_ends_all_the_same(self, bench: Bench) -> None:
        engine = streaming(bench)
        request = bench.compile("echo ready; sleep 600")
        await bench.until_logged(await bench.start(request), b"ready")
        # It ends when its output has come: Podman drops output that it has not read when the input breaks.
        script = "echo said >&2; until [ -e go ]; do sleep 0.02; done; exit 4"
        async with engine.exec(request, "main", 0, ["sh", "-c", script]) as stream:
            sending = asyncio.create_task(stream.write(b"0123456789abcdef" * 50_000))
            await _until_shown(stream, b"said")
            assert (await run(engine, request, "main", 0, ["touch", "go"])).exit_code == 0
            assert await stream.wait() == 4
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    @on_loop
    async def test_a_command_in_a_task_may_have_a_terminal(self, bench: Bench) -> None:
        engine = streaming(bench)
        request = bench.compile("echo ready; sleep 600")
        await bench.until_logged(await bench.start(request), b"ready")
        # An engine may set the size a moment after the start.
        await_size = 'until [ "$(stty size)" = "30 100" ]; do sleep 0.02; done; echo sized'
        script = f'{await_size}; read -r line; stty size; echo "got $line"; [ -t 0 ] && [ -t 1 ] && exit 5'
        async with engine.exec(request, "main", 0, ["sh", "-c", script], terminal=(30, 100)) as stream:
            shown = await _until_shown(stream, b"sized")
            await stream.resize(40, 120)
            await stream.write(b"hello\n")
            shown += await _until_shown(stream, b"got hello")
            assert b"40 120" in shown
            assert await stream.wait() == 5

    @on_loop
    async def test_a_command_ends_with_its_stream(self, bench: Bench) -> None:
        engine = streaming(bench)
        request = bench.compile("echo ready; sleep 600")
        await bench.until_logged(await bench.start(request), b"ready")
        async with engine.exec(request, "main", 0, ["sh", "-c", "echo begun; sleep 601"]) as stream:
            await _until_shown(stream, b"begun")
        ran = await run(engine, request, "main", 0, ["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"])
        assert b"sleep 601" not in ran.output.replace(b"cat /proc", b"")

    @on_loop
    async def test_a_port_of_a_task_can_be_reached(self, bench: Bench) -> None:
        engine = streaming(bench)
        port = free_port()
        request = bench.compile(f"python3 -c {shlex.quote(ANSWER)} {port} || {{ echo ready; sleep 600; }}")
        launched = await bench.start(request)
        log = await bench.until_logged(launched, b"ready")
        if b"Error" in log or b"not found" in log:
            pytest.skip("the image has no Python")
        async with engine.connect(launched, launched.tasks[0], port) as stream:
            await stream.write(b"hello")
            assert await _until_shown(stream, b"hello") == b"you said hello"
            assert await stream.read() == b""
            assert await stream.wait() == 0
        with pytest.raises(EngineError):
            async with engine.connect(launched, launched.tasks[0], free_port()):
                pass


async def _until_shown(stream: Stream, text: bytes) -> bytes:
    shown = b""
    async with asyncio.timeout(20):
        while text not in shown:
            data = await stream.read()
            assert data, shown
            shown += data
    return shown


async def _whole(read: Callable[[], Awaitable[bytes]]) -> bytes:
    whole = b""
    async with asyncio.timeout(20):
        while data := await read():
            whole += data
    return whole
