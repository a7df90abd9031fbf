"""The verb doctor: which limits this machine can enforce, and which commands enable the rest."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from footplate import __version__
from footplate.cli.language import phrase
from footplate.cli.reader import told
from footplate.cli.session import asked_url, json_option, print_json
from footplate.cli.table import lay_out
from footplate.domain.messages import say, text
from footplate.sdk.errors import message_in
from footplate.wire.checkup import FAILED, OK, UNKNOWN, Check, Finding, State, carry_out

LEAST_PYTHON = (3, 11)
ASKED_WITHIN_S = 5.0
COLORS = {OK: "green", FAILED: "red", UNKNOWN: "yellow"}
COLUMNS = ("CHECK", "STATE", "RESULT")


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
        print_json({"findings": [_view(one) for one in found]})
    else:
        _print(found)
    return int(any(one.is_needed and one.state == FAILED for one in found))


def _print(found: list[Finding]) -> None:
    rows = [(told(one.named), _shown(one.state), told(one.said)) for one in found]
    head, *lines = lay_out(COLUMNS, rows)
    click.echo(head)
    for line, (_, state, _), one in zip(lines, rows, found, strict=True):
        click.echo(line.replace(state, click.style(state, fg=COLORS[one.state]), 1))
        if one.advised and one.state != OK:
            click.echo(f"    {click.style(phrase('fix:'), bold=True)} {told(one.advised)}")
    n_bad = sum(one.state == FAILED for one in found)
    said = say("checks_failed", n=len(found), n_bad=n_bad) if n_bad else say("checks_passed", n=len(found))
    click.echo(f"\n{told(said)}")


def _shown(state: State) -> str:
    return {OK: phrase("ok"), FAILED: phrase("failed"), UNKNOWN: phrase("unknown")}[state]


def _view(one: Finding) -> dict[str, Any]:
    shown = {"name": one.name, "state": one.state, "meaning": one.meaning, "advice": one.advice}
    return {**shown, "is_needed": one.is_needed}


def check_python(_url: str | None, _home: Path | None) -> Iterator[Finding]:
    """The programs themselves."""
    state = OK if sys.version_info >= LEAST_PYTHON else FAILED
    said = f"{platform.python_version()} at {sys.executable}; Footplate {__version__}"
    yield Finding(say("check_python"), state, text(said), say("install_python"), is_needed=True)


def check_server(url: str | None, home: Path | None) -> Iterator[Finding]:
    """The server that commands talk to: whether it answers, and what it says of its node."""
    from footplate.domain.errors import FootplateError, Unauthenticated
    from footplate.sdk.client import Client
    from footplate.sdk.errors import NotConfigured

    try:
        with Client(url, home=home, timeout_s=ASKED_WITHIN_S, give_up_s=ASKED_WITHIN_S) as client:
            version = str(client.version()["version"])
            yield Finding(say("check_server"), OK, say("server_answers", version=version, url=client.url))
            if version != __version__:
                said = say("versions_differ", server=version, client=__version__)
                yield Finding(say("check_versions"), FAILED, said, say("same_version"))
            for node in client.nodes():
                yield _node(node["name"], node.get("unenforced"))
    except NotConfigured as error:
        yield Finding(say("check_server"), UNKNOWN, say("no_server_here"), error.said)
    except Unauthenticated as error:
        yield Finding(say("check_login"), UNKNOWN, error.said, text("footplate login"))
    except FootplateError as error:
        yield Finding(say("check_server"), UNKNOWN, error.said)


def _node(name: str, unenforced: Mapping[str, Any] | None) -> Finding:
    if unenforced:
        said = say("server_says", what=message_in(unenforced))
        return Finding(say("check_node", node=name), FAILED, said, say("see_limits_below"))
    return Finding(say("check_node", node=name), OK, say("node_enforces_all"))


CHECKS: tuple[tuple[str, Check], ...] = (("check_python", check_python), ("check_server", check_server))


def _of_the_machine(home: Path | None) -> list[Finding]:
    """What only a machine with the server's parts can be asked."""
    from footplate.domain.errors import FootplateError

    try:
        from footplate.server.machinechecks import CHECKS as MACHINE_CHECKS
        from footplate.server.settings import default_home, load
    except ModuleNotFoundError:
        return [Finding(say("check_server_package"), UNKNOWN, say("client_only"), say("install_server"))]
    place = (home or default_home()).absolute()
    file = str(place / "settings.toml")
    try:
        settings = load(place)
    except FootplateError as error:
        return [
            Finding(say("check_settings"), FAILED, error.said, say("change_file", file=file), is_needed=True)
        ]
    said = say("settings_read", file=file) if Path(file).exists() else say("settings_default")
    return [
        Finding(say("check_settings"), OK, said),
        *carry_out(MACHINE_CHECKS, settings),
    ]
