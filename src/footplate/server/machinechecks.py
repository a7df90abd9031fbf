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

from footplate.checkup import NOT_HELD, OK, UNKNOWN, Check, Finding
from footplate.domain.errors import InvalidInput
from footplate.domain.messages import Message, codes_in, say
from footplate.domain.resources import GIB, show_bytes
from footplate.engines.base import Limit
from footplate.engines.local import native
from footplate.engines.local.confinement import ALL_LIMITS, BY_VIEW, Confinement, confine
from footplate.engines.local.containers.finding import HOW_TO_GET_ONE, find_socket
from footplate.engines.local.delegation import find_tree
from footplate.engines.local.devices import nvidia_nodes
from footplate.engines.local.gpus import Cards
from footplate.engines.local.settings import LocalSettings
from footplate.server.settings import Settings
from footplate.server.tls import Tls, describe
from footplate.store.database import open_engine, sqlite_url
from footplate.store.migrate import HEAD, known_versions, version

LEAST_FREE_BYTES = 5 * GIB
ASKED_WITHIN_S = 5
# Locks, and SQLite's log of changes, cannot be relied on there.
NETWORKED = frozenset({"nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "glusterfs", "lustre", "afs"})


def check_home(settings: Settings) -> Iterator[Finding]:
    """The home folder: whose it is, who can look into it, and what it is on."""
    home = settings.home
    if not home.exists():
        yield Finding(
            "home folder", UNKNOWN, f"{home} does not exist yet", "the first `footplate up` makes it"
        )
        return
    mode, owner = stat.S_IMODE(home.stat().st_mode), home.stat().st_uid
    if mode & 0o077:
        told = f"others on this machine can look into {home} (mode {mode:04o})"
        yield Finding("home folder", NOT_HELD, told, f"chmod 700 {home}")
    elif owner != os.geteuid():
        told = f"{home} belongs to account number {owner}, not to the one that asks"
        yield Finding("home folder", UNKNOWN, told, "run this as the server's account")
    else:
        yield Finding("home folder", OK, f"{home}, for its owner alone", is_needed=True)


def check_disk(settings: Settings) -> Iterator[Finding]:
    """The file system of the home: kind, and room."""
    place = next(path for path in (settings.home, *settings.home.parents) if path.exists())
    free, kind = shutil.disk_usage(place).free, _file_system(place)
    advice = f"make room, or move the home folder: df -h {place}"
    state = OK if free >= LEAST_FREE_BYTES else NOT_HELD
    told = f"{show_bytes(free)} free for logs, code and results"
    yield Finding("disk", state, told, "" if state == OK else advice, is_needed=True)
    if kind in NETWORKED or kind.startswith("fuse."):
        told = f"{place} is on {kind}: locks and the database cannot be relied on there"
        yield Finding(
            "file system", NOT_HELD, told, "use a local disk: --home, FOOTPLATE_HOME", is_needed=True
        )
    else:
        yield Finding("file system", OK, f"{kind or 'unknown'}, of this machine")


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
        yield Finding("database", UNKNOWN, "there is none yet", "the first `footplate up` makes it")
        return
    engine = open_engine(url)
    try:
        with engine.connect() as connection:
            said = connection.exec_driver_sql(_VERSIONS[engine.dialect.name]).scalar()
        tables = version(engine)
    except (sa.exc.DBAPIError, ImportError) as error:
        why = str(getattr(error, "orig", error)).strip().splitlines()[0]
        told = f"{shown} does not answer: {why}"
        yield Finding("database", NOT_HELD, told, "look at database_url in settings.toml", is_needed=True)
        return
    finally:
        engine.dispose()
    yield Finding("database", OK, f"{engine.dialect.name} {said}, {shown}", is_needed=True)
    if tables == HEAD:
        yield Finding("tables", OK, f"version {tables}, that of this program")
    elif tables is None or tables in known_versions():
        yield Finding("tables", OK, f"version {tables or 'none'}; the next start brings them to {HEAD}")
    else:
        told = f"they are of version {tables}, which is later than this program's {HEAD}"
        yield Finding(
            "tables", NOT_HELD, told, "install the version of Footplate that made them", is_needed=True
        )


_VERSIONS = {"sqlite": "SELECT sqlite_version()", "postgresql": "SHOW server_version"}


def check_tls(settings: Settings) -> Iterator[Finding]:
    """The certificate, where the settings name one."""
    if not settings.tls_files:
        return
    try:
        told = Tls(*settings.tls_files).told
    except InvalidInput as error:
        yield Finding("certificate", NOT_HELD, error.message, "name a pair in settings.toml", is_needed=True)
        return
    names, until = describe(told)
    host = httpx.URL(settings.url).host
    if told.covers(host):
        yield Finding("certificate", OK, f"for {names}, until {until}")
    else:
        advice = "set public_url in settings.toml to one of its names"
        yield Finding(
            "certificate", NOT_HELD, f"it is for {names}, and the address is {settings.url}", advice
        )


def check_containers(settings: Settings) -> Iterator[Finding]:
    """The container engine that would run images."""
    socket = find_socket(settings.container_socket)
    if socket is None:
        told = "none was found: jobs that name an image cannot run"
        yield Finding("container engine", NOT_HELD, told, HOW_TO_GET_ONE)
        return
    try:
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(socket)), timeout=ASKED_WITHIN_S) as client:
            said = client.get("http://engine/version").json()
    except (httpx.HTTPError, ValueError) as error:
        told = f"the one at {socket} does not answer: {error or type(error).__name__}"
        yield Finding("container engine", NOT_HELD, told, "start it, or give this account its group")
        return
    parts = said.get("Components") or [{"Name": "Docker", "Version": said.get("Version", "?")}]
    yield Finding("container engine", OK, f"{parts[0]['Name']} {parts[0]['Version']} at {socket}")


