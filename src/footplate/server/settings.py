"""Settings of the server: from `settings.toml` in the home folder, the environment, and the command line."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from footplate.control.quota import Quotas
from footplate.control.storagewatch import SILENT_AFTER_S
from footplate.domain.errors import InvalidInput
from footplate.domain.fields import Field, ListOf, MapOf, Nullable, Record
from footplate.domain.kinds import Duration, Flag, Integer, Size, Text
from footplate.domain.names import QUEUE_NAME
from footplate.domain.pauses import Pauses
from footplate.domain.prices import Prices
from footplate.domain.problems import MISSING, Problems, join
from footplate.domain.resources import GIB, MIB
from footplate.domain.retention import Retention
from footplate.domain.storage import OWN, Storage, overlap
from footplate.engines.local.confine.accounts import FIRST_ID, Accounts
from footplate.engines.local.containers.settings import HOST_NETWORK, ContainerSettings
from footplate.engines.local.data.settings import DataSettings
from footplate.engines.local.environments.settings import EnvironmentSettings
from footplate.machine.probe_client import locate_all
from footplate.server.addresses import Proxies, is_loopback
from footplate.server.bounds import BOUNDS, Bounds
from footplate.server.clouds import CLOUDS, CloudSettings
from footplate.server.keptfields import RETENTION
from footplate.server.nodefields import NODE, NodeSettings
from footplate.server.packages import DATA, ENVIRONMENTS
from footplate.server.pricefields import PRICES
from footplate.services.shells import IDLE_S
from footplate.store.disk import LEAST_BYTES, RESERVE_BYTES

RESOLVED_WITHIN_S = 2.0
# Where machines have their data disks and shares.
STORAGE_ROOTS = ("/data", "/media", "/mnt", "/nfs", "/srv")
BOUNDS_BY_DEFAULT = Bounds()


@dataclass(frozen=True, slots=True)
class Settings:
    home: Path
    host: str = "127.0.0.1"
    port: int = 8750
    public_url: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    database_url: str = ""
    admin_password: str | None = None
    log_cap_bytes: int = 4 * GIB
    access_log: bool = False
    limits: bool = True
    trash_kept_s: float = 86400.0
    idle_limit_s: float | None = None
    shell_idle_s: float = IDLE_S
    ssh_host: str = "127.0.0.1"
    ssh_port: int | None = None
    services_port: int | None = None
    services_url: str = ""
    environments: EnvironmentSettings = field(default_factory=EnvironmentSettings)
    data: DataSettings = field(default_factory=DataSettings)
    retry_pause_s: float = 1.0
    retry_pause_most_s: float = 300.0
    storage_timeout_s: float = SILENT_AFTER_S
    container_socket: str = ""
    container_network: str = HOST_NETWORK
    container_user: str = ""
    task_uids: int = FIRST_ID
    host_accounts: Mapping[str, str] = field(default_factory=dict)
    trusted_proxies: tuple[str, ...] = ()
    connections: Bounds = BOUNDS_BY_DEFAULT
    disk_reserve_bytes: int = RESERVE_BYTES
    disk_least_bytes: int = LEAST_BYTES
    job_quota_bytes: int | None = None
    person_quota_bytes: int | None = None
    retention: Retention = field(default_factory=Retention)
    prices: Prices = field(default_factory=Prices)
    takes_over: bool = False
    stands_by: bool = False
    node: NodeSettings = field(default_factory=NodeSettings)
    storages: tuple[Storage, ...] = ()
    storage_roots: tuple[str, ...] = STORAGE_ROOTS
    git_sources: tuple[str, ...] = ("https://",)
    clouds: CloudSettings = field(default_factory=CloudSettings)

    # Where each that is not the default comes from, by its name here.
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def storage_by_name(self) -> dict[str, Storage]:
        return {storage.name: storage for storage in self.storages}

    @property
    def containers(self) -> ContainerSettings:
        return ContainerSettings(self.container_socket, self.container_network, self.container_user)

    @property
    def accounts(self) -> Accounts:
        return Accounts(self.task_uids, self.host_accounts)

    @property
    def quotas(self) -> Quotas:
        return Quotas(self.job_quota_bytes, self.person_quota_bytes)

    @property
    def proxies(self) -> Proxies:
        return Proxies(self.trusted_proxies)

    @property
    def pauses(self) -> Pauses:
        return Pauses(self.retry_pause_s, self.retry_pause_most_s)

    @property
    def tls_files(self) -> tuple[Path, Path] | None:
        """Certificate and key; a name that is not absolute counts from the home folder."""
        return (self.home / self.tls_cert, self.home / self.tls_key) if self.tls_cert else None

    @property
    def url(self) -> str:
        scheme = "https" if self.tls_cert else "http"
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104  # compared, not bound
        return self.public_url or f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def has_services(self) -> bool:
        """Whether there is a port for services: beyond loopback, only where somebody asked for one."""
        return self.services_port is not None or bool(self.services_url) or is_loopback(self.host)

    @property
    def has_ssh(self) -> bool:
        """Whether there is an SSH gateway: beyond loopback, only where somebody asked for one."""
        hosts = (self.host, self.ssh_host, urlsplit(self.url).hostname or "")
        return self.ssh_port is not None or all(map(is_loopback, hosts))

    @property
    def services_address(self) -> str:
        """Where services of jobs are: an origin of their own, so that their pages cannot act on ours."""
        if self.services_url or self.services_port is None:
            return self.services_url
        parts = urlsplit(self.url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return f"{parts.scheme}://{host}:{self.services_port}"


def _storage(path: str, **given: Any) -> Storage:
    return Storage(path=str(Path(path)), **given)


def _check_storage(storage: Mapping[str, Any], path: str, problems: Problems) -> None:
    if storage["name"] == OWN:
        problems.add(join(path, "name"), "storage_name_reserved", storage=OWN)
    if storage["path"] is not MISSING and not Path(storage["path"]).is_absolute():
        problems.add(join(path, "path"), "storage_path_relative")


_STORAGE = Record(
    _storage,
    (
        Field(
            "name",
            Text(63, 1, r"[A-Za-z0-9][A-Za-z0-9_.-]*", "name"),
            "Name that jobs use.",
        ),
        Field("path", Text(1024, 1), "Its folder on this machine."),
        Field("read_only", Flag(), "Whether tasks may only read it.", True),
        Field("queues", ListOf(QUEUE_NAME, 1000), "Queues whose jobs may use it (default: all).", ()),
        Field("description", Text(1024), "What is on it.", ""),
    ),
    checks=(_check_storage,),
)
FILE = Record(
    dict,
    (
        Field("host", Text(255), "Address to listen on (default: loopback).", MISSING),
        Field("port", Integer(0, 65_535), "Port to listen on; 0 picks a free port.", MISSING),
        Field("public_url", Text(1024), "URL under which users and jobs reach the server.", MISSING),
        Field(
            "tls_cert",
            Text(4096),
            "File with the certificate chain (PEM); with it the server serves HTTPS.",
            MISSING,
        ),
        Field("tls_key", Text(4096), "File with the certificate's key (PEM, without a passphrase).", MISSING),
        Field("database_url", Text(1024), "SQLAlchemy URL (default: SQLite in the home folder).", MISSING),
        Field("log_cap", Size(MIB, 2**60), "Maximum log size per task.", MISSING, "log_cap_bytes"),
        Field(
            "trash_kept",
            Duration(0, 365 * 86400),
            "How long deleted jobs can be restored (default: a day).",
            MISSING,
            "trash_kept_s",
        ),
        Field(
            "idle_limit",
            Nullable(Duration(60, 365 * 86400)),
            "How long interactive jobs may be idle before they are stopped (default: no limit).",
            MISSING,
            "idle_limit_s",
        ),
        Field(
            "shell_idle",
            Duration(60, 30 * 86400),
            "How long nobody may type into a shell in a task before it is ended (default: 8h).",
            MISSING,
            "shell_idle_s",
        ),
        Field(
            "services_port",
            Nullable(Integer(0, 65_535)),
            "Port at which browsers open services of jobs; 0 picks a free port (default: the one "
            "after `port`, or a free one; none where `host` is not loopback).",
            MISSING,
        ),
        Field(
            "services_url",
            Text(1024),
            "URL under which users reach that port, behind a proxy; another host or port than `public_url`. "
            "A `*` in its host gives each service a name of its own.",
            MISSING,
        ),
        Field(
            "ssh_port",
            Nullable(Integer(0, 65_535)),
            "Port of the SSH gateway into tasks; 0 picks a free port (default: the second after `port`, or a "
            "free one; none where users reach the server from elsewhere).",
            MISSING,
        ),
        Field("ssh_host", Text(255, 1), "Address of the SSH gateway (default: loopback).", MISSING),
        Field(
            "retry_pause",
            Duration(0, 86400),
            "Pause before the second retry after a platform fault; each further pause is twice as long. "
            "0: no pauses.",
            MISSING,
            "retry_pause_s",
        ),
        Field(
            "retry_pause_most",
            Duration(0, 86400),
            "Longest pause before a retry.",
            MISSING,
            "retry_pause_most_s",
        ),
        Field(
            "storage_timeout",
            Duration(1, 3600),
            "Timeout of a storage; after it the jobs that need the storage are requeued (default: 30s).",
            MISSING,
            "storage_timeout_s",
        ),
        Field("access_log", Flag(), "Whether every request is logged.", MISSING),
        Field("limits", Flag(), "Whether resource limits are enforced.", MISSING),
        Field(
            "container_socket",
            Text(1024),
            "Socket of Docker or Podman (default: look in the usual places).",
            MISSING,
        ),
        Field(
            "container_network",
            Text(128, 1, r"[A-Za-z0-9][A-Za-z0-9_.-]*", "network_name"),
            "Network of containers: `host` for the machine's own, or one of the container engine's, with the "
            "ports of tasks published at the node's address.",
            MISSING,
        ),
        Field(
            "container_user",
            Text(32, 0, r"(\d+:\d+)?", "uid_and_gid"),
            "User and group inside containers (default: the server's).",
            MISSING,
        ),
        Field(
            "task_uids",
            Integer(65_536, 2**32 - 2**17),
            "Where the server is root: the first of the host's accounts that tasks run as, 65,536 for each "
            "person; 2013265920 when absent.",
            MISSING,
        ),
        Field(
            "host_accounts",
            MapOf(Text(255, 1), Text(255, 1), 10_000),
            "Where the server is root: accounts of the machine that people's tasks run as instead, by name "
            "of the person; `*` for everybody who has an account of the same name.",
            MISSING,
        ),
        Field(
            "trusted_proxies",
            ListOf(Text(64, 1), 64),
            "Addresses of proxies, such as `127.0.0.1` or `10.0.0.0/8`, whose header `X-Forwarded-For` says "
            "who is calling; none when absent.",
            MISSING,
        ),
        Field(
            "disk_least",
            Size(0, 2**60),
            "Room that must be free on the home folder's disk for new jobs and uploads (of a small disk a "
            "twentieth); below it they are refused with 507.",
            MISSING,
            "disk_least_bytes",
        ),
        Field(
            "disk_reserve",
            Size(0, 2**60),
            "Room that is kept back for stops, deletions and logins on a full disk (of a small one a "
            "twentieth).",
            MISSING,
            "disk_reserve_bytes",
        ),
        Field(
            "job_quota",
            Nullable(Size(MIB, 2**60)),
            "Most of the disk that the files of one job may take; one that takes more is stopped. No bound "
            "when absent.",
            MISSING,
            "job_quota_bytes",
        ),
        Field(
            "person_quota",
            Nullable(Size(MIB, 2**60)),
            "Most of the disk that the files of all jobs of one person may take; beyond it they can submit "
            "no more. No bound when absent.",
            MISSING,
            "person_quota_bytes",
        ),
        Field("environments", ENVIRONMENTS, "Python environments that are built for jobs.", MISSING),
        Field("data", DATA, "Copies of data that jobs use of buckets and web servers.", MISSING),
        Field(
            "retention",
            RETENTION,
            "How long what jobs leave is kept; queues can say otherwise (`footplate queues edit --keep`).",
            MISSING,
        ),
        Field(
            "prices",
            PRICES,
            "Prices of what jobs use, per hour; without any, only hours are shown.",
            MISSING,
        ),
        Field("connections", BOUNDS, "Limits of connections before login.", MISSING),
        Field("node", NODE, "This machine as a node.", MISSING),
        Field("clouds", CLOUDS, "Clients of other clouds, such as tikit.", MISSING),
        Field(
            "storages",
            ListOf(_STORAGE, 256, unique="name"),
            "Folders of this machine that jobs may use by name.",
            MISSING,
        ),
        Field(
            "git_sources",
            ListOf(Text(1024, 1, r"(https?|git|file)://.*", "git_address"), 64),
            "Beginnings of addresses of git repositories that jobs may name as code; `[]` for none (default: "
            "https://).",
            MISSING,
        ),
        Field(
            "storage_roots",
            ListOf(Text(1024, 1, r"/.*", "absolute_path"), 64),
            "Folders of this machine below which admins may add storages; `[]` for nowhere (default: /data, "
            "/media, /mnt, /nfs, /srv).",
            MISSING,
        ),
    ),
)


def _switch(text: str) -> bool:
    if text.lower() not in ("on", "off"):
        raise ValueError(text)
    return text.lower() == "on"


_ENVIRONMENT: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "FOOTPLATE_HOST": ("host", str),
    "FOOTPLATE_PORT": ("port", int),
    "FOOTPLATE_PUBLIC_URL": ("public_url", str),
    "FOOTPLATE_TLS_CERT": ("tls_cert", str),
    "FOOTPLATE_TLS_KEY": ("tls_key", str),
    "FOOTPLATE_DATABASE_URL": ("database_url", str),
    "FOOTPLATE_ADMIN_PASSWORD": ("admin_password", str),
    "FOOTPLATE_CONTAINER_SOCKET": ("container_socket", str),
    "FOOTPLATE_LIMITS": ("limits", _switch),
}


def default_home(environment: Mapping[str, str] = os.environ) -> Path:
    return Path(environment.get("FOOTPLATE_HOME") or Path.home() / ".footplate").expanduser().absolute()


def load(home: Path, environment: Mapping[str, str] = os.environ, **given: Any) -> Settings:
    """Read the settings; the command line wins over the environment, which wins over the file."""
    values = _from_file(home / "settings.toml")
    sources = dict.fromkeys(values, "file")
    for variable, (name, convert) in _ENVIRONMENT.items():
        if environment.get(variable):
            try:
                values[name], sources[name] = convert(environment[variable]), variable
            except ValueError as error:
                kind = "on or off" if convert is _switch else "a number"
                raise InvalidInput(
                    "not_expected_but", variable, wanted=kind, given=environment[variable]
                ) from error
    typed = {name: value for name, value in given.items() if value is not None}
    sources |= dict.fromkeys(typed, "command_line")
    settings = replace(Settings(home), **{**values, **typed, "sources": sources})
    _check_proxies(settings)
    _keep_apart(settings)
    if bool(settings.tls_cert) != bool(settings.tls_key):
        missing = "tls_key" if settings.tls_cert else "tls_cert"
        raise InvalidInput("tls_half", missing)
    return settings


def _check_proxies(settings: Settings) -> None:
    for index, text in enumerate(settings.trusted_proxies):
        try:
            Proxies([text])
        except ValueError as error:
            raise InvalidInput("not_network", f"trusted_proxies[{index}]", given=text) from error


def _keep_apart(settings: Settings) -> None:
    """Refuse storages through which jobs would see the files of the platform itself."""
    home = settings.home.resolve()
    real = locate_all([storage.path for storage in settings.storages], RESOLVED_WITHIN_S)
    for storage in settings.storages:
        # Of one that does not answer, or is not there yet, jobs learn more when they start.
        found = real.get(storage.path)
        if overlap(storage.path, str(home)) or (found and overlap(found.root, str(home))):
            place = f"the path of storage {storage.name}"
            raise InvalidInput("storage_in_home", place, folder=storage.path, home=str(settings.home))


def _from_file(path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput("not_toml", str(path), error=str(error)) from error
    problems, values = Problems(), {}
    known = {field.name: field for field in FILE.fields}
    for name, value in document.items():
        if name in known:
            values[known[name].target] = known[name].kind.read(value, name, problems)
        else:
            problems.add(name, "setting_unknown", known=list(known))
    if problems:
        raise InvalidInput([type(p)(f"{path}: {p.path}", p.said) for p in problems])
    return values
