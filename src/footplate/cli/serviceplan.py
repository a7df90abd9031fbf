"""What `install-service` does to run the server under systemd, as values: an account, files and commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from footplate.cli.language import phrase

UNITS = Path("/etc/systemd/system")
ENVIRONMENT = Path("/etc/footplate/environment")
# From this version on, systemd itself can start a service whose tasks have outlived it; with an older one the
# server begins as root, takes a control group of its own, and then becomes the account (server/entering.py).
SUBGROUP_SINCE = 254
# The group into which a server steps aside by itself, where systemd does not put it there.
SUBGROUP = "footplate-server"
_SHELL = "/usr/sbin/nologin"

_UNIT = """\
[Unit]
Description=Footplate, a platform for training jobs
Wants=network-online.target
After=network-online.target remote-fs.target time-sync.target

[Service]
Type=exec
{account}ExecStart={program} up --home {home}{option}
# FOOTPLATE_DATABASE_URL and other things that are not for everybody's eyes.
EnvironmentFile=-{environment}
WorkingDirectory={folder}
UMask=0077
Restart=on-failure
RestartSec=2
TimeoutStopSec=30

# Tasks outlive the server: a stop ends the server alone, and the next start takes the tasks up again.
KillMode=process
# The server makes a control group for every task.
Delegate=yes
{subgroup}# A task that runs out of memory ends by itself.
OOMPolicy=continue
TasksMax=infinity
LimitNOFILE=1048576
LimitMEMLOCK=infinity

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True, slots=True)
class Wish:
    """The options of `install-service`."""

    name: str
    user: str
    home: Path
    program: Path
    host: str = ""
    port: int | None = None
    public_url: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    groups: tuple[str, ...] = ()
    systemd_version: int = SUBGROUP_SINCE

    @property
    def unit(self) -> Path:
        return UNITS / f"{self.name}.service"


@dataclass(frozen=True, slots=True)
class File:
    """A file to write; `is_kept` leaves one alone that is there."""

    path: Path
    text: str
    mode: int
    owner: str
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Commands before the files, the files, and commands after them; `notes` is what people should know.

    A tolerant one goes on when a command fails: what was to go may be gone.
    """

    before: tuple[Sequence[str], ...] = ()
    files: tuple[File, ...] = ()
    after: tuple[Sequence[str], ...] = ()
    notes: tuple[str, ...] = field(default=())
    is_tolerant: bool = False


def install(wish: Wish, has_account: bool, is_started: bool = True) -> Plan:
    """Say what installs a service."""
    home = str(wish.home)
    account = ["useradd", "--system", "--user-group", "--home-dir", home, "--no-create-home"]
    member = [["usermod", "--append", "--groups", ",".join(wish.groups), wish.user]] if wish.groups else []
    before = [
        *([] if has_account or wish.user == "root" else [[*account, "--shell", _SHELL, wish.user]]),
        *member,
        ["install", "-d", "-m", "0700", "-o", wish.user, "-g", wish.user, home],
    ]
    files = (
        File(wish.home / "settings.toml", settings_text(wish), 0o600, wish.user, is_kept=True),
        File(wish.unit, unit_text(wish), 0o644, "root"),
    )
    after = [["systemctl", "daemon-reload"]]
    if is_started:
        after.append(["systemctl", "enable", "--now", wish.unit.name])
    return Plan(tuple(before), files, tuple(after), tuple(_notes(wish)))


def uninstall(wish: Wish, has_account: bool) -> Plan:
    """Say what takes a service away; account, home folder and running tasks stay."""
    unit = wish.unit
    is_ours = has_account and wish.user != "root"
    remove = f"rm -rf {shlex.quote(str(wish.home))}" + (f"; userdel {wish.user}" if is_ours else "")
    note = phrase(
        "The home folder {home}[, the account {user}] and running tasks are left. To remove them: {remove}",
        home=wish.home,
        user=wish.user if is_ours else None,
        remove=remove,
    )
    return Plan(
        before=(["systemctl", "disable", "--now", unit.name], ["rm", "-f", str(unit)]),
        after=(["systemctl", "daemon-reload"],),
        notes=(note,),
        is_tolerant=True,
    )


def unit_text(wish: Wish) -> str:
    """Write the unit file."""
    has_subgroup = wish.systemd_version >= SUBGROUP_SINCE
    return _UNIT.format(
        account=_account(wish) if has_subgroup else "",
        option="" if has_subgroup else f" --account {wish.user}",
        program=_word(str(wish.program)),
        home=_word(str(wish.home)),
        # Not a word of a command: it is taken as it is.
        folder=str(wish.home).replace("%", "%%"),
        environment=ENVIRONMENT,
        subgroup=f"DelegateSubgroup={SUBGROUP}\n" if has_subgroup else "",
    )


def _account(wish: Wish) -> str:
    return f"User={wish.user}\nGroup={wish.user}\n"


def _word(text: str) -> str:
    """Write a word as systemd reads it: its own marks doubled, and quoted where there are spaces."""
    text = text.replace("%", "%%").replace("$", "$$")
    return f'"{text}"' if any(char.isspace() for char in text) else text


def settings_text(wish: Wish) -> str:
    """Write the first settings.toml, with only the settings that were passed as options."""
    asked = {
        "host": wish.host,
        "port": wish.port,
        "public_url": wish.public_url,
        "tls_cert": wish.tls_cert,
        "tls_key": wish.tls_key,
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in asked.items() if value not in ("", None)]
    return "\n".join(
        ["# Settings of this server; all of them are in docs/reference/settings.md.", *lines, ""]
    )


def _notes(wish: Wish) -> list[str]:
    notes = [
        phrase("Log, with the first password of admin: journalctl -u {unit}", unit=wish.unit.name),
        phrase(
            "Settings: {home}/settings.toml; after a change systemctl restart {name}: tasks go on",
            home=wish.home,
            name=wish.name,
        ),
    ]
    if wish.user != "root":
        notes.append(
            phrase(
                "The tasks of all users run as the account {user}. With --user root, the tasks of each user "
                "get host accounts of their own (docs/howto/run-a-server.md)",
                user=wish.user,
            )
        )
    if not wish.tls_cert and not wish.public_url:
        notes.append(
            phrase(
                "It listens on the loopback address only. For access from other machines, give --tls-cert "
                "and --tls-key, or put a TLS proxy in front and give its address with --public-url "
                "(docs/howto/run-a-server.md)"
            )
        )
    return notes