def check_user_namespaces(_settings: Settings) -> Iterator[Finding]:
    """User namespaces for this account, by making one."""
    program = shutil.which("unshare")
    if program is None:
        yield Finding("user namespaces", UNKNOWN, "unshare is not installed", "apt install util-linux")
        return
    words = [program, "--user", "--map-root-user", "true"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=ASKED_WITHIN_S, check=False)  # noqa: S603
    if done.returncode == 0:
        yield Finding("user namespaces", OK, "the kernel gives them to this account")
        return
    why = (done.stderr.strip().splitlines() or ["it failed"])[-1]
    told = (
        f"the kernel gives none to this account ({why}): tasks of different people are kept apart less well"
    )
    yield Finding("user namespaces", NOT_HELD, told, "; ".join(_switches()) or "ask whoever runs the machine")


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
        yield Finding("limits", NOT_HELD, "they are turned off", "remove `limits` from settings.toml")
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
            yield Finding(f"limit of {limit}", OK, MEANINGS[limit])
        else:
            yield Finding(f"limit of {limit}", NOT_HELD, str(why_not), _advice(limit, why_not))


MEANINGS: dict[Limit, str] = {
    "cpus": "tasks get no more CPU time than they asked for",
    "memory": "tasks get no more memory than they asked for",
    "processes": "the processes of a task are bounded",
    "shm": "shared memory has the size that was asked for",
    "files": "tasks see their own job, and nothing else of the home folder",
    "gpus": "tasks can open their own cards only",
    "isolation": "tasks see and signal their own processes only",
    "accounts": "the tasks of each person run as accounts of their own",
}
_ADVICE = "run the server as a service: footplate install-service"
_ADVICE_FOR = {
    "accounts": "run the server as root: footplate install-service --user root",
    "isolation": "run the server as root: footplate install-service --user root; or allow user namespaces",
}


def _advice(limit: str, why_not: Message) -> str:
    if limit in _ADVICE_FOR:
        return _ADVICE_FOR[limit]
    if limit in BY_VIEW:
        return "let the server's account make user and mount namespaces: see user namespaces above"
    # What the kernel does not have, no service gets.
    return (
        "mount control groups, or give them to this container"
        if "no_control_groups" in codes_in(why_not)
        else _ADVICE
    )


def check_control_groups(_settings: Settings) -> Iterator[Finding]:
    """Which control groups the machine has."""
    delegated = find_tree(None)
    if delegated.tree is None:
        why = next(iter(delegated.faults.values()), say("no_control_groups"))
        yield Finding("control groups", NOT_HELD, str(why), _advice("", why))
        return
    for place in delegated.tree.places:
        with suppress(OSError):
            Path(place).rmdir()
    yield Finding(
        "control groups", OK, f"v{delegated.tree.version}: {', '.join(sorted(delegated.tree.folders))}"
    )


def check_gpus(settings: Settings) -> Iterator[Finding]:
    """The cards, as the driver tells, or as they are declared."""
    declared = settings.node.declared_gpus()
    if declared is not None:
        yield Finding("GPUs", OK, f"{len(declared)} declared in settings.toml; the driver is not asked")
        return
    cards = Cards().known
    if cards:
        kinds = ", ".join(sorted({card.type for card in cards}))
        yield Finding("GPUs", OK, f"{len(cards)}: {kinds}")
    elif list(Path("/dev").glob("nvidia[0-9]*")):
        told = "there are cards, but NVML does not answer: they are not given out"
        yield Finding(
            "GPUs", NOT_HELD, told, "look at nvidia-smi; install the driver's library (libnvidia-ml)"
        )
    else:
        yield Finding("GPUs", OK, "none: jobs that ask for one wait for ever, or are refused")


def check_native(_settings: Settings) -> Iterator[Finding]:
    """By which program tasks are begun."""
    why_not = native.why_not()
    told = f"by Python and a shell, at twice the cost: footplate-init is not used, {why_not}"
    advice = "install a C compiler (sudo apt-get install -y gcc libc6-dev), then install Footplate again"
    if why_not:
        yield Finding("start of tasks", NOT_HELD, told, advice)
    else:
        yield Finding("start of tasks", OK, f"by {native.PROGRAM}")


CHECKS: tuple[tuple[str, Check], ...] = (
    ("home folder", check_home),
    ("disk", check_disk),
    ("database", check_database),
    ("certificate", check_tls),
    ("container engine", check_containers),
    ("user namespaces", check_user_namespaces),
    ("control groups", check_control_groups),
    ("limits", check_limits),
    ("start of tasks", check_native),
    ("GPUs", check_gpus),
)
