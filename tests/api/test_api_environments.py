"""Environments over REST: who sees and removes which, and what a job may ask for."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from apiclient import NODE, Api, Hire

from footplate.domain.environment import BuiltEnvironment
from footplate.domain.errors import Conflict, NotFound
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served
from footplate.wire import environments as w


class Builder(FakeEngine):
    """An engine that keeps the environments it is told to have."""

    built: dict[str, BuiltEnvironment]

    async def environments(self, known_attempts: Container[str]) -> Sequence[BuiltEnvironment]:
        def living(one: BuiltEnvironment) -> BuiltEnvironment:
            return replace(one, attempts=tuple(name for name in one.attempts if name in known_attempts))

        return [living(one) for one in self.built.values()]

    async def environment_log(self, environment_id: str) -> str:
        return f"Installed the packages of {environment_id}"

    async def remove_environment(self, environment_id: str, known_attempts: Container[str]) -> None:
        if environment_id not in self.built:
            raise NotFound("no_such_environment", environment=environment_id)
        if any(name in known_attempts for name in self.built[environment_id].attempts):
            raise Conflict("environment_in_use", environment=environment_id, n_jobs=1)
        del self.built[environment_id]

    async def sweep_environments(self, known_attempts: Container[str]) -> None:
        raise NotImplementedError


@pytest.fixture(scope="module")
def engine() -> Builder:
    made = Builder(FakeClock(), [NODE])
    made.built = {}
    return made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, engine: Builder) -> Iterator[Served]:
    assert isinstance(engine.clock, FakeClock)
    with served(tmp_path_factory.mktemp("home"), engine, engine.clock) as running:
        yield running


def built(owner: str, environment_id: str, *attempts: str, used_at: float = 2000.0) -> BuiltEnvironment:
    return BuiltEnvironment(
        environment_id, owner, "requirements", "requirements.txt", "", 5, 1000.0, used_at, attempts
    )


@pytest.fixture
def ann(hire: Hire, engine: Builder) -> Api:
    ann = hire(default="member")
    engine.built = {
        "aa": built(ann.name, "aa"),
        "ab": built(ann.name, "ab", used_at=3000.0),
        "bb": built("bob", "bb"),
    }
    return ann


def ids(api: Api) -> list[str]:
    items = w.Environments.model_validate(api.ok("GET", "/environments")).items
    return [one.id for one in items]


def test_people_see_their_own_environments_and_admins_all(ann: Api, admin: Api) -> None:
    assert ids(ann) == ["ab", "aa"]
    assert set(ids(admin)) == {"aa", "ab", "bb"}


def test_the_log_of_a_build_is_for_its_owner_and_for_admins(ann: Api, admin: Api, hire: Hire) -> None:
    for reader in (ann, admin):
        answer = reader.call("GET", "/environments/aa/log")
        assert (answer.status_code, answer.text) == (200, "Installed the packages of aa")
    hire(default="member").refused("GET", "/environments/aa/log", status=404)
    ann.refused("GET", "/environments/none/log", status=404)


def test_one_that_is_being_built_says_so(ann: Api, engine: Builder) -> None:
    engine.built["aa"] = replace(engine.built["aa"], is_building=True)
    items = {one["id"]: one["is_building"] for one in ann.ok("GET", "/environments")["items"]}
    assert items == {"aa": True, "ab": False}


def test_a_removed_environment_is_gone_and_the_audit_log_says_so(ann: Api, admin: Api) -> None:
    ann.ok("DELETE", "/environments/aa", status=204)
    assert ids(ann) == ["ab"]
    (newest, *_) = admin.ok("GET", "/audit")["items"]
    assert (newest["action"], newest["subject"], newest["actor"]) == ("environment.removed", "aa", ann.name)


def test_one_of_somebody_else_looks_as_if_it_did_not_exist(ann: Api, engine: Builder) -> None:
    ann.refused("DELETE", "/environments/bb", status=404)
    ann.refused("DELETE", "/environments/none", status=404)
    assert "bb" in engine.built


def test_an_environment_that_a_running_job_uses_stays(ann: Api, engine: Builder) -> None:
    job = ann.submit(command="runs on")
    engine.built["aa"] = built(ann.name, "aa", f"{job['id']}.0")
    used = next(one for one in ann.ok("GET", "/environments")["items"] if one["id"] == "aa")
    assert used["jobs"] == [job["id"]]
    refusal = ann.refused("DELETE", "/environments/aa", status=409)
    assert "in use by 1 job" in refusal["message"]


@pytest.mark.parametrize(
    ("environment", "path", "said"),
    [
        ({}, "environment", "exactly one of"),
        ({"requirements": ["a"], "path": "/opt/e"}, "environment", "exactly one of"),
        ({"requirements": ["-e ."]}, "environment.requirements[0]", "one requirement such as"),
        ({"requirements": ["a\n--index-url http://x"]}, "environment.requirements[0]", "one requirement"),
        ({"requirements": "../requirements.txt"}, "environment.requirements", ".."),
        ({"path": "/opt/e", "python": "3.12"}, "environment.python", "brings its own Python"),
        ({"requirements": ["a"], "python": "latest"}, "environment.python", "3.12"),
        ("requirements.txt", "environment", "the job has no code"),
    ],
)
def test_what_cannot_be_built_is_refused_with_the_field(
    ann: Api, environment: Any, path: str, said: str
) -> None:
    job = {"name": "refused", "command": "true", "environment": environment}
    refusal = ann.refused("POST", "/jobs", status=422, json=job)
    (problem,) = refusal["problems"]
    assert problem["path"] == path
    assert said in problem["message"]
