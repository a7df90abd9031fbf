"""Every sentence with which a job file is refused, kept where the console's tests look for its Chinese."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from apiclient import NODE, Api, Data, fresh

from footplate.domain.cluster import Node
from footplate.domain.errors import InvalidInput
from footplate.domain.resources import GIB
from footplate.domain.spec import CodeRef, DataMount, JobSpec, RoleSpec
from footplate.domain.specfields import read_job
from footplate.domain.storage import Storage
from footplate.engines.local.confinement import Confinement
from footplate.engines.local.containers.choosing import refusal
from footplate.engines.local.containers.finding import why_none
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "console" / "src" / "ui" / "refusals.json"
SOURCES = ROOT / "src" / "footplate"
# Where the sentences about job files are written.
WRITERS = (
    "domain/fields.py",
    "domain/kinds.py",
    "domain/policyfields.py",
    "domain/specfields.py",
    "engines/local/confinement.py",
    "engines/strategies/builtin.py",
    "engines/strategies/mpi.py",
    "scheduler/fit.py",
    "services/jobs.py",
    "services/secrets.py",
    "services/storages.py",
)
# Sentences of those modules about other things than a job file.
OTHERS = (
    "there is no job",
    "is in the trash",
    "its priority no longer",
    "is over already",
    "may set or delete its secrets",
    "that you may see",
    "no secret",
    "secrets already",
    "idempotency key",
    "failed to check this job",
)
ROOMY = Node("roomy", 2000, 64 * GIB, ())
ROLE = {"command": "wait"}
LONG = "x" * 70_000

BAD: tuple[Data, ...] = (
    {"name": 3},
    {"name": ""},
    {"name": "my job"},
    {"name": "x" * 300},
    {"name": "x\u0007"},
    {"comand": "wait"},
    {"zzzzzz": 1},
    {"roles": [ROLE], "gpus": 1},
    {"roles": 3},
    {"roles": []},
    {"roles": [3]},
    {"roles": [ROLE] * 101},
    {"roles": [ROLE, ROLE]},
    {"roles": [{"name": "a-b", **ROLE}]},
    {"roles": [{"name": "a"}]},
    {"roles": [{**ROLE, "name": "a", "count": 9000}, {**ROLE, "name": "b", "count": 9000}]},
    {"queue": "my queue"},
    {"queue": "elsewhere"},
    {"priority": "high"},
    {"priority": 5000},
    {"cpus": "many"},
    {"cpus": 0},
    {"cpus": 100},
    {"memory": "much"},
    {"memory": 4},
    {"memory": "1B"},
    {"memory": "100GB"},
    {"memory": "90000TB"},
    {"shm": "2GB"},
    {"gpus": 9},
    {"gpus": 2000},
    {"gpus": 1, "gpu_type": "A100"},
    {"gpu_type": "H200"},
    {"gpu_type": "a/b"},
    {"count": 0},
    {"count": 9, "cpus": 4},
    {"cpus": 8, "count": 2, "gpus": 1},
    {"roles": [{**ROLE, "name": "a", "cpus": 5}, {**ROLE, "name": "b", "cpus": 5}]},
    {"roles": [{**ROLE, "name": "a", "gpus": 9}, {**ROLE, "name": "b"}]},
    {"roles": [{**ROLE, "name": "a", "cpus": 5, "count": 2}, {**ROLE, "name": "b"}]},
    {"ports": ["8 0"]},
    {"ports": [{"label": "a", "begin_at": 80}]},
    {"ports": ["a", "a"]},
    {"ports": ["web-ui", "WEB_UI"]},
    {"ports": [{"label": "a", "begin_at": 65_500, "count": 30}], "count": 5, "cpus": 0.1, "memory": "16MB"},
    {
        "ports": [{"label": f"p{i}", "count": 100} for i in range(32)],
        "count": 40,
        "cpus": 0.01,
        "memory": "16MB",
    },
    {"cpus": 4, "memory": "32GB"},
    {"completion": {"min_failed": 5}},
    {"completion": 3},
    {"command": ["a"]},
    {"command": LONG},
    {"command": "echo ${{ parameters.lr }}"},
    {"command": "echo ${{ parameters.lr }}", "parameters": {"rate": 1, "seed": 2}},
    {"parameters": {"a-b": 1}},
    {"parameters": {"a": [1]}},
    {"parameters": [1]},
    {"parameters": {f"p{i}": 1 for i in range(300)}},
    {"env": {"PAI_X": "1"}},
    {"env": {"1X": "1"}},
    {"time_limit": "soon"},
    {"time_limit": "0s"},
    {"deadline": "soon"},
    {"deadline": "2001-01-01T00:00:00Z"},
    {"deadline": "9900-01-01T00:00:00Z"},
    {"keep_on_failure": "1s"},
    {"on_failure": [{"action": "retry"}]},
    {"on_failure": [{"action": "pray"}]},
    {"on_failure": [{"action": "retry", "log": "/(a/"}]},
    {"on_failure": [{"action": "retry", "log": "/(.?){1000}/"}]},
    {"alerts": [{"on": "deadline"}]},
    {"alerts": [{"on": "failed", "to": ["a b"]}]},
    {"alerts": [{}]},
    {"tags": ["a", "a"]},
    {"tags": "a"},
    {"extras": {"a": LONG}},
    {"extras": {"a": "\u0000"}},
    {"image": "a b"},
    {"image": "missing"},
    {"image_credentials": "hub"},
    {"image_credentials": "hub", "image": "torch"},
    {"secrets": {"KEY": "nothing"}},
    {"secrets": {"KEY": "a b"}},
    {"strategy": "torchrum"},
    {"strategy": "torch run"},
    {"strategy": "torchrun"},
    {"strategy": "tensorflow", "roles": [{**ROLE, "name": "ps"}]},
    {"strategy": "tensorflow", "roles": [{**ROLE, "name": "chief"}, {**ROLE, "name": "master"}]},
    {"strategy": "tensorflow", "roles": [{**ROLE, "name": "chief", "count": 2}]},
    {"strategy": "mpi", "roles": [{**ROLE, "name": "launcher", "count": 2}]},
    {"code": {"path": "src"}},
    {"code": {"path": "../src", "storage": "x"}},
    {"code": {"upload": "md5:0"}},
    {"code": {"upload": "sha256:" + "0" * 64}},
    {"code": {"upload": "sha256:" + "0" * 64, "storage": "x"}},
    {"code": {"storage": "job"}},
    {"code": {"read_only": "yes"}},
    {"data": [{"path": "/data"}]},
    {"data": [{"path": "/data", "storage": "nowhere"}]},
    {"data": [{"path": "/data", "storage": "job"}]},
    {"data": [{"path": "/data", "storage": "job", "source": "code"}]},
    {"data": [{"path": "/data", "storage": "shelf", "read_only": False}]},
    {"data": [{"path": "/data", "storage": "shelf"}] * 65},
    {"services": [{"kind": "coffee"}]},
)


def refusals_of_jobs(api: Api) -> Iterator[str]:
    """Send everything that is wrong, and gather what is said about it."""
    for changes in BAD:
        short = {} if "roles" in changes else {"command": "wait"}
        content = json.dumps({"name": fresh("bad"), **short, **changes})
        response = api.call("POST", "/jobs", content=content, headers={"Content-Type": "application/json"})
        assert response.status_code in (404, 409, 413, 422), (changes, response.text)
        body = response.json()
        yield from (one["message"] for one in body["problems"] or [body])


def refusals_of_queues(admin: Api) -> Iterator[str]:
    queue = fresh("closed")
    admin.ok("POST", "/queues", status=201, json={"name": queue, "is_open": False})
    yield _told(admin, {"queue": queue})
    maximum = {"cpus": 1, "memory_bytes": 2**34, "gpus": 1}
    admin.ok("POST", "/queues", status=201, json={"name": fresh("small"), "maximum": maximum})
    small = admin.ok("GET", "/queues")["items"][-1]["name"]
    yield _told(admin, {"queue": small, "cpus": 2})
    admin.ok("POST", "/queues", status=201, json={"name": fresh("bound"), "nodes": ["fake"]})
    bound = next(one["name"] for one in admin.ok("GET", "/queues")["items"] if one["nodes"])
    yield _told(admin, {"queue": bound, "cpus": 9})
    admin.submit(name="twice")
    yield _told(admin, {"name": "twice"})


def refusals_of_secrets(admin: Api) -> Iterator[str]:
    admin.ok("PUT", "/secrets/plain", json={"kind": "value", "value": "x"})
    yield _told(admin, {"image": "torch", "image_credentials": "plain"})


def refusals_of_people(admin: Api, stranger: Api) -> Iterator[str]:
    yield _told(admin, {"queue": "elsewhere"})
    yield _told(stranger, {})


def refusals_of_engines() -> Iterator[str]:
    job = JobSpec("x", (RoleSpec("wait"),), image="torch:2")
    for declared in ("", "/run/x.sock"):
        problem = refusal(job, {}, lambda declared=declared: why_none(declared))
        assert problem is not None
        yield problem.message
    bare = Confinement(faults={"files": "unshare fails"}, home="/srv/footplate")
    for paths in (["data"], ["/proc/x"], ["/etc"], ["/srv/footplate/x"], ["/a", "/a/b"], ["/a"]):
        mounts = tuple(DataMount(path, "shelf") for path in paths)
        problem = bare.refuses(JobSpec("x", (RoleSpec("wait"),), data=mounts), {})
        assert problem is not None
        yield problem.message
    code = JobSpec("x", (RoleSpec("wait"),), code=CodeRef(read_only=True))
    problem = bare.refuses(code, {})
    assert problem is not None
    yield problem.message


def refusals_of_values() -> Iterator[str]:
    """What JSON cannot say, and YAML can."""
    with pytest.raises(InvalidInput) as refused:
        read_job({"name": "x", "command": "wait", "extras": {"a": datetime(2030, 1, 31, tzinfo=UTC)}})
    yield refused.value.problems[0].message


def _told(api: Api, changes: Data) -> str:
    body = api.call("POST", "/jobs", json={"name": fresh("bad"), "command": "wait", **changes}).json()
    return str(body["problems"][0]["message"] if body.get("problems") else body["message"])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    clock, folder = FakeClock(), tmp_path_factory.mktemp("refusals")
    shelf = Storage("shelf", folder / "shelf")
    with served(folder / "home", FakeEngine(clock, [NODE, ROOMY]), clock, storages=(shelf,)) as running:
        yield running


@pytest.fixture(scope="module")
def said(admin: Api, hire: Any) -> list[str]:
    found = [
        *refusals_of_jobs(admin),
        *refusals_of_queues(admin),
        *refusals_of_secrets(admin),
        *refusals_of_people(admin, hire()),
        *refusals_of_engines(),
        *refusals_of_values(),
    ]
    return sorted({_without_numbers_of_the_run(one) for one in found})


def _without_numbers_of_the_run(message: str) -> str:
    message = re.sub(r"\b(closed|small|bound|bad|user)-\d+\b", r"\1-1", message)
    message = re.sub(r"(?<=; known are ).*", "ddp, mpi", message)
    return re.sub(r"\([0-9a-z]{12}\)", "(0123456789ab)", message)


def test_the_consoles_tests_know_every_sentence_that_refuses_a_job_file(said: list[str]) -> None:
    if not KEPT.exists():
        KEPT.write_text(json.dumps(said, indent=2, ensure_ascii=False) + "\n")
    kept = json.loads(KEPT.read_text())
    news = [one for one in said if one not in kept]
    assert not news, (
        f"sentences that {KEPT.name} lacks: delete it, run this test again, and give them a rule in "
        f"zhMessageRules.ts: {news}"
    )


@pytest.mark.parametrize("module", WRITERS)
def test_no_sentence_of_a_module_is_left_untried(module: str, said: list[str]) -> None:
    untried = [
        template
        for template in _templates(SOURCES / module)
        if not any(re.search(template, one, re.DOTALL) for one in said)
        and not any(other in template.replace("\\", "") for other in OTHERS)
    ]
    assert not untried


def _templates(path: Path) -> Iterator[str]:
    """Every sentence that a module raises or adds to problems, as a pattern."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and _is_refusal(node.func):
            for argument in node.args:
                pattern = _pattern(argument)
                if pattern and " " in pattern:
                    yield pattern


def _is_refusal(called: ast.expr) -> bool:
    if isinstance(called, ast.Attribute):
        return called.attr == "add"
    return isinstance(called, ast.Name) and called.id in {
        "Conflict",
        "Denied",
        "InvalidInput",
        "Misfit",
        "NotFound",
        "Problem",
    }


def _pattern(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_pattern(value) or ".*" for value in node.values)
    return ""
