"""A remote shell into another task of the gang, called the way ssh is: `reach [OPTIONS] TASK COMMAND`."""

from __future__ import annotations

import os
import selectors
import shutil
import socket
import sys

from .channel import ERR, EXIT, IN, IN_END, OUT, RUN, Channel, Closed, Refused, gang_secret, greet
from .hosts import Host, own_name, read_hosts, say, shell
from .surroundings import own_ranks

CHUNK_BYTES = 64 * 1024
CONNECT_WITHIN_S = 30.0
# What ssh answers when the way there is the fault.
CANNOT_REACH = 255
OPTIONS_WITH_VALUE = frozenset("BbcDEeFIiJLlmOopQRSWw")


def split(words: list[str]) -> tuple[bool, str, list[str]]:
    """Take an ssh command line apart: whether input is wanted, the host, and the command."""
    flags, is_over, rest = _cut_options(words)
    if not rest:
        raise SystemExit("usage: footplate-rsh [OPTIONS] TASK [OPTIONS] COMMAND")
    command = rest[1:]
    if not is_over:
        # As with ssh, options may also stand between the host and the command.
        more, _, command = _cut_options(command)
        flags += more
    wants_input = not any(flag.startswith("n") for flag in flags)
    return wants_input, rest[0].rpartition("@")[2], command


def _cut_options(words: list[str]) -> tuple[list[str], bool, list[str]]:
    """Cut off the options at the beginning, and say whether a -- forbids more of them."""
    flags: list[str] = []
    i = 0
    while i < len(words) and words[i].startswith("-"):
        if words[i] == "--":
            return flags, True, words[i + 1 :]
        flag = words[i][1:]
        flags.append(flag)
        i += 2 if len(flag) == 1 and flag in OPTIONS_WITH_VALUE else 1
    return flags, False, words[i:]


def connect(host: Host, secret: bytes) -> Channel:
    peer = socket.create_connection((host.address, host.port), timeout=CONNECT_WITHIN_S)
    return greet(peer, secret, host.name)


def follow(channel: Channel, input_fd: int | None) -> int:
    """Pass input on and print what comes, until the program has ended."""
    with selectors.DefaultSelector() as ready:
        ready.register(channel.fileno(), selectors.EVENT_READ)
        if input_fd is None:
            channel.send(IN_END)
        else:
            try:
                ready.register(input_fd, selectors.EVENT_READ)
            except (PermissionError, ValueError):
                # A plain file or nothing: cannot be waited for, and is read at once.
                while _pass_on(channel, input_fd):
                    pass
        while True:
            for key, _ in ready.select():
                if key.fd != channel.fileno():
                    if not _pass_on(channel, key.fd):
                        ready.unregister(key.fd)
                    continue
                code = _take(channel)
                if code is not None:
                    return code


def _pass_on(channel: Channel, input_fd: int) -> bool:
    try:
        data = os.read(input_fd, CHUNK_BYTES)
    except OSError:
        data = b""
    channel.send(IN if data else IN_END, data)
    return bool(data)


def _take(channel: Channel) -> int | None:
    kind, data = channel.receive()
    if kind == EXIT:
        return int(data)
    if kind in (OUT, ERR):
        fd = 1 if kind == OUT else 2
        while data:
            data = data[os.write(fd, data) :]
    return None


def _call_ssh(words: list[str]) -> int:
    """Call the real program for hosts that are no tasks of ours."""
    ours = os.environ.get("FOOTPLATE_SHELLS", "")
    folders = [path for path in os.environ.get("PATH", "").split(os.pathsep) if path != ours]
    ssh = shutil.which("ssh", path=os.pathsep.join(folders))
    if ssh is not None:
        os.execv(ssh, ["ssh", *words])
    say(f"{split(words)[1]} is no task of this job, and ssh is not installed")
    return CANNOT_REACH


def main(words: list[str]) -> int:
    wants_input, name, command = split(words)
    host = read_hosts().get(name)
    if host is None:
        return _call_ssh(words)
    text = " ".join(command)
    if name == own_name():
        # Programs started here by name are ranks of this task, like those that agents start.
        os.execve(shell(), [shell(), "-c", text], {**os.environ, **own_ranks()})
    try:
        channel = connect(host, gang_secret(os.environ))
        channel.send(RUN, text.encode())
        return follow(channel, sys.stdin.fileno() if wants_input and sys.stdin else None)
    except (OSError, Closed, Refused) as error:
        say(f"task {name} cannot be reached at {host.address}:{host.port}: {error}")
        return CANNOT_REACH
