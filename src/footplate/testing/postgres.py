"""A throw-away PostgreSQL server: on a Unix socket in a folder of its own, nothing is kept."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import sqlalchemy as sa

from footplate.store.database import open_engine

# PostgreSQL refuses to run as root.
UNPRIVILEGED = "nobody"
START_DEADLINE_S = 20
_FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "shared_buffers": "16MB",
    "max_connections": "200",
    "autovacuum": "off",
}


class PostgresMissing(Exception):  # it states the fact
    """PostgreSQL is not installed here."""


@dataclass
class Postgres:
    """A running server; every database is made fresh, from a template where one is named."""

    folder: Path
    command: Sequence[str] = ()
    _numbers: Iterator[int] = field(default_factory=count)
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        self._process = _start(self.command, self.folder)
        _await_ready(self, self._process)

    def stop(self, at_once: bool = True) -> None:
        """End it as a crash does, or in order; connections are cut either way."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT if at_once else signal.SIGINT)
        self._process.wait()
        self._process = None

    @property
    def is_up(self) -> bool:
        return self._process is not None

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@/{database}?host={self.folder}"

    def create(self, template: str = "template1") -> str:
        """Make a database and say its name."""
        name = f"test_{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def drop(self, name: str) -> None:
        """Remove a database, also from under those who still use it."""
        self._run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def disconnect(self, name: str) -> None:
        """Cut every connection to a database."""
        self._run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")

    def _run(self, statement: str) -> None:
        engine = open_engine(self.url("postgres"))
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(statement)
        engine.dispose()


@contextmanager
def running_postgres(**settings: str) -> Iterator[Postgres]:
    """Start a server, careless unless set otherwise; raise `PostgresMissing` where that cannot be."""
    programs = find_programs()
    folder = Path(tempfile.mkdtemp(prefix="fp-pg-", dir="/tmp"))  # a socket's path must be short
    if os.getuid() == 0:
        shutil.chown(folder, UNPRIVILEGED)
    try:
        data = folder / "data"
        options = ["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"]
        _start([str(programs / "initdb"), f"--pgdata={data}", *options], folder).wait()
        words = [f"--{name}={value}" for name, value in {**_FAST, **settings}.items()]
        program = [str(programs / "postgres"), "-D", str(data), f"--unix_socket_directories={folder}"]
        postgres = Postgres(folder, [*program, *words])
        postgres.start()
        try:
            yield postgres
        finally:
            if postgres.is_up:
                postgres.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_programs() -> Path:
    """The folder of initdb and postgres: Debian keeps them out of PATH, by version."""
    on_path = shutil.which("initdb")
    candidates = [
        *([Path(on_path).resolve().parent] if on_path else []),
        *Path("/usr/lib/postgresql").glob("*/bin"),
    ]
    for folder in sorted(candidates, reverse=True):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise PostgresMissing("PostgreSQL is not installed: the package is called `postgresql`")


def _start(command: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
    is_root = os.getuid() == 0
    with (folder / "output").open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC"},
            user=UNPRIVILEGED if is_root else None,
            group=pwd.getpwnam(UNPRIVILEGED).pw_gid if is_root else None,
            extra_groups=[] if is_root else None,
        )


def _await_ready(postgres: Postgres, server: subprocess.Popen[bytes]) -> None:
    engine = open_engine(postgres.url("postgres"))
    for _ in range(START_DEADLINE_S * 50):
        try:
            engine.connect().close()
        except sa.exc.OperationalError:
            if server.poll() is not None:
                break
            time.sleep(0.02)
        else:
            engine.dispose()
            return
    output = (postgres.folder / "output").read_text(errors="replace")
    raise RuntimeError(f"PostgreSQL did not start:\n{output[-2000:]}")
