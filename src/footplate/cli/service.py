"""The verb install-service: run the server under systemd."""

from __future__ import annotations

import grp
import json
import os
import pwd
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.serviceplan import File, Plan, Wish, install, uninstall, unit_text
from footplate.cli.session import json_option, print_json

VERIFY_S = 30
BOOTED = Path("/run/systemd/system")
FOR_EVERYBODY = "python3 -m venv /opt/footplate && /opt/footplate/bin/pip install 'footplate[server]'"


class Say:
    """Tells people what is done; where a program reads the result, beside it."""

    def __init__(self, is_beside: bool) -> None:
        self._is_beside = is_beside

    def __call__(self, line: str) -> None:
        click.echo(line, err=self._is_beside)


@click.command("install-service")
@click.option("--name", default="footplate", show_default=True, help="Name of the unit.")
@click.option(
    "--user", default="footplate", show_default=True, help="Account that runs the server; created if missing."
)
@click.option(
    "--home",
    type=click.Path(path_type=Path),
    default="/var/lib/footplate",
    show_default=True,
    help="Home folder of the server.",
)
@click.option("--host", default="", help="Address to listen on (default: loopback).")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on (default: 8750).")
@click.option("--public-url", default="", help="Public address, such as that of a reverse proxy.")
@click.option("--tls-cert", default="", metavar="FILE", help="Certificate (PEM) for HTTPS.")
@click.option("--tls-key", default="", metavar="FILE", help="The certificate's key.")
@click.option("--group", "groups", multiple=True, help="Additional group of the account; may be repeated.")
@click.option("--no-start", is_flag=True, help="Do not enable or start the service.")
@click.option("--dry-run", is_flag=True, help="Print what would be done, and do nothing.")
@click.option(
    "--destdir",
    type=click.Path(file_okay=False, path_type=Path),
    help="For packagers: write the files below this folder, and run no command.",
)
@click.option(
    "--uninstall", "is_removing", is_flag=True, help="Remove the service; data and running tasks stay."
)
@json_option
def install_service(
    name: str,
    user: str,
    home: Path,
    groups: tuple[str, ...],
    no_start: bool,
    dry_run: bool,
    destdir: Path | None,
    is_removing: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Run the server under systemd: create an account, a home folder and a unit, and start it.

    The unit leaves tasks alone when the server stops, and lets the server make control groups.
    """
    program = Path(sys.executable).parent / "footplate"
    wish = Wish(
        name, user, home.absolute(), program, groups=groups, systemd_version=_systemd_version(), **asked
    )
    _refuse_odd(wish)
    has_account = _has_account(user)
    plan = uninstall(wish, has_account) if is_removing else install(wish, has_account, not no_start)
    if not dry_run:
        _do(wish, plan, destdir, is_removing, Say(as_json))
    if as_json:
        print_json(json.loads(json.dumps(asdict(plan), default=str)))
    elif dry_run:
        _print(plan)


def _do(wish: Wish, plan: Plan, destdir: Path | None, is_removing: bool, say: Say) -> None:
    if destdir is None:
        _refuse_here()
    if not is_removing:
        _refuse_unreachable(wish)
        _refuse_unreadable(wish)
        _verify(wish)
    _carry_out(plan, destdir, say)
    for note in plan.notes:
        say(note)


def _systemd_version() -> int:
    program = shutil.which("systemctl")
    if program is None:
        return 255
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    words = said.stdout.split()
    return int(words[1]) if len(words) > 1 and words[1].isdecimal() else 255


def _has_account(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def _refuse_odd(wish: Wish) -> None:
    if bool(wish.tls_cert) != bool(wish.tls_key):
        raise click.UsageError(phrase("a certificate needs its key: give both --tls-cert and --tls-key"))
    for option, path in (("--tls-cert", wish.tls_cert), ("--tls-key", wish.tls_key)):
        if path and not Path(path).is_absolute():
            raise click.UsageError(phrase("{option} {path}: give an absolute path", option=option, path=path))
    for word in (wish.name, wish.user, *wish.groups):
        if not word or not all(char.isalnum() or char in "_.-@" for char in word) or word.startswith("-"):
            wrong = phrase(
                "{name:quoted} cannot be a name: only letters, digits and _ . - @ are allowed", name=word
            )
            raise click.UsageError(wrong)


def _refuse_here() -> None:
    if os.geteuid() != 0:
        line = shlex.join(["sudo", *sys.argv])
        raise click.ClickException(phrase("only root can do that: {line}", line=line))
    if not BOOTED.is_dir():
        raise click.ClickException(
            phrase(
                "this machine does not run systemd; --dry-run prints the unit and the commands, to set up "
                "your service manager by hand"
            )
        )


def _refuse_unreachable(wish: Wish) -> None:
    """Refuse a program in a folder that the account cannot enter, as below /root."""
    if wish.user == "root":
        return
    for folder in wish.program.resolve().parents:
        if not stat.S_IMODE(folder.stat().st_mode) & stat.S_IXOTH:
            raise click.ClickException(
                phrase(
                    "the account {user} cannot enter {folder}, where Footplate is installed: install it for "
                    "everybody, `{install}`, and run /opt/footplate/bin/footplate install-service",
                    user=wish.user,
                    folder=folder,
                    install=FOR_EVERYBODY,
                )
            )


def _refuse_unreadable(wish: Wish) -> None:
    """Refuse files of a certificate that are not there, or that the account will not be able to read."""
    for path in (Path(one) for one in (wish.tls_cert, wish.tls_key) if one):
        try:
            closed = next((part for part in (path, *path.parents) if not _is_open(part, wish)), None)
        except OSError as error:
            wrong = phrase("cannot read {path}: {error}", path=path, error=error.strerror)
            raise click.ClickException(wrong) from None
        if closed is not None:
            raise click.ClickException(
                phrase(
                    "the account {user} cannot read {path}: it has no access to {closed}. Copy certificate "
                    "and key to where it can read them (after each renewal too), or add the account to their "
                    "group with --group",
                    user=wish.user,
                    path=path,
                    closed=closed,
                )
            )


def _is_open(path: Path, wish: Wish) -> bool:
    """Tell whether the account will be able to read a file, or to go through a folder."""
    found = path.stat()
    group = {entry.gr_gid: entry.gr_name for entry in grp.getgrall()}.get(found.st_gid, "")
    need = stat.S_IXOTH if stat.S_ISDIR(found.st_mode) else stat.S_IROTH
    is_owner = _has_account(wish.user) and pwd.getpwnam(wish.user).pw_uid == found.st_uid
    if wish.user == "root" or (is_owner and found.st_mode & need << 6):
        return True
    is_member = group in (wish.user, *wish.groups)
    return bool(found.st_mode & need or (is_member and found.st_mode & need << 3))


def _verify(wish: Wish) -> None:
    """Have systemd read the unit before it is put in place."""
    program = shutil.which("systemd-analyze")
    if program is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / wish.unit.name
        unit.write_text(unit_text(wish))
        words = [program, "verify", str(unit)]
        said = subprocess.run(words, capture_output=True, text=True, check=False, timeout=VERIFY_S)  # noqa: S603
    mine = [line for line in said.stderr.splitlines() if wish.unit.name in line]
    if said.returncode and mine:
        raise click.ClickException(phrase("systemd rejects the unit: {why}", why="; ".join(mine)))


def _print(plan: Plan) -> None:
    for command in plan.before:
        click.echo(f"$ {shlex.join(command)}")
    for file in plan.files:
        what = {"path": file.path, "mode": f"{file.mode:04o}", "owner": file.owner}
        if file.is_kept:
            click.echo(phrase("write {path} (mode {mode}, owner {owner}), unless it exists:", **what))
        else:
            click.echo(phrase("write {path} (mode {mode}, owner {owner}):", **what))
        click.echo("".join(f"    {line}\n" for line in file.text.splitlines()), nl=False)
    for command in plan.after:
        click.echo(f"$ {shlex.join(command)}")
    for note in plan.notes:
        click.echo(phrase("note: {note}", note=note))


def _carry_out(plan: Plan, destdir: Path | None, say: Say) -> None:
    _run(plan.before, destdir, say, plan.is_tolerant)
    for file in plan.files:
        path = destdir / file.path.relative_to("/") if destdir else file.path
        if file.is_kept and path.exists():
            say(phrase("{path} exists and was left unchanged", path=path))
            continue
        _write(file, path, is_owned=destdir is None)
        say(phrase("wrote {path}", path=path))
    _run(plan.after, destdir, say, plan.is_tolerant)


def _write(file: File, path: Path, is_owned: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.new")
    half.unlink(missing_ok=True)
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.mode), "w") as out:
        out.write(file.text)
        os.fchmod(out.fileno(), file.mode)
    if is_owned:
        shutil.chown(half, file.owner, file.owner)
    half.replace(path)


def _run(commands: Sequence[Sequence[str]], destdir: Path | None, say: Say, is_tolerant: bool) -> None:
    for command in commands:
        if destdir is not None:
            say(phrase("still to do: {command}", command=shlex.join(command)))
            continue
        say(f"$ {shlex.join(command)}")
        # What it prints is for people, who read it where programs do not look.
        done = subprocess.run(command, stdout=sys.stderr, check=False)  # noqa: S603
        if done.returncode and not is_tolerant:
            failed = {"command": shlex.join(command), "code": done.returncode}
            raise click.ClickException(phrase("`{command}` failed with exit code {code}", **failed))
