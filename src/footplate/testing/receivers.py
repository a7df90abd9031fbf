"""Real receivers of notices: an HTTP server that remembers what was posted, and an SMTP server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Posted:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        return dict(json.loads(self.body))


@dataclass
class Hook:
    """Answers posts with `answers`, one after the other, the last one for all that follow."""

    url: str
    posts: list[Posted] = field(default_factory=list)
    answers: list[tuple[int, str]] = field(default_factory=lambda: [(200, "ok")])

    def answer(self, *answers: tuple[int, str]) -> None:
        self.answers[:] = answers

    def next_answer(self) -> tuple[int, str]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def hook_receiver() -> Iterator[Hook]:
    """Serve on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name that the standard library asks for
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            hook.posts.append(Posted(self.path, dict(self.headers.items()), body))
            status, text = hook.next_answer()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # its name there
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hook = Hook(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hook
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Mailbox:
    """What a mail server has taken, and what it answers to letters."""

    host: str
    port: int
    messages: list[EmailMessage] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)
    answer: str = "250 taken"


async def _end_tasks() -> None:
    """End the conversations that are still open."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        if task is not None:
            task.cancel()
    await asyncio.gather(*(task for task in others if task), return_exceptions=True)


@contextmanager
def mail_receiver(password: str = "") -> Iterator[Mailbox]:
    """Serve SMTP on a free port of loopback; with a password, only for those who sign in with it."""
    from aiosmtpd.smtp import SMTP, AuthResult

    class Handler:
        async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
            if mailbox.answer.startswith("250"):
                message = message_from_bytes(envelope.content, policy=policy.default)
                assert isinstance(message, EmailMessage)
                mailbox.messages.append(message)
            return mailbox.answer

    def sign_in(_server: Any, _session: Any, _envelope: Any, _mechanism: str, login: Any) -> AuthResult:
        given = (login.login.decode(), login.password.decode())
        mailbox.logins.append(given)
        return AuthResult(success=given[1] == password, handled=False)

    more: dict[str, Any] = {}
    if password:
        more = {"authenticator": sign_in, "auth_required": True, "auth_require_tls": False}
    loop = asyncio.new_event_loop()
    serving = loop.create_server(lambda: SMTP(Handler(), loop=loop, **more), "127.0.0.1", 0)
    server = loop.run_until_complete(serving)
    mailbox = Mailbox("127.0.0.1", server.sockets[0].getsockname()[1])
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield mailbox
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        loop.run_until_complete(_end_tasks())
        loop.close()
