"""Instance types and frameworks, and jobs that name them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from apiclient import NODE, Api, Data, Hire, Sign, fresh

from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served
from footplate.wire import choices as w
from footplate.wire.jobs import DryRun, JobDetail

GIB = 1024**3
LARGE = {
    "cpus": 2.0,
    "memory_bytes": 4 * GIB,
    "gpus": 1,
    "gpu_type": "H200",
    "shm_bytes": GIB,
    "description": "one card",
    "position": 3,
}


@pytest.fixture(autouse=True)
def empty(admin: Api) -> None:
    for one in admin.ok("GET", "/instance-types")["items"]:
        admin.ok("DELETE", f"/instance-types/{one['name']}", status=204)
    for one in admin.ok("GET", "/frameworks")["items"]:
        admin.ok("DELETE", f"/frameworks/{one['name']}/{one['version']}", status=204)


@pytest.fixture
def queue(admin: Api) -> str:
    name = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": name})
    return name


def put_type(api: Api, name: str = "TI.S.LARGE.POST", **body: Any) -> Data:
    return api.ok("PUT", f"/instance-types/{name}", w.TypeBody, json={**LARGE, **body})


def put_framework(api: Api, name: str, version: str, **body: Any) -> Data:
    return api.ok("PUT", f"/frameworks/{name}/{version}", w.FrameworkBody, json=body)


def types(api: Api, **query: str) -> Data:
    return api.ok("GET", "/instance-types", w.Types, params=query)


def test_everybody_sees_the_sizes_and_how_many_fit(admin: Api, hire: Hire) -> None:
    made = put_type(admin)
    assert {name: made[name] for name in LARGE} == LARGE
    seen = types(hire(default="member"))
    assert seen["items"] == [{**made, "fit_now": 2, "fit_at_most": 2, "price": None}]
    assert seen["queue"] == "default"
    assert seen["capacity"] == {
        "cpus": {"free": 8.0, "total": 8.0, "largest": 8.0},
        "memory_bytes": {"free": 16.0 * GIB, "total": 16.0 * GIB, "largest": 16.0 * GIB},
        "gpus": [{"type": "H200", "free": 2.0, "total": 2.0, "largest": 2.0}],
        "headroom": None,
    }


def test_what_runs_and_what_the_queue_may_use_count(admin: Api, queue: str) -> None:
    put_type(admin)
    admin.ok("PATCH", f"/queues/{queue}", json={"maximum": {"gpus": 1}})
    assert [one["fit_now"] for one in types(admin, queue=queue)["items"]] == [1]
    job = admin.running(gpus=1, queue=queue)
    (now,), capacity = types(admin, queue=queue)["items"], types(admin, queue=queue)["capacity"]
    assert (now["fit_now"], now["fit_at_most"]) == (0, 1)
    assert capacity["gpus"][0]["free"] == 1
    assert capacity["headroom"] == {"cpus": None, "memory_bytes": None, "gpus": 0}
    assert types(admin)["items"][0]["fit_now"] == 1
    admin.ok("POST", f"/jobs/{job['id']}/stop")
    admin.until(job, "STOPPED")


def test_counts_are_only_for_queues_that_one_may_see(admin: Api, hire: Hire, queue: str) -> None:
    put_type(admin)
    stranger = hire(default="viewer")
    stranger.refused("GET", f"/instance-types?queue={queue}", 404)
    assert types(stranger)["queue"] == "default"
    nowhere = types(hire())
    assert (nowhere["queue"], nowhere["capacity"], nowhere["items"][0]["fit_now"]) == (None, None, None)


def test_types_are_listed_by_position_and_name(admin: Api) -> None:
    put_type(admin, "b", position=1)
    put_type(admin, "a", position=1)
    put_type(admin, "c", position=-1)
    assert [one["name"] for one in types(admin)["items"]] == ["c", "a", "b"]


def test_a_change_leaves_description_and_position(admin: Api) -> None:
    made = put_type(admin)
    body = {"cpus": 1, "memory_bytes": GIB}
    changed = admin.ok("PUT", f"/instance-types/{made['name']}", w.TypeBody, json=body)
    assert (changed["description"], changed["position"]) == ("one card", 3)
    assert (changed["gpus"], changed["gpu_type"], changed["shm_bytes"]) == (0, "", None)


def test_a_job_has_the_size_of_its_type_and_keeps_it(admin: Api) -> None:
    put_type(admin)
    job = admin.submit(type="TI.S.LARGE.POST", count=2)
    assert job["resources"] == {"cpus": 4.0, "memory_bytes": 8 * GIB, "gpus": 2}
    (role,) = job["config"]["roles"]
    assert (role["type"], role["count"]) == ("TI.S.LARGE.POST", 2)
    assert not {"cpus", "memory", "gpus", "gpu_type", "shm"} & role.keys()
    put_type(admin, cpus=1)
    again = admin.ok("GET", f"/jobs/{job['id']}", JobDetail)
    assert again["resources"] == job["resources"]
    admin.ok("DELETE", "/instance-types/TI.S.LARGE.POST", status=204)
    assert admin.ok("GET", f"/jobs/{job['id']}", JobDetail)["resources"] == job["resources"]
    admin.ok("POST", f"/jobs/{job['id']}/stop")


def test_a_clone_has_the_size_that_the_type_has_by_then(admin: Api) -> None:
    put_type(admin, "t", gpus=0, gpu_type="")
    job = admin.submit(type="t")
    put_type(admin, "t", gpus=0, gpu_type="", cpus=1)
    clone = admin.ok("POST", f"/jobs/{job['id']}/clone", JobDetail, status=201, json={})
    assert clone["resources"]["cpus"] == 1
    for one in (job, clone):
        admin.ok("POST", f"/jobs/{one['id']}/stop")


def test_the_configuration_of_a_job_can_be_submitted_again(admin: Api) -> None:
    put_type(admin, "t", gpus=0, gpu_type="")
    put_framework(admin, "torch", "2", strategy="torchrun", strategies=["torchrun"])
    job = admin.submit(type="t", framework="torch", command="python train.py")
    assert job["config"]["framework"] == "torch:2"
    assert "strategy" not in job["config"]
    again = admin.ok("POST", "/jobs", JobDetail, status=201, json={**job["config"], "name": fresh("job")})
    assert again["resources"] == job["resources"]
    for one in (job, again):
        admin.ok("POST", f"/jobs/{one['id']}/stop")


def test_a_type_that_is_not_listed_is_refused_with_the_list(admin: Api) -> None:
    job = {"name": fresh("job"), "command": "true", "type": "huge"}
    admin.refused("POST", "/jobs", 422, "type", says="this server offers none", json=job)
    put_type(admin, "one")
    put_type(admin, "two")
    admin.refused("POST", "/jobs", 422, "type", says="there are one, two", json=job)
    admin.refused("POST", "/jobs/dry-run", 422, "type", says="there are one, two", json=job)


def test_amounts_beside_a_type_are_refused_by_their_field(admin: Api) -> None:
    put_type(admin, "one")
    job = {"name": fresh("job"), "command": "true", "type": "one", "memory": "1GB"}
    admin.refused("POST", "/jobs", 422, "memory", says="one says it", json=job)


def test_a_type_that_no_node_can_hold_is_refused_as_the_type(admin: Api) -> None:
    put_type(admin, "huge", cpus=64)
    assert types(admin)["items"][0]["fit_at_most"] == 0
    job = {"name": fresh("job"), "command": "true", "type": "huge"}
    admin.refused("POST", "/jobs", 422, "type", says="largest node", json=job)


def test_a_dry_run_says_when_a_type_would_start(admin: Api) -> None:
    put_type(admin, "card")
    holder = admin.running(gpus=2, time_limit="1h")
    tried = {"name": fresh("job"), "command": "true", "type": "card"}
    answer = admin.ok("POST", "/jobs/dry-run", DryRun, json=tried)
    assert answer["would_start"] is False
    assert answer["estimate"]["latest_at"] is not None
    admin.ok("POST", f"/jobs/{holder['id']}/stop")
    admin.until(holder, "STOPPED")


def test_frameworks_are_listed_with_versions_and_training_modes(
    admin: Api, hire: Hire, clock: FakeClock
) -> None:
    put_framework(admin, "PYTORCH", "torch1.9-py3.8-cuda11.1-gpu", image="torch:1.9", strategies=["torchrun"])
    put_framework(admin, "PYTORCH", "2.4", environment={"requirements": ["torch==2.4"], "python": "3.12"})
    listed = hire().ok("GET", "/frameworks", w.Frameworks)["items"]
    assert [(one["version"], one["is_default"]) for one in listed] == [
        ("2.4", True),
        ("torch1.9-py3.8-cuda11.1-gpu", False),
    ]
    assert listed[0]["environment"] == {"requirements": ["torch==2.4"], "python": "3.12"}
    assert listed[1]["strategies"] == ["torchrun"]


def test_the_highest_version_is_the_default_unless_admins_say_otherwise(admin: Api) -> None:
    for version in ("2.9", "2.10rc1", "2.10", "torch1.9-py3.8", "nightly"):
        put_framework(admin, "torch", version)
    listed = admin.ok("GET", "/frameworks")["items"]
    assert [one["version"] for one in listed] == ["2.10", "2.10rc1", "2.9", "torch1.9-py3.8", "nightly"]
    assert [one["is_default"] for one in listed] == [True, False, False, False, False]
    put_framework(admin, "torch", "2.9", position=-1)
    assert admin.ok("GET", "/frameworks")["items"][0]["version"] == "2.9"


def test_a_change_of_a_framework_leaves_what_it_does_not_name(admin: Api) -> None:
    put_framework(admin, "jax", "0.4", image="jax:0.4", environment={"path": "/opt/jax"}, position=2)
    changed = put_framework(admin, "jax", "0.4", description="with CUDA")
    assert (changed["image"], changed["position"]) == ("jax:0.4", 2)
    assert changed["environment"] == {"path": "/opt/jax"}
    assert put_framework(admin, "jax", "0.4", environment=None)["environment"] is None


def test_what_a_framework_gave_is_stored_with_the_job(admin: Api) -> None:
    put_framework(admin, "torch", "2", strategy="torchrun")
    job = admin.submit(framework="torch", command="python train.py")
    put_framework(admin, "torch", "2", strategy="mpi")
    board = admin.served.parts.platform.store.board
    assert board[job["id"]].spec.strategy == "torchrun"
    admin.ok("POST", f"/jobs/{job['id']}/stop")


def test_frameworks_and_strategies_that_are_not_offered_are_refused_with_the_list(admin: Api) -> None:
    put_framework(admin, "torch", "2", strategies=["torchrun", "mpi"])
    job = {"name": fresh("job"), "command": "true"}
    asked = {**job, "framework": "tf"}
    admin.refused("POST", "/jobs", 422, "framework", says="there are torch:2", json=asked)
    asked = {**job, "framework": "torch", "strategy": "jax"}
    admin.refused("POST", "/jobs", 422, "strategy", says="it offers torchrun, mpi", json=asked)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"cpus": 0}, "cpus"),
        ({"cpus": 1e9}, "cpus"),
        ({"memory_bytes": 1}, "memory_bytes"),
        ({"gpus": -1}, "gpus"),
        ({"gpus": 0}, "gpu_type"),
        ({"gpu_type": "A\n"}, "gpu_type"),
        ({"shm_bytes": 5 * GIB}, "shm_bytes"),
        ({"description": "x" * 4097}, "description"),
        ({"position": 1001}, "position"),
        ({"price": 5}, "price"),
    ],
)
def test_a_bad_type_is_refused_by_its_field(admin: Api, body: Data, field: str) -> None:
    admin.refused("PUT", "/instance-types/bad", 422, field, json={**LARGE, **body})
    assert types(admin)["items"] == []


@pytest.mark.parametrize("name", ["a b", "x:y", ".x", "x" * 129])
def test_a_bad_name_is_refused(admin: Api, name: str) -> None:
    admin.refused("PUT", f"/instance-types/{name}", 422, "name", json=LARGE)
    admin.refused("PUT", f"/frameworks/{name}/1", 422, "name", json={})
    admin.refused("PUT", f"/frameworks/x/{name}", 422, "version", json={})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"image": "two words"}, "image"),
        ({"environment": {}}, "environment"),
        ({"environment": {"requirements": "requirements.txt"}}, "environment"),
        ({"environment": {"conda": "conda.yml"}}, "environment"),
        ({"environment": {"requirements": ["-r other.txt"]}}, "environment.requirements[0]"),
        ({"environment": {"path": "../up"}}, "environment.path"),
        ({"strategies": ["unheard-of"]}, "strategies[0]"),
        ({"strategy": "unheard-of"}, "strategy"),
        ({"strategies": ["mpi"], "strategy": "torchrun"}, "strategy"),
        ({"modes": ["DDP"]}, "modes"),
    ],
)
def test_a_bad_framework_is_refused_by_its_field(admin: Api, body: Data, field: str) -> None:
    admin.refused("PUT", "/frameworks/bad/1", 422, field, json=body)
    assert admin.ok("GET", "/frameworks")["items"] == []


def test_only_a_platform_admin_keeps_the_catalogues(ann: Api, server: Served, sign: Sign, admin: Api) -> None:
    task = sign(server.parts.tokens.issue(admin.running()["id"], 0))
    for caller in (ann, task):
        caller.refused("PUT", "/instance-types/mine", 403, json=LARGE)
        caller.refused("DELETE", "/instance-types/mine", 403)
        caller.refused("PUT", "/frameworks/mine/1", 403, json={})
        caller.refused("DELETE", "/frameworks/mine/1", 403)
        types(caller)


def test_changes_are_in_the_audit_trail(admin: Api) -> None:
    put_type(admin, "t")
    put_type(admin, "t", cpus=3)
    put_framework(admin, "torch", "2", image="x")
    admin.ok("DELETE", "/frameworks/torch/2", status=204)
    found = admin.ok("GET", "/audit?limit=4")["items"]
    assert [(one["action"], one["subject"]) for one in found] == [
        ("framework.removed", "torch:2"),
        ("framework.set", "torch:2"),
        ("type.set", "t"),
        ("type.set", "t"),
    ]
    assert found[2]["detail"] == {"changes": {"milli_cpus": [2000, 3000]}}


def test_the_catalogues_and_sizes_of_jobs_survive_a_restart(tmp_path: Path) -> None:
    clock, made = FakeClock(), {}
    for is_first in (True, False):
        running = served(tmp_path / "home", FakeEngine(clock, [NODE]), clock)
        with running as server, Api(server, server.sign_in()) as admin:
            if is_first:
                put_type(admin, "t")
                put_framework(admin, "torch", "2", environment={"requirements": ["torch"]})
                made = admin.submit(type="t")
            assert [one["name"] for one in types(admin)["items"]] == ["t"]
            (framework,) = admin.ok("GET", "/frameworks")["items"]
            assert framework["environment"] == {"requirements": ["torch"]}
            found = admin.ok("GET", f"/jobs/{made['id']}", JobDetail)
            assert (found["resources"], found["config"]) == (made["resources"], made["config"])
