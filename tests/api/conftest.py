"""A real server with a fake engine and a fake clock, on both databases, and people who call it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from apiclient import NODE, PASSWORD, Api, Hire, Sign, fresh

from footplate.services import passwords
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.placing_engine import PlacingEngine
from footplate.testing.server import Served, served, until


@pytest.fixture(scope="module", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Hashing that costs nothing; what it costs in earnest is told with each hash."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_N", 2)
        yield


# On SQLite, with an engine that places by itself. The lives of jobs are the same there.
PLACING = "placing"
LIVES = {
    "test_api_collected_metrics",
    "test_api_edges",
    "test_api_events",
    "test_api_jobs",
    "test_api_life",
    "test_api_life_races",
    "test_api_logs",
    "test_api_merged_log",
    "test_api_notebooks",
    "test_api_pauses",
    "test_api_results",
    "test_api_shells",
}


@pytest.fixture(scope="session", params=("sqlite", "postgresql", PLACING))
def database_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run only the stories of jobs' lives a third time: the rest is the same whatever places the tasks."""
    items[:] = [item for item in items if not _is_placing(item) or _holds_when_placing(item)]


def _is_placing(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    return callspec is not None and callspec.params.get("database_kind") == PLACING


def _holds_when_placing(item: pytest.Item) -> bool:
    return item.path.stem in LIVES and item.get_closest_marker("our_nodes") is None


@pytest.fixture(scope="module")
def server(
    database_kind: str, module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    clock = FakeClock()
    kind = PlacingEngine if database_kind == PLACING else FakeEngine
    home = tmp_path_factory.mktemp("home")
    with served(home, kind(clock, [NODE]), clock, module_database_url) as running:
        yield running


@pytest.fixture(scope="module")
def clock(server: Served) -> FakeClock:
    assert isinstance(server.clock, FakeClock)
    return server.clock


@pytest.fixture(scope="module")
def admin(server: Served) -> Iterator[Api]:
    api = Api(server, server.sign_in(), "admin")
    yield api
    api.close()


@pytest.fixture
def sign(server: Served) -> Iterator[Sign]:
    """Call with any token."""
    made: list[Api] = []

    def call_with(token: str) -> Api:
        made.append(Api(server, token))
        return made[-1]

    yield call_with
    for api in made:
        api.close()


@pytest.fixture(scope="module")
def nobody(server: Served) -> Iterator[Api]:
    """Somebody who has not signed in."""
    api = Api(server)
    yield api
    api.close()


@pytest.fixture(scope="module")
def hire(server: Served, admin: Api) -> Iterator[Hire]:
    """Make accounts: `hire(vision="viewer")` has that role in that queue."""
    hired: list[Api] = []

    def add(is_admin: bool = False, **queues: str) -> Api:
        name = fresh("user")
        account = {"name": name, "password": PASSWORD, "is_admin": is_admin, "queues": queues}
        admin.ok("POST", "/users", status=201, json=account)
        hired.append(Api(server, server.sign_in(name, PASSWORD), name))
        return hired[-1]

    yield add
    for api in hired:
        api.close()


@pytest.fixture(scope="module")
def ann(hire: Hire) -> Api:
    """A member of the default queue."""
    return hire(default="member")


@pytest.fixture(autouse=True)
def no_jobs_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Remove the jobs of each test, so that the next finds the machine free."""
    if "server" not in request.fixturenames:
        yield
        return
    admin: Api = request.getfixturevalue("admin")
    yield

    def is_empty() -> bool:
        for job in admin.ok("GET", "/jobs", params={"limit": 1000})["items"]:
            if not job["is_deleting"]:
                admin.call("DELETE", f"/jobs/{job['id']}")
        return not admin.ok("GET", "/jobs")["items"]

    until(is_empty)
