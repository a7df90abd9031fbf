"""A lean HTTP client, so that what is measured is the server and not the client."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from footplate.testing.process import ServerProcess


class Client:
    """One keep-alive connection."""

    def __init__(self, server: ServerProcess, token: str) -> None:
        self._port = server.port
        self._head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**20)
        payload = b"" if body is None else json.dumps(body).encode()
        head = f"{method} /api/v1{path} HTTP/1.1\r\n{self._head}Content-Length: {len(payload)}\r\n\r\n"
        self._writer.write(head.encode() + payload)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        status = int(answer.split(b" ", 2)[1])
        length = next(
            int(line.split(b":")[1])
            for line in answer.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        )
        data = await self._reader.readexactly(length)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {data[:500]!r}")
        return json.loads(data) if data else None

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def token_of(server: ServerProcess) -> str:
    with server.client() as client:
        return client.headers["Authorization"].removeprefix("Bearer ")


async def first_line(server: ServerProcess, token: str, path: str) -> str:
    """Follow a job's log over a connection of its own and return the first text that comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=2**20)
    try:
        head = f"GET /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n"
        writer.write(head.encode())
        kind = ""
        # The server sends each event as one chunk, so that no line of an event is cut.
        while line := (await asyncio.wait_for(reader.readline(), 30)).decode():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ").strip()
            elif kind == "log" and line.startswith("data: "):
                return str(json.loads(line.removeprefix("data: "))["text"])
    finally:
        writer.close()
    raise RuntimeError("the stream ended without a line")
