"""The verb doctor: which limits this machine can enforce, and which commands enable the rest."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from footplate import __version__
from footplate.checkup import NOT_HELD, OK, UNKNOWN, Check, Finding, carry_out
from footplate.cli.reader import told, told_in
from footplate.cli.session import asked_url, json_option, print_json
from footplate.cli.table import lay_out

LEAST_PYTHON = (3, 11)
ASKED_WITHIN_S = 5.0
COLORS = {OK: "green", NOT_HELD: "red", UNKNOWN: "yellow"}


@click.command()
@click.option(
    "--home", type=click.Path(file_okay=False, path_type=Path), help="Home folder (FOOTPLATE_HOME)."
)
@json_option
@click.pass_context
def doctor(ctx: click.Context, home: Path | None, as_json: bool) -> int:
    """Check this machine and its server: what works, what does not, and how to fix it.

    Run it as the server's account. It changes nothing; it ends with 1 when a server cannot work as it is.
    """
    found = [*carry_out(CHECKS, asked_url(ctx), home), *_of_the_machine(home)]
    if as_json:
        print_json({"findings": [asdict(one) for one in found]})
    else:
        _print(found)
    return int(any(one.is_needed and one.state == NOT_HELD for one in found))


def _print(found: list[Finding]) -> None:
    rows = [(one.name, one.state, one.meaning) for one in found]
    for line, one in zip(lay_out(("CHECK", "STATE", "MEANING"), rows), (None, *found), strict=True):
        colored = (
            line if one is None else line.replace(one.state, click.style(one.state, fg=COLORS[one.state]), 1)
        )
        click.echo(colored)
        if one is not None and one.advice and one.state != OK:
            click.echo(f"    {click.style('do:', bold=True)} {one.advice}")
    n_bad = sum(one.state == NOT_HELD for one in found)
    click.echo(
        f"\n{len(found)} checks, {n_bad} not held." if n_bad else f"\n{len(found)} checks, all is well."
    )


def check_python(_url: str | None, _home: Path | None) -> Iterator[Finding]:
    """The programs themselves."""
    state = OK if sys.version_info >= LEAST_PYTHON else NOT_HELD
    said = f"{platform.python_version()} at {sys.executable}; Footplate {__version__}"
    yield Finding("Python", state, said, "install Python 3.11 or newer", is_needed=True)


def check_server(url: str | None, home: Path | None) -> Iterator[Finding]:
    """The server that commands talk to: whether it answers, and what it says of its node."""
    from footplate.domain.errors import FootplateError, Unauthenticated
    from footplate.sdk.client import Client
    from footplate.sdk.errors import NotConfigured

    try:
        with Client(url, home=home, timeout_s=ASKED_WITHIN_S, give_up_s=ASKED_WITHIN_S) as client:
            version = str(client.version()["version"])
            yield Finding("server", OK, f"Footplate {version} answers at {client.url}")
            if version != __version__:
                said = f"it is of version {version}, this command of {__version__}"
                yield Finding("versions", NOT_HELD, said, "install the same version on both sides")
            for node in client.nodes():
                yield _node(node["name"], told_in(node.get("unenforced")))
    except NotConfigured as error:
        yield Finding("server", UNKNOWN, "none is known here", told(error.said))
    except Unauthenticated as error:
        yield Finding("login", UNKNOWN, told(error.said), "footplate login")
    except FootplateError as error:
        yield Finding("server", UNKNOWN, told(error.said))


def _node(name: str, unenforced: str) -> Finding:
    if unenforced:
        advice = "see the lines on limits below; footplate install-service"
        return Finding(f"node {name}", NOT_HELD, f"its server says: {unenforced}", advice)
    return Finding(f"node {name}", OK, "its server holds tasks to all that they ask for")


CHECKS: tuple[tuple[str, Check], ...] = (("Python", check_python), ("server", check_server))


def _of_the_machine(home: Path | None) -> list[Finding]:
    """What only a machine with the server's parts can be asked."""
    from footplate.domain.errors import FootplateError

    try:
        from footplate.server.machinechecks import CHECKS as MACHINE_CHECKS
        from footplate.server.settings import default_home, load
    except ModuleNotFoundError:
        advice = "pip install 'footplate[server]', where this machine is to run jobs"
        return [Finding("server's parts", UNKNOWN, "only the client is installed here", advice)]
    place = (home or default_home()).absolute()
    try:
        settings = load(place)
    except FootplateError as error:
        return [
            Finding("settings", NOT_HELD, told(error.said), f"change {place}/settings.toml", is_needed=True)
        ]
    has_file = (place / "settings.toml").exists()
    said = (
        f"{place}/settings.toml can be read" if has_file else "none in the home folder: all are as they come"
    )
    return [
        Finding("settings", OK, said),
        *carry_out(MACHINE_CHECKS, settings),
    ]
