"""`footplate up`: the platform in the foreground."""

from __future__ import annotations

import logging
import os
import platform
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.language import phrase
from footplate.domain.errors import FootplateError, Unauthenticated
from footplate.machine.wholefile import write_private

if TYPE_CHECKING:
    from footplate.server.parts import Parts
    from footplate.server.settings import Settings

LONGEST_NAME = 255


def _absolute(path: str) -> str:
    # Links stay links: what renews certificates moves them.
    return str(Path(path).absolute())


log = logging.getLogger(__name__)


@click.command()
@click.option(
    "--home", type=click.Path(file_okay=False, path_type=Path), help="Home folder (FOOTPLATE_HOME)."
)
@click.option("--host", help="Address to listen on (default: loopback).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 picks a free port.")
@click.option(
    "--standby",
    is_flag=True,
    help="Stand by: wait until no other server uses the home folder or the database.",
)
@click.option(
    "--take-over", is_flag=True, help="Take over the jobs of a home folder that is gone, or was copied."
)
@click.option(
    "--tls-cert",
    type=_absolute,
    metavar="FILE",
    help="Serve HTTPS with this certificate (PEM); needs --tls-key.",
)
@click.option(
    "--tls-key", type=_absolute, metavar="FILE", help="The certificate's key (PEM, without a passphrase)."
)
@click.option("--account", metavar="NAME", help="For services: start as root, then switch to this account.")
@click.option(
    "--demo",
    is_flag=True,
    help="Start a demo: a server of its own with jobs to look at. Ctrl-C removes all of it.",
)
@click.option("--keep", is_flag=True, help="With --demo: keep the home folder.")
@click.option("--verbose", is_flag=True, help="Log more.")
@click.pass_context
def up(
    ctx: click.Context,
    home: Path | None,
    host: str | None,
    port: int | None,
    standby: bool,
    take_over: bool,
    tls_cert: str | None,
    tls_key: str | None,
    account: str | None,
    demo: bool,
    keep: bool,
    verbose: bool,
) -> None:
    """Start the platform on this machine and run it until Ctrl-C.

    Running tasks go on when the server stops; the next start takes them up again.
    """
    if demo:
        _refuse_beside_demo(ctx, "standby", "take_over", "tls_cert", "tls_key", "account", "verbose")
        from footplate.cli.demo.tour import run

        run(home, host, port, keep)
        return
    if keep:
        ctx.fail(phrase("--keep goes only with --demo"))
    try:
        from footplate.server.entering import become
        from footplate.server.serve import serve
        from footplate.server.settings import default_home, load
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "footplate":
            raise
        raise click.ClickException(
            phrase("the server is not installed here, only the client: pip install 'footplate[server]'")
        ) from None

    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    for noisy in ("uvicorn.error", "alembic", "httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.WARNING)

    if account:
        become(account)
    given = {"host": host, "port": port, "tls_cert": tls_cert, "tls_key": tls_key}
    settings = load((home or default_home()).absolute(), os.environ, **given)
    serve(replace(settings, stands_by=standby, takes_over=take_over), _tell)


def _refuse_beside_demo(ctx: click.Context, *names: str) -> None:
    for name in names:
        if ctx.params[name]:
            ctx.fail(phrase("{option} does not go with --demo", option=f"--{name.replace('_', '-')}"))


async def _tell(settings: Settings, parts: Parts) -> None:
    """Say that the server is ready, and leave a token for the commands on this machine."""
    try:
        await _leave_token(settings, parts)
    except (OSError, FootplateError) as error:
        log.warning("no token is left for commands on this machine: %s; use `footplate login`", error)
    if parts.first_password is not None:
        password = parts.first_password
        click.echo(
            phrase("The first account is admin, its password {password} (shown only now)", password=password)
        )
    ready = {"url": settings.url, "home": settings.home}
    click.echo(phrase("Footplate is ready at {url} (home {home}); Ctrl-C stops it, not the jobs", **ready))


async def _leave_token(settings: Settings, parts: Parts) -> None:
    """Leave a token of the admin in the home folder, for commands of the same user on this machine."""
    from footplate.services.access import Caller

    path = settings.home / "client.toml"
    token = await _kept_token(path, parts)
    if not token:
        name = f"this machine ({platform.node()}:{settings.home})"[:LONGEST_NAME]
        token, _ = await parts.accounts.issue(Caller("admin", True), name, None, replaces=True)
    write_private(path, f'url = "{settings.url}"\ntoken = "{token}"\n'.encode())


async def _kept_token(path: Path, parts: Parts) -> str:
    """The token of an earlier start, when it still works: clients that use it go on without a gap."""
    try:
        token = str(tomllib.loads(path.read_text())["token"])
        await parts.accounts.identify(token)
    except (OSError, ValueError, KeyError, Unauthenticated):
        return ""
    return token
