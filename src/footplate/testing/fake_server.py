"""A server on a real socket that answers what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class Asked:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """An answer; `pieces` are sent one by one, and `is_cut` ends the connection without its proper end."""

    status: int = 200
    data: Any = None
    content: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    pieces: Iterable[bytes] | None = None
    is_cut: bool = False


Answer = Callable[[Asked], Reply]


class FakeServer:
    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._answers: dict[tuple[str, str], list[Answer]] = {}
        handler = type("Handler", (_Handler,), {"fake": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def on(self, route: str, *answers: Any) -> None:
        """Answer `METHOD /path` with each of these in turn, the last one for ever."""
        method, _, path = route.partition(" ")
        self._answers[method, path] = [_answer(one) for one in answers]

    def requests(self, route: str) -> list[Asked]:
        method, _, path = route.partition(" ")
        return [one for one in self.asked if (one.method, one.path) == (method, path)]

    def reply_to(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        answers = self._answers.get((asked.method, asked.path))
        if not answers:
            return error("not_found", f"no {asked.method} {asked.path} here", 404)
        return (answers.pop(0) if len(answers) > 1 else answers[0])(asked)


def _answer(one: Any) -> Answer:
    if callable(one):
        answer: Answer = one
        return answer
    reply = one if isinstance(one, Reply) else Reply(data=one)
    return lambda _: reply


def error(code: str, message: str, status: int, *problems: tuple[str, str]) -> Reply:
    named = [{"path": path, "message": text} for path, text in problems]
    return Reply(status, {"code": code, "message": message, "problems": named, "request_id": "r1"})


def stream(*events: tuple[str, Any, str] | tuple[str, Any], is_cut: bool = False) -> Reply:
    """Server-sent events, each as (kind, data[, id])."""
    pieces = []
    for kind, data, *cursor in events:
        mark = f"id: {cursor[0]}\n" if cursor else ""
        pieces.append(f"event: {kind}\n{mark}data: {json.dumps(data)}\n\n".encode())
    return Reply(headers={"Content-Type": "text/event-stream"}, pieces=pieces, is_cut=is_cut)


class _Handler(BaseHTTPRequestHandler):
    fake: ClassVar[FakeServer]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        size = int(self.headers.get("Content-Length") or 0)
        asked = Asked(
            self.command,
            unquote(parts.path).removeprefix("/api/v1"),
            parse_qs(parts.query),
            {
                **{name.lower(): value for name, value in self.headers.items()},
                "x-peer": str(self.client_address),
            },
            self.rfile.read(size),
        )
        self._send(self.fake.reply_to(asked))

    do_POST = do_PATCH = do_DELETE = do_PUT = do_HEAD = do_GET  # noqa: N815

    def _send(self, reply: Reply) -> None:
        if reply.status == 0:
            self.close_connection = True
            return
        content = reply.content if reply.content is not None else b""
        if reply.data is not None:
            content = json.dumps(reply.data).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.pieces is None:
            self.send_header("Content-Length", str(len(content)))
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if reply.pieces is None:
            self.wfile.write(b"" if self.command == "HEAD" else content)
            return
        for piece in reply.pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        if reply.is_cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        pass


def job(**changes: Any) -> dict[str, Any]:
    """A job's detail as the API gives it; a test states only what it is about."""
    state = changes.get("state", "RUNNING")
    data: dict[str, Any] = {
        "id": "0abcdefghjk1",
        "name": "digits",
        "description": "",
        "owner": "ada",
        "queue": "default",
        "state": state,
        "reason": {"code": state.lower(), "message": f"it is {state.lower()}", "details": {}},
        "priority": 0,
        "is_shared": False,
        "is_readable": True,
        "attempt": 0,
        "retries_used": 0,
        "retry": 0,
        "n_tasks": 1,
        "resources": {"cpus": 1, "memory_bytes": 1024**3, "gpus": 0},
        "tags": [],
        "submitted_at": "2026-11-15T08:00:00.000Z",
        "queued_at": "2026-11-15T08:00:00.000Z",
        "started_at": None,
        "running_at": None,
        "finished_at": None,
        "run_time_s": None,
        "position": None,
        "is_deleting": False,
        "tasks": [task()],
        "config": {"name": "digits", "command": "true"},
        "can": {"stop": True, "edit": True, "delete": True},
    }
    return {**data, **changes}


def task(role: str = "main", index: int = 0, **changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "role": role,
        "index": index,
        "name": f"{role}-{index}",
        "state": "RUNNING",
        "node": "here",
        "address": "127.0.0.1",
        "gpus": [],
        "ports": {},
        "exit_code": None,
        "detail": "",
        "started_at": None,
        "finished_at": None,
    }
    return {**data, **changes}
