"""The launcher of a gang: waits until all other tasks are ready, runs the command, ends the other tasks."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time

from .channel import BYE, WATCH, Channel, Closed, Refused, gang_secret
from .hosts import Host, listed, own_name, read_hosts, say, shell
from .reach import connect
from .surroundings import Surroundings

POLL_EVERY_S = 0.05
TELL_EVERY_S = 30.0
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


def gather(others: list[Host], secret: bytes) -> list[Channel]:
    """Wait for every task; those that prepare something first may take as long as they need."""
    waiting: dict[str, Host] = {host.name: host for host in others}
    watches: list[Channel] = []
    tell_at = time.monotonic() + TELL_EVERY_S
    while waiting:
        for host in list(waiting.values()):
            watch = _try(host, secret)
            if watch is not None:
                watches.append(watch)
                del waiting[host.name]
        if waiting and time.monotonic() > tell_at:
            say(f"waiting until {listed(list(waiting))} can be reached")
            tell_at = time.monotonic() + TELL_EVERY_S
        if waiting:
            time.sleep(POLL_EVERY_S)
    return watches


def _try(host: Host, secret: bytes) -> Channel | None:
    try:
        channel = connect(host, secret)
        channel.send(WATCH)
        channel.receive()
    except (OSError, Closed):
        return None
    except Refused as refused:
        where = f"{host.address}:{host.port}"
        raise SystemExit(f"footplate: {where} should be task {host.name}, but {refused}") from None
    return channel


def run(command: str, surroundings: Surroundings) -> int:
    """Run the user's command with the remote shells first on the path; signals are passed on to it."""
    program = shell()
    options = ["-e", "-o", "pipefail"] if program.endswith("bash") else ["-e"]
    child = subprocess.Popen([program, *options, "-c", command], env=surroundings.for_launcher())
    for number in FORWARDED:
        signal.signal(number, lambda received, _frame: child.send_signal(received))
    code = child.wait()
    return code if code >= 0 else 128 - code


def main(words: list[str]) -> int:
    (command,) = words
    hosts = read_hosts()
    watches = gather([host for host in hosts.values() if host.name != own_name()], gang_secret(os.environ))
    say(f"all others are ready ({len(watches)})")
    surroundings = Surroundings()
    try:
        return run(command, surroundings)
    finally:
        surroundings.remove()
        for watch in watches:
            _dismiss(watch)


def _dismiss(watch: Channel) -> None:
    with contextlib.suppress(Closed):
        watch.send(BYE)
    watch.close()
