"""A server with several engines: what each can do, and queues that are bound to one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from apiclient import NODE, Api, Hire, fresh

from footplate.domain.cluster import Node
from footplate.domain.errors import EngineUnavailable
from footplate.domain.resources import GIB
from footplate.services.cloudtasks import room_of
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.placing_engine import PlacingEngine
from footplate.testing.server import Served, served, until
from footplate.wire.engines import Engines
from footplate.wire.jobs import DryRun, Waiting
from footplate.wire.nodes import Nodes
from footplate.wire.queues import QueueBody, Queues

FAR_NODE = Node("far-1", 64_000, 256 * GIB)


class Leaves(FakeEngine):
    """An engine whose nodes nobody knows before it is let in."""

    is_there = False

    async def nodes(self) -> Sequence[Node]:
        if not self.is_there:
            raise EngineUnavailable("engine_unreachable")
        return await super().nodes()


@pytest.fixture(scope="module")
def server(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    clock = FakeClock()
    far, gone = FakeEngine(clock, [FAR_NODE]), Leaves(clock, [Node("gone-1", 1_000_000, 4000 * GIB)])
    home = tmp_path_factory.mktemp("home")
    slurm = PlacingEngine(clock, [Node("n17", 4000, 16 * GIB)])
    more = {"far": far, "gone": gone, "slurm": slurm}
    with served(home, FakeEngine(clock, [NODE]), clock, module_database_url, more_engines=more) as running:
        until(lambda: running.parts.platform.cluster.node("far-1"))
        yield running


@pytest.fixture(scope="module")
def lab(admin: Api) -> str:
    """A queue that is bound to the engine `far`."""
    name = fresh("lab")
    admin.ok("POST", "/queues", QueueBody, 201, json={"name": name, "engine": "far"})
    return name


def test_engines_say_what_they_can_do(ann: Api) -> None:
    local, far, gone, slurm = ann.ok("GET", "/engines", Engines)["items"]
    assert (local["name"], local["is_default"], local["places_itself"]) == ("local", True, False)
    assert (far["name"], far["is_default"], far["away"]) == ("far", False, None)
    assert gone["away"]["message"]
    assert (slurm["places_itself"], slurm["chooses"]) == (True, ["cards", "nodes", "ports"])


def test_nobody_sees_engines_without_signing_in(nobody: Api) -> None:
    nobody.refused("GET", "/engines", 401)


def test_nodes_name_their_engine(ann: Api) -> None:
    found = {node["name"]: node["engine"] for node in ann.ok("GET", "/nodes", Nodes)["items"]}
    assert found == {"fake": "local", "far-1": "far"}


def test_jobs_of_a_bound_queue_run_on_its_engine(admin: Api, lab: str) -> None:
    job = admin.running(queue=lab)
    assert [task["node"] for task in job["tasks"]] == ["far-1"]
    assert admin.until(admin.submit(), "RUNNING")["tasks"][0]["node"] == "fake"


def test_a_dry_run_is_of_the_engine_of_the_queue(admin: Api, lab: str) -> None:
    document = {"name": fresh("job"), "command": "true", "queue": lab}
    told = admin.ok("POST", "/jobs/dry-run", DryRun, json=document)
    assert "far-1" in told["reason"]["message"]


def test_what_never_fits_there_is_refused_for_the_bound_queue_only(admin: Api, lab: str) -> None:
    near = fresh("near")
    admin.ok("POST", "/queues", QueueBody, 201, json={"name": near, "engine": "local"})
    large = {"name": fresh("job"), "command": "true", "cpus": 32}
    admin.refused("POST", "/jobs", 422, json={**large, "queue": near}, says=f"of queue {near}")
    admin.ok("POST", "/jobs", status=201, json={**large, "queue": lab})


def test_a_queue_is_bound_anew_and_freed(admin: Api) -> None:
    name = fresh("moving")
    made = admin.ok("POST", "/queues", QueueBody, 201, json={"name": name})
    assert (made["engine"], made["engine_problem"]) == ("", None)
    bound = admin.ok("PATCH", f"/queues/{name}", QueueBody, json={"engine": "gone"})
    assert bound["engine"] == "gone"
    assert "engine gone cannot be used now" in bound["engine_problem"]["message"]
    kept = admin.ok("PATCH", f"/queues/{name}", QueueBody, json={"description": "still bound"})
    assert kept["engine"] == "gone"
    assert admin.ok("PATCH", f"/queues/{name}", QueueBody, json={"engine": ""})["engine"] == ""


@pytest.mark.parametrize("engine", ["nowhere", "Local", "x" * 64, 7])
def test_a_queue_is_not_bound_to_an_engine_that_is_not_there(admin: Api, engine: object) -> None:
    admin.refused("POST", "/queues", 422, "engine", json={"name": fresh("queue"), "engine": engine})
    admin.refused("PATCH", "/queues/default", 422, "engine", json={"engine": engine})


def test_only_admins_bind_queues(hire: Hire) -> None:
    ruler = hire(default="admin")
    ruler.refused("PATCH", "/queues/default", 403, json={"engine": "far"})


def test_a_job_too_large_for_known_nodes_waits_for_an_engine_that_was_never_heard(
    server: Served, admin: Api
) -> None:
    job = admin.submit(cpus=500)
    waiting = until(lambda: (now := admin.job(job["id"]))["reason"]["code"] == "engine_away" and now)
    assert "engine gone cannot be used now" in waiting["reason"]["message"]
    engines = server.parts.platform.engines
    gone = engines["gone"]
    assert isinstance(gone, Leaves)
    gone.is_there = True
    assert isinstance(server.clock, FakeClock)
    server.clock.advance(100)
    server.run(server.parts.controller.refresh_nodes("gone"))
    assert admin.until(job, "RUNNING")["tasks"][0]["node"] == "gone-1"


@pytest.fixture(scope="module")
def batch(admin: Api) -> str:
    """A queue of an engine that places by itself."""
    name = fresh("batch")
    admin.ok("POST", "/queues", QueueBody, 201, json={"name": name, "engine": "slurm"})
    return name


def test_a_job_that_waits_in_its_engine_is_told_of_as_others_are(
    server: Served, admin: Api, batch: str
) -> None:
    slurm = server.parts.platform.engines["slurm"]
    assert isinstance(slurm, PlacingEngine)
    slurm.expected_at = server.clock.now() + 600
    first = admin.running(queue=batch, cpus=4)
    assert first["tasks"][0]["node"] == "n17"
    waiting = [admin.submit(queue=batch, cpus=4) for _ in range(2)]
    told = until(lambda: (now := admin.job(waiting[1]["id"]))["position"] == 1 and now)
    assert (told["state"], told["reason"]["code"]) == ("QUEUED", "behind_others")
    head = until(lambda: (now := admin.job(waiting[0]["id"]))["position"] == 0 and now)
    assert head["estimate"]["expected_at"] is not None
    assert head["estimate"]["basis"]["message"] == "as engine slurm says"
    listed = admin.ok("GET", "/waiting", Waiting, params={"queue": batch})
    assert [one["id"] for one in listed["items"]] == [job["id"] for job in waiting]
    use = admin.ok("GET", f"/queues/{batch}", QueueBody)
    assert (use["n_running"], use["n_waiting"], use["used"]["cpus"]) == (1, 2, 4)


def test_a_job_that_waits_in_its_engine_is_stopped_there(server: Served, admin: Api, batch: str) -> None:
    admin.running(queue=batch, cpus=4)
    job = admin.submit(queue=batch, cpus=4)
    until(lambda: admin.job(job["id"])["position"] == 0)
    admin.ok("POST", f"/jobs/{job['id']}/stop")
    admin.until(job, "STOPPED")
    slurm = server.parts.platform.engines["slurm"]
    assert isinstance(slurm, PlacingEngine)
    assert not slurm.world.line
    assert (f"{job['id']}.0", "main", 0) not in slurm.running()


def test_room_is_counted_on_the_nodes_of_the_engine_of_a_queue(server: Served, lab: str, batch: str) -> None:
    platform = server.parts.platform
    assert room_of(platform, lab) == FAR_NODE.capacity
    assert room_of(platform, batch) is None


def test_a_dry_run_says_that_a_job_would_be_handed_over(admin: Api, batch: str) -> None:
    document = {"name": fresh("job"), "command": "true", "queue": batch, "cpus": 1000}
    told = admin.ok("POST", "/jobs/dry-run", DryRun, json=document)
    assert told["reason"]["code"] == "handed_over"
    assert told["would_start"]


def test_a_queue_of_an_engine_that_was_taken_out_says_so(server: Served, admin: Api, lab: str) -> None:
    engines = server.parts.platform.engines
    far = engines._engines.pop("far")  # as after a restart without it
    try:
        told = admin.ok("GET", "/queues", Queues)["items"]
        (bound,) = [queue for queue in told if queue["name"] == lab]
        assert "which this server does not have" in bound["engine_problem"]["message"]
        job = admin.submit(queue=lab)
        until(lambda: admin.job(job["id"])["reason"]["code"] == "engine_away")
    finally:
        engines._engines["far"] = far
