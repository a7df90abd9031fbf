"""The server of the demo: a process of its own in a home folder of its own, both gone at the end."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from footplate.cli.language import phrase
from footplate.machine.foldertree import remove_tree
from footplate.sdk import settings
from footplate.sdk.client import Client

USUAL_PORT = 8750
START_WITHIN_S = 60.0
END_WITHIN_S = 20.0
LAST_LINES = 15
_PAUSE_S = 0.05


class DemoServer:
    """Started by the same program that runs here; it hears no Ctrl-C, since its jobs must end before it."""

    def __init__(self, home: Path | None, host: str | None, port: int | None) -> None:
        self.home = _fresh_home(home)
        self._log = self.home / "server.log"
        address = ["--host", host] if host else []
        port = _usual_or_free_port() if port is None and host is None else port or 0
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603  # our own program
                [sys.executable, "-m", "footplate", "up", "--home", self.home, "--port", str(port), *address],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=_own_environment(),
                start_new_session=True,
            )

    def connect(self) -> Client:
        """A client as the admin, once the server is ready."""
        deadline = time.monotonic() + START_WITHIN_S
        while (client := self.client()) is None:
            if self._process.poll() is not None or time.monotonic() > deadline:
                told = phrase("the demo's server did not start; the end of its log:")
                raise click.ClickException(f"{told}\n{self._last_lines()}")
            time.sleep(_PAUSE_S)
        return client

    def client(self) -> Client | None:
        """A client as the admin; None while the server has not said yet where it is."""
        found = settings.read(self.home / "client.toml")
        return Client(found.url, found.token) if found else None

    def wait(self) -> None:
        """Wait for as long as the server runs; raise when it ends by itself."""
        self._process.wait()
        told = phrase("the demo's server has ended; the end of its log:")
        raise click.ClickException(f"{told}\n{self._last_lines()}")

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(END_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def remove(self) -> None:
        """Remove the home folder with everything in it."""
        remove_tree(self.home)

    def _last_lines(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-LAST_LINES:])


def _fresh_home(home: Path | None) -> Path:
    """Make the folder of the demo; refuse one that has something in it, which may be somebody's jobs."""
    if home is None:
        return Path(tempfile.mkdtemp(prefix="footplate-demo-"))
    home = home.absolute()
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        is_used = any(home.iterdir())
    except OSError as error:
        raise click.ClickException(
            phrase("cannot write {path}: {error}", path=home, error=error.strerror)
        ) from None
    if is_used:
        raise click.ClickException(
            phrase(
                "{home} is not empty: a demo needs a folder of its own. Name a new one, or leave --home out",
                home=home,
            )
        )
    return home


def _usual_or_free_port() -> int:
    """The port that people know, unless a server has it already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", USUAL_PORT))
        except OSError:
            return 0
        return USUAL_PORT


def _own_environment() -> dict[str, str]:
    """Our environment without settings of Footplate: they may name the database of a real server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("FOOTPLATE_")}
