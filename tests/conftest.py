"""What the tests of several suites share: databases, SQLite and PostgreSQL alike."""

from __future__ import annotations

import gc
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from footplate.store.database import open_engine
from footplate.store.migrate import migrate
from footplate.testing.postgres import Postgres, PostgresMissing, running_postgres

# A run in the background of a shell ignores it, and so would the commands that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
# How quickly examples are made says more about the machine's load than about the code.
hypothesis_settings.register_profile("any-load", suppress_health_check=[HealthCheck.too_slow], deadline=None)
hypothesis_settings.load_profile("any-load")
LONGEST = ("test_console_forms", "test_console", "test_crash")
DATABASES = ("sqlite", "postgresql")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no worker is left with one of them at the end."""
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


class _Starts:
    """Counts the processes that tests have started."""

    def __init__(self) -> None:
        self.count = 0
        sys.addaudithook(self._note)

    def _note(self, event: str, _arguments: object) -> None:
        if event == "subprocess.Popen":
            self.count += 1


_starts = _Starts()


def _told_here() -> Iterator[None]:
    """Let a process that was left be told where it was started, not whenever somebody collects it."""
    before = _starts.count
    yield
    if _starts.count > before:
        # Where Python keeps the last failure, and all that it held.
        for name in ("last_exc", "last_value", "last_traceback"):
            setattr(sys, name, None)
        gc.collect()


_leaks_of_a_file_are_its_own = pytest.fixture(autouse=True, scope="module")(_told_here)
_leaks_of_a_test_are_its_own = pytest.fixture(autouse=True)(_told_here)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server for the whole session."""
    try:
        with running_postgres() as server:
            yield server
    except PostgresMissing as missing:
        pytest.skip(str(missing))


def _migrated(url: str) -> None:
    engine = open_engine(url)
    migrate(engine)
    engine.dispose()


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "footplate.db"
    _migrated(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def migrated_postgres(postgres: Postgres) -> str:
    name = postgres.create()
    _migrated(postgres.url(name))
    return name


@pytest.fixture(scope="session", params=DATABASES)
def database_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def empty_database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without any tables."""
    if database_kind == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    name = postgres.create()
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A fresh database with all tables, the same test once on SQLite and once on PostgreSQL."""
    yield from _fresh_database(database_kind, request, tmp_path)


@pytest.fixture(scope="module")
def module_database_url(
    database_kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """One database for all tests of a module."""
    yield from _fresh_database(database_kind, request, tmp_path_factory.mktemp("database"))


def _fresh_database(kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    if kind != "postgresql":
        copy = shutil.copy(request.getfixturevalue("migrated_sqlite"), folder / "footplate.db")
        yield f"sqlite:///{copy}"
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    name = postgres.create(template=request.getfixturevalue("migrated_postgres"))
    yield postgres.url(name)
    postgres.drop(name)
