"""The course of the demo: start, submit, show, wait for Ctrl-C, and clean up."""

from __future__ import annotations

import os
import secrets
import signal
import time
from contextlib import nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import Self

import click

from footplate.cli.demo.jobs import COLLEAGUE, OUT_OF_MEMORY, PROGRAMS, DemoJob, jobs_for
from footplate.cli.demo.server import DemoServer
from footplate.cli.language import phrase
from footplate.cli.reader import told
from footplate.cli.render import print_hints
from footplate.cli.table import print_table
from footplate.domain.errors import FootplateError
from footplate.domain.states import ACTIVE_STATES
from footplate.sdk.client import Client
from footplate.sdk.job import Job

LINK_S = 3600
SETTLE_WITHIN_S = 45.0
STOP_WITHIN_S = 20.0
COLUMNS = ("NAME", "OWNER", "STATE", "REASON")
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PAUSE_S = 0.2


class _Leaving(BaseException):
    """Somebody wants the demo to end."""


def run(home: Path | None, host: str | None, port: int | None, keeps: bool) -> None:
    """Run the demo until Ctrl-C, and leave nothing behind unless it `keeps` the home folder."""
    with _Signals() as signals:
        server = DemoServer(home, host, port)
        try:
            signals.heed()
            click.echo(phrase("Starting a demo server in {home} …", home=server.home))
            with server.connect() as client:
                _furnish_and_show(client, server.home)
            click.echo(
                phrase("Ctrl-C ends the demo and keeps {home}.", home=server.home)
                if keeps
                else phrase("Ctrl-C ends the demo and removes everything that it made.")
            )
            server.wait()
        except _Leaving:
            click.echo("\n" + phrase("Ending the demo …"))
        finally:
            signals.ignore()
            _end(server, keeps)


class _Signals:
    """Turns the signals that end programs into `_Leaving`.

    One that comes before they are heeded is kept until then: a server half started could not be ended.
    """

    def __init__(self) -> None:
        self._is_heeded = False
        self._has_come = False

    def __enter__(self) -> Self:
        self._before = {one: signal.signal(one, self._take) for one in ENDINGS}
        return self

    def __exit__(self, *_: object) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)

    def heed(self) -> None:
        self._is_heeded = True
        if self._has_come:
            raise _Leaving

    def ignore(self) -> None:
        for one in ENDINGS:
            signal.signal(one, signal.SIG_IGN)

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        self._has_come = True
        if self._is_heeded:
            raise _Leaving


def _furnish_and_show(client: Client, home: Path) -> None:
    (node,) = client.nodes()
    limits_memory = "memory" in node["enforced"]
    wanted = jobs_for(node["cpus"], limits_memory)
    jobs = _submit(client, wanted)
    _settle(jobs, wanted)
    print_table(COLUMNS, [(job.name, job.owner, job.state, told(job.reason.said)) for job in jobs], "")
    if not limits_memory:
        click.echo(
            phrase(
                "This machine does not enforce memory limits (`footplate doctor` says why), "
                "so {job} has one from `ulimit`.",
                job=OUT_OF_MEMORY,
            )
        )
    _show_ways_in(client, home)


def _submit(client: Client, wanted: list[DemoJob]) -> list[Job]:
    """Submit the jobs, some of them as a colleague."""
    password = secrets.token_urlsafe(16)
    client.create_user(COLLEAGUE, password)
    issued = client.login(COLLEAGUE, password, "demo")
    with Client(client.url, issued["token"]) as colleague:
        for one in wanted:
            (colleague if one.is_of_colleague else client).submit(one.fields, PROGRAMS)
    # As the admin, who outlives the colleague's client and may see and stop them all.
    return sorted(client.jobs(), key=lambda job: job.id)


def _settle(jobs: list[Job], wanted: list[DemoJob]) -> None:
    """Wait until each job shows what it is there for, though not for ever."""
    states = {one.fields["name"]: one.state for one in wanted}
    deadline = time.monotonic() + SETTLE_WITHIN_S
    while any(job.refresh().state != states[job.name] for job in jobs) and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)


def _show_ways_in(client: Client, home: Path) -> None:
    made = client.sign_in_link(expires_in_s=LINK_S)
    click.echo(
        "\n" + click.style(phrase("Open the console, signed in (works once, within an hour):"), bold=True)
    )
    click.echo(f"  {click.style(made['link'], fg='cyan', underline=True)}\n")
    hints = {phrase("in a terminal"): f"export FOOTPLATE_HOME={home}; footplate list"}
    if os.environ.get("SSH_CONNECTION"):
        port = client.url.rpartition(":")[2]
        hints[phrase("from your laptop, first")] = f"ssh -L {port}:127.0.0.1:{port} …"
    print_hints(hints)
    click.echo()


def _end(server: DemoServer, keeps: bool) -> None:
    """Stop the jobs, then the server; remove the rest."""
    client = server.client()
    # A server that does not answer stops nothing; what it has started ends by itself, within hours.
    with suppress(FootplateError), client or nullcontext():
        if client is not None:
            _stop_jobs(client)
    server.stop()
    if keeps:
        click.echo(phrase("Kept in {home}: footplate up --home {home}", home=server.home))
        return
    server.remove()
    click.echo(phrase("Removed {home}.", home=server.home))


def _stop_jobs(client: Client) -> None:
    deadline = time.monotonic() + STOP_WITHIN_S
    active = list(client.jobs(state=sorted(ACTIVE_STATES)))
    for job in active:
        job.stop(now=True)
    while active and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)
        active = list(client.jobs(state=sorted(ACTIVE_STATES)))
