"""The agent in a task: runs the commands that the gang's launcher sends, and ends when the launcher ends."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
from typing import IO, NoReturn

from .channel import (
    BYE,
    ERR,
    EXIT,
    IN,
    IN_END,
    OUT,
    RUN,
    WATCH,
    Channel,
    Closed,
    Refused,
    gang_secret,
    welcome,
)
from .hosts import own_name, read_hosts, say, shell
from .surroundings import Surroundings

CHUNK_BYTES = 64 * 1024
KILL_AFTER_S = 5.0
LAUNCHER_LOST = 1


class Agent:
    """Accepts callers of the gang; each connection is one program or the launcher's watch."""

    def __init__(self, listener: socket.socket, secret: bytes, task: str) -> None:
        self._surroundings = Surroundings()
        self._listener = listener
        self._secret = secret
        self._task = task
        self._programs: set[subprocess.Popen[bytes]] = set()
        self._changing = threading.Lock()

    def serve(self) -> NoReturn:
        while True:
            peer, _ = self._listener.accept()
            threading.Thread(target=self._meet, args=(peer,), daemon=True).start()

    def _meet(self, peer: socket.socket) -> None:
        with peer:
            try:
                channel = welcome(peer, self._secret, self._task)
                kind, data = channel.receive()
                if kind == RUN:
                    self._run(channel, data.decode())
                elif kind == WATCH:
                    self._watch(channel)
            except Refused as refused:
                say(f"a caller was turned away: {refused}")
            except Closed:
                pass

    def _watch(self, channel: Channel) -> None:
        """Live as long as the launcher does."""
        channel.send(WATCH)
        try:
            kind, _ = channel.receive()
        except Closed:
            kind = b""
        if kind != BYE:
            say("the launcher has gone without a word; what it ran here is ended")
        self.end(0 if kind == BYE else LAUNCHER_LOST)

    def _run(self, channel: Channel, command: str) -> None:
        program = subprocess.Popen(
            [shell(), "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=self._surroundings.for_ranks(),
        )
        with self._changing:
            self._programs.add(program)
        threading.Thread(target=_feed, args=(channel, program), daemon=True).start()
        try:
            _relay(channel, program)
        finally:
            end_program(program)
            with self._changing:
                self._programs.discard(program)

    def end(self, code: int) -> NoReturn:
        with self._changing:
            programs = list(self._programs)
        for program in programs:
            _signal(program, signal.SIGTERM)
        for program in programs:
            end_program(program)
        self._surroundings.remove()
        os._exit(code)


def _relay(channel: Channel, program: subprocess.Popen[bytes]) -> None:
    """Send what a program prints, then how it ended."""
    assert program.stdout is not None
    assert program.stderr is not None
    pumps: list[threading.Thread] = []
    for kind, stream in ((OUT, program.stdout), (ERR, program.stderr)):
        pump = threading.Thread(target=_pump, args=(channel, kind, stream), daemon=True)
        pump.start()
        pumps.append(pump)
    code = program.wait()
    for pump in pumps:
        pump.join()
    channel.send(EXIT, str(code if code >= 0 else 128 - code).encode())


def _pump(channel: Channel, kind: bytes, stream: IO[bytes]) -> None:
    try:
        while data := os.read(stream.fileno(), CHUNK_BYTES):
            channel.send(kind, data)
    except Closed:
        pass


def _feed(channel: Channel, program: subprocess.Popen[bytes]) -> None:
    """Pass on what the caller sends; a caller that goes away takes the program with it."""
    assert program.stdin is not None
    try:
        while True:
            kind, data = channel.receive()
            if kind == IN:
                _write(program.stdin, data)
            elif kind == IN_END:
                program.stdin.close()
    except Closed:
        end_program(program)


def _write(stream: IO[bytes], data: bytes) -> None:
    try:
        stream.write(data)
        stream.flush()
    except OSError:
        # The program reads no more, which is its own affair.
        pass


def end_program(program: subprocess.Popen[bytes]) -> None:
    """End a program and all of its session: politely, soon after by force."""
    if program.poll() is None:
        _signal(program, signal.SIGTERM)
        try:
            program.wait(KILL_AFTER_S)
        except subprocess.TimeoutExpired:
            _signal(program, signal.SIGKILL)
            program.wait()


def _signal(program: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, number)


def main(_words: list[str]) -> int:
    secret, own = gang_secret(os.environ), read_hosts()[own_name()]
    # Elsewhere than on one machine the address may be one that the network gives to this task from outside.
    host = own.address if own.address.startswith("127.") else ""
    agent = Agent(socket.create_server((host, own.port), backlog=512), secret, own.name)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=agent.end, args=(143,)).start())
    say(f"{own.name} is ready for the launcher")
    agent.serve()
