"""What `footplate doctor` looks at on a server's machine: plain functions of its settings."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import sqlalchemy as sa

from footplate.domain.errors import InvalidInput
from footplate.domain.messages import Message, codes_in, say, text
from footplate.domain.resources import GIB
from footplate.engines.base import Limit
from footplate.engines.local.confine.confinement import ALL_LIMITS, BY_VIEW, Confinement, confine
from footplate.engines.local.confine.delegation import find_tree
from footplate.engines.local.containers.finding import find_socket
from footplate.engines.local.machine.devices import nvidia_nodes
from footplate.engines.local.machine.gpus import Cards
from footplate.engines.local.machine.settings import LocalSettings
from footplate.engines.local.process import native
from footplate.server.settings import Settings
from footplate.server.tls import Tls, describe
from footplate.store.database import open_engine, sqlite_url
from footplate.store.migrate import HEAD, known_versions, version
from footplate.wire.checkup import FAILED, OK, UNKNOWN, Check, Finding

LEAST_FREE_BYTES = 5 * GIB
ASKED_WITHIN_S = 5
# Locks, and SQLite's log of changes, cannot be relied on there.
NETWORKED = frozenset({"nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "glusterfs", "lustre", "afs"})


def check_home(settings: Settings) -> Iterator[Finding]:
    """The home folder: whose it is, who can look into it, and what it is on."""
    home = settings.home
    if not home.exists():
        yield Finding(
            say("check_home"), UNKNOWN, say("home_missing", home=str(home)), say("made_by_first_start")
        )
        return
    mode, owner = stat.S_IMODE(home.stat().st_mode), home.stat().st_uid
    if mode & 0o077:
        said = say("home_open", home=str(home), mode=f"{mode:04o}")
        yield Finding(say("check_home"), FAILED, said, text(f"chmod 700 {home}"))
    elif owner != os.geteuid():
        said = say("home_of_other", home=str(home), uid=owner)
        yield Finding(say("check_home"), UNKNOWN, said, say("run_as_server"))
    else:
        yield Finding(say("check_home"), OK, say("home_private", home=str(home)), is_needed=True)


def check_disk(settings: Settings) -> Iterator[Finding]:
    """The file system of the home: kind, and room."""
    place = next(path for path in (settings.home, *settings.home.parents) if path.exists())
    free, kind = shutil.disk_usage(place).free, _file_system(place)
    state = OK if free >= LEAST_FREE_BYTES else FAILED
    advised = None if state == OK else say("make_room", folder=str(place))
    yield Finding(say("check_disk"), state, say("disk_free", free_bytes=free), advised, is_needed=True)
    if kind in NETWORKED or kind.startswith("fuse."):
        said = say("file_system_remote", folder=str(place), kind=kind)
        yield Finding(say("check_file_system"), FAILED, said, say("use_local_disk"), is_needed=True)
    else:
        yield Finding(say("check_file_system"), OK, say("file_system_local", kind=kind or "?"))


def _file_system(path: Path) -> str:
    """The kind of file system that a path is on: that of the longest mount point above it."""
    best, kind = "", ""
    real = str(path.resolve())
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        place, _, rest = line.partition(" - ")
        point = place.split()[4].replace("\\040", " ")
        if (real == point or real.startswith(point.rstrip("/") + "/")) and len(point) >= len(best):
            best, kind = point, rest.split()[0]
    return kind


def check_database(settings: Settings) -> Iterator[Finding]:
    """The database: whether it answers, and whether its tables are of this version."""
    url = settings.database_url or sqlite_url(settings.home)
    shown = sa.make_url(url).render_as_string(hide_password=True)
    if not settings.database_url and not (settings.home / "footplate.db").exists():
        yield Finding(say("check_database"), UNKNOWN, say("database_missing"), say("made_by_first_start"))
        return
    engine = open_engine(url)
    try:
        with engine.connect() as connection:
            found = connection.exec_driver_sql(_VERSIONS[engine.dialect.name]).scalar()
        tables = version(engine)
    except (sa.exc.DBAPIError, ImportError) as error:
        why = str(getattr(error, "orig", error)).strip().splitlines()[0]
        said = say("database_silent", database=shown, error=why)
        yield Finding(say("check_database"), FAILED, said, say("check_database_url"), is_needed=True)
        return
    finally:
        engine.dispose()
    yield Finding(say("check_database"), OK, text(f"{engine.dialect.name} {found}, {shown}"), is_needed=True)
    if tables == HEAD:
        yield Finding(say("check_tables"), OK, say("tables_current", version=tables))
    elif tables is None or tables in known_versions():
        yield Finding(say("check_tables"), OK, say("tables_older", version=tables or "none", next=HEAD))
    else:
        said = say("tables_newer", version=tables, known=HEAD)
        yield Finding(say("check_tables"), FAILED, said, say("install_newer_footplate"), is_needed=True)


_VERSIONS = {"sqlite": "SELECT sqlite_version()", "postgresql": "SHOW server_version"}


def check_tls(settings: Settings) -> Iterator[Finding]:
    """The certificate, where the settings name one."""
    if not settings.tls_files:
        return
    try:
        told = Tls(*settings.tls_files).told
    except InvalidInput as error:
        yield Finding(say("check_certificate"), FAILED, error.said, say("name_certificate"), is_needed=True)
        return
    names, until = describe(told)
    host = httpx.URL(settings.url).host
    if told.covers(host):
        yield Finding(say("check_certificate"), OK, say("certificate_valid", names=names, until=until))
    else:
        said = say("certificate_for_others", names=names, url=settings.url)
        yield Finding(say("check_certificate"), FAILED, said, say("set_public_url"))


def check_containers(settings: Settings) -> Iterator[Finding]:
    """The container engine that would run images."""
    socket = find_socket(settings.container_socket)
    if socket is None:
        yield Finding(
            say("check_container_engine"),
            FAILED,
            say("no_images_without_engine"),
            say("get_container_engine"),
        )
        return
    try:
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(socket)), timeout=ASKED_WITHIN_S) as client:
            answer = client.get("http://engine/version").json()
    except (httpx.HTTPError, ValueError) as error:
        why = str(error) or type(error).__name__
        said = say("container_engine_silent", socket=str(socket), error=why)
        yield Finding(say("check_container_engine"), FAILED, said, say("start_container_engine"))
        return
    parts = answer.get("Components") or [{"Name": "Docker", "Version": answer.get("Version", "?")}]
    yield Finding(
        say("check_container_engine"), OK, text(f"{parts[0]['Name']} {parts[0]['Version']}, {socket}")
    )


def check_user_namespaces(_settings: Settings) -> Iterator[Finding]:
    """User namespaces for this account, by making one."""
    program = shutil.which("unshare")
    if program is None:
        yield Finding(
            say("check_user_namespaces"), UNKNOWN, say("no_unshare"), text("apt install util-linux")
        )
        return
    words = [program, "--user", "--map-root-user", "true"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=ASKED_WITHIN_S, check=False)  # noqa: S603
    if done.returncode == 0:
        yield Finding(say("check_user_namespaces"), OK, say("user_namespaces_given"))
        return
    why = (done.stderr.strip().splitlines() or ["it failed"])[-1]
    switches = "; ".join(_switches())
    advised = text(switches) if switches else say("ask_operator")
    yield Finding(say("check_user_namespaces"), FAILED, say("no_user_namespaces", error=why), advised)


def _switches() -> Iterator[str]:
    """The switches of the kernel that stand in the way, as lines to type."""
    for name, good in (
        ("kernel.unprivileged_userns_clone", "1"),
        ("kernel.apparmor_restrict_unprivileged_userns", "0"),
        ("user.max_user_namespaces", "65536"),
    ):
        with suppress(OSError):
            now = Path("/proc/sys", *name.split(".")).read_text().strip()
            if now != good and (not name.startswith("user.") or now == "0"):
                yield f"sysctl -w {name}={good}"


def check_limits(settings: Settings) -> Iterator[Finding]:
    """What tasks can be held to, tried out from here."""
    if not settings.limits:
        yield Finding(say("check_limits"), FAILED, say("limits_turned_off"), say("turn_limits_on"))
        return
    # Without the home: what a server of this home has made is its own.
    nodes = nvidia_nodes(Cards().minors())
    confinement = confine(LocalSettings(home=settings.home, n_processes=settings.node.n_processes), nodes)
    for place in confinement.tree.places if confinement.tree else ():
        with suppress(OSError):
            Path(place).rmdir()
    yield from findings_of(confinement)


def findings_of(confinement: Confinement) -> Iterator[Finding]:
    """A line for each limit: held, or why not."""
    for limit in ALL_LIMITS:
        why_not = confinement.faults.get(limit)
        if why_not is None:
            yield Finding(say("check_limit", limit=limit), OK, say(MEANINGS[limit]))
        else:
            yield Finding(say("check_limit", limit=limit), FAILED, why_not, _advice(limit, why_not))


MEANINGS: dict[Limit, str] = {
    "cpus": "cpus_enforced",
    "memory": "memory_enforced",
    "processes": "processes_enforced",
    "shm": "shm_enforced",
    "files": "files_enforced",
    "gpus": "gpus_enforced",
    "isolation": "isolation_enforced",
    "accounts": "accounts_enforced",
}


def _advice(limit: str, why_not: Message) -> Message:
    match limit:
        case "accounts":
            return say("serve_as_root")
        case "isolation":
            return say("serve_as_root_or_namespaces")
    if limit in BY_VIEW:
        return say("allow_namespaces")
    # What the kernel does not have, no service gets.
    return say("mount_groups") if "no_control_groups" in codes_in(why_not) else say("serve_under_systemd")


def check_control_groups(_settings: Settings) -> Iterator[Finding]:
    """Which control groups the machine has."""
    delegated = find_tree(None)
    if delegated.tree is None:
        why = next(iter(delegated.faults.values()), say("no_control_groups"))
        yield Finding(say("check_control_groups"), FAILED, why, _advice("", why))
        return
    for place in delegated.tree.places:
        with suppress(OSError):
            Path(place).rmdir()
    controllers = ", ".join(sorted(delegated.tree.folders))
    yield Finding(say("check_control_groups"), OK, text(f"v{delegated.tree.version}: {controllers}"))


def check_gpus(settings: Settings) -> Iterator[Finding]:
    """The cards, as the driver tells, or as they are declared."""
    declared = settings.node.declared_gpus()
    if declared is not None:
        yield Finding(say("check_gpus"), OK, say("gpus_declared", n=len(declared)))
        return
    cards = Cards().known
    if cards:
        kinds = ", ".join(sorted({card.type for card in cards}))
        yield Finding(say("check_gpus"), OK, text(f"{len(cards)}: {kinds}"))
    elif list(Path("/dev").glob("nvidia[0-9]*")):
        yield Finding(say("check_gpus"), FAILED, say("nvml_silent"), say("check_nvidia"))
    else:
        yield Finding(say("check_gpus"), OK, say("no_gpus_here"))


def check_native(_settings: Settings) -> Iterator[Finding]:
    """By which program tasks are begun."""
    why_not = native.why_not()
    if why_not:
        said = say("native_unused", why=why_not)
        yield Finding(say("check_native"), FAILED, said, say("build_native"))
    else:
        yield Finding(say("check_native"), OK, say("native_used", program=str(native.PROGRAM)))


CHECKS: tuple[tuple[str, Check], ...] = (
    ("check_home", check_home),
    ("check_disk", check_disk),
    ("check_database", check_database),
    ("check_certificate", check_tls),
    ("check_container_engine", check_containers),
    ("check_user_namespaces", check_user_namespaces),
    ("check_control_groups", check_control_groups),
    ("check_limits", check_limits),
    ("check_native", check_native),
    ("check_gpus", check_gpus),
)
