"""Services of jobs over the API: TensorBoard beside jobs, who may open it, how many, and when it ends."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from apiclient import NODE, Api, Hire

from footplate.services.boards import MOST_OF_ONE_PERSON
from footplate.services.openings import IDLE_S, MOST_JOBS
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served, until
from footplate.wire.openings import OpenedBody, OpeningsBody

ORIGIN = "http://services.test"


class ChecksPorts(FakeEngine):
    """An engine that is asked about the ports of its nodes."""

    asked: ClassVar[list[str]] = []

    def is_port_free(self, node: str, port: int) -> bool:
        self.asked.append(node)
        return port > 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    clock = FakeClock()
    home = tmp_path_factory.mktemp("home")
    with served(home, ChecksPorts(clock, [NODE]), clock, services_url=ORIGIN) as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_open(server: Served) -> Iterator[None]:
    yield
    server.run(server.parts.openings.close())


def board(api: Api, job: dict[str, Any], *others: dict[str, Any]) -> dict[str, Any]:
    body = {"service": "tensorboard", "others": [other["id"] for other in others]}
    return api.ok("POST", f"/jobs/{job['id']}/services", OpenedBody, 201, json=body)


def listed(api: Api, job: dict[str, Any]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = api.ok("GET", f"/jobs/{job['id']}/services", OpeningsBody)["items"]
    return items


def viewers(server: Served) -> list[str]:
    assert isinstance(server.engine, FakeEngine)
    return sorted({attempt for attempt, role, _ in server.engine.running() if role == "viewer"})


def test_tensorboard_opens_after_the_end_of_a_job_and_is_listed(server: Served, ann: Api) -> None:
    job = ann.finished()
    opened = board(ann, job)
    assert opened["url"].startswith(f"{ORIGIN}/s/")
    assert opened["jobs"] == [job["id"]]
    assert [one["service"] for one in listed(ann, job)] == ["tensorboard"]
    (viewer,) = viewers(server)
    assert viewer.partition(".")[0] in opened["url"]


def test_a_viewer_has_no_token_of_the_platform_and_knows_nothing_of_the_jobs_secrets(
    server: Served, ann: Api
) -> None:
    board(ann, ann.finished(env={"MINE": "1"}))
    assert isinstance(server.engine, FakeEngine)
    (viewer,) = viewers(server)
    env = server.engine.world.requests[viewer]["tasks"][0]["env"]
    assert "FOOTPLATE_TOKEN" not in env
    assert "MINE" not in env


def test_one_tensorboard_shows_several_jobs_and_is_found_again(server: Served, ann: Api) -> None:
    one, two = ann.finished(), ann.finished()
    first = board(ann, one, two)
    assert sorted(first["jobs"]) == sorted([one["id"], two["id"]])
    again = board(ann, two, one, two)
    assert again["port"] == first["port"]
    assert len(viewers(server)) == 1
    assert len(listed(ann, one)) == len(listed(ann, two)) == 1


def test_a_running_task_that_has_tensorboard_runs_it_itself(server: Served, ann: Api) -> None:
    opened = board(ann, ann.running())
    assert opened["task"] == "main-0"
    assert viewers(server) == []


def test_a_program_gets_a_port_that_is_free_on_the_node_of_its_task(ann: Api) -> None:
    job = ann.running()
    ChecksPorts.asked.clear()
    board(ann, job)
    assert ChecksPorts.asked == [NODE.name]


def test_somebody_elses_job_among_several_is_refused_and_noted(
    server: Served, ann: Api, hire: Hire, admin: Api
) -> None:
    bob = hire(default="member")
    hers, his = ann.finished(), bob.finished()
    body = {"service": "tensorboard", "others": [hers["id"]]}
    bob.refused("POST", f"/jobs/{his['id']}/services", 403, json=body)
    noted = admin.ok("GET", "/audit", params={"subject": hers["id"], "actor": bob.name})["items"]
    assert [(one["action"], one["detail"]["way"]) for one in noted] == [("job.entry_refused", "service")]
    # An admin may see both, but not as both people at once.
    admin.refused("POST", f"/jobs/{his['id']}/services", 409, says="different people", json=body)
    assert viewers(server) == []


def test_what_is_no_tensorboard_takes_one_job(ann: Api) -> None:
    job, other = ann.running(), ann.running()
    body = {"service": "jupyter", "others": [other["id"]]}
    ann.refused("POST", f"/jobs/{job['id']}/services", 422, "others", json=body)
    many = {"service": "tensorboard", "others": ["x"] * MOST_JOBS}
    ann.refused("POST", f"/jobs/{job['id']}/services", 422, "others", json=many)


def test_a_program_of_a_task_needs_one_that_runs(ann: Api) -> None:
    job = ann.finished()
    for service in ("jupyter", "desktop", "8080"):
        ann.refused("POST", f"/jobs/{job['id']}/services", 409, json={"service": service})


def test_a_person_has_so_many_tensorboards_and_no_more(server: Served, ann: Api) -> None:
    jobs = [ann.finished() for _ in range(MOST_OF_ONE_PERSON + 1)]
    for job in jobs[:-1]:
        board(ann, job)
    body = {"service": "tensorboard"}
    ann.refused("POST", f"/jobs/{jobs[-1]['id']}/services", 409, says="close one", json=body)
    ann.ok("DELETE", f"/jobs/{jobs[0]['id']}/services/tensorboard", status=204)
    until(lambda: len(viewers(server)) == MOST_OF_ONE_PERSON - 1)
    board(ann, jobs[-1])


def test_it_ends_when_nobody_uses_it(server: Served, clock: FakeClock, ann: Api) -> None:
    job = ann.finished()
    board(ann, job)
    clock.advance(IDLE_S - 1)
    server.run(server.parts.openings.tidy())
    assert len(viewers(server)) == 1
    clock.advance(2)
    server.run(server.parts.openings.tidy())
    assert viewers(server) == []
    assert listed(ann, job) == []


def test_it_ends_with_one_of_its_jobs_in_the_trash(server: Served, ann: Api) -> None:
    one, two = ann.finished(), ann.finished()
    board(ann, one, two)
    ann.call("DELETE", f"/jobs/{two['id']}")
    server.run(server.parts.openings.tidy())
    assert viewers(server) == []


def test_it_is_no_longer_listed_once_it_has_ended_by_itself(server: Served, ann: Api) -> None:
    job = ann.finished()
    board(ann, job)
    assert isinstance(server.engine, FakeEngine)
    server.engine.finish(viewers(server)[0], "viewer", code=1)

    def is_gone() -> bool:
        server.run(server.parts.openings.tidy())
        return not listed(ann, job)

    until(is_gone)


def test_rights_that_are_withdrawn_close_the_door(server: Served, clock: FakeClock, hire: Hire) -> None:
    bob = hire(default="member")
    prefix = board(bob, bob.finished())["url"].removeprefix(ORIGIN).partition("?")
    openings = server.parts.openings
    cookie = openings.tickets.redeem(prefix[0], prefix[2].partition("=")[2])
    assert cookie is not None
    assert server.run(openings.admit(prefix[0], cookie)) is not None
    with Api(server, server.sign_in(), "admin") as admin:
        admin.ok("PUT", f"/queues/default/members/{bob.name}", status=204, json={"role": "viewer"})
    clock.advance(6)
    assert server.run(openings.admit(prefix[0], cookie)) is None


def test_the_file_of_a_job_starts_what_it_names_and_events_tell(server: Served, ann: Api) -> None:
    job = ann.running(services=[{"kind": "jupyter"}, {"kind": "tensorboard"}])
    server.run(server.parts.openings.tidy())

    def said() -> list[str]:
        events = ann.ok("GET", f"/jobs/{job['id']}/events")["items"]
        return sorted(one["message"] for one in events if one["kind"] == "service")

    until(lambda: said() == ["jupyter is ready", "tensorboard is ready"])
    assert sorted(one["service"] for one in listed(ann, job)) == ["jupyter", "tensorboard"]
    # Once is enough, and what the job asked for is not idle.
    server.run(server.parts.openings.tidy())
    assert len(said()) == 2


def told_to_jupyter(server: Served, ann: Api, job: dict[str, Any]) -> dict[str, Any]:
    """What JupyterLab was told on the third line of its input, which the engine's streams echo."""
    ann.ok("POST", f"/jobs/{job['id']}/services", OpenedBody, 201, json={"service": "jupyter"})
    (opening,) = server.parts.openings.of(server.parts.platform.store.board[job["id"]])
    # After its secret, and an empty line for that of a desktop.
    said = until(lambda: re.search(rb"\n\n([A-Za-z0-9+/=]{20,})\n$", opening.said))
    told: dict[str, Any] = json.loads(base64.b64decode(said[1]))
    return told


def test_jupyter_in_an_image_is_told_where_the_site_has_its_packages(
    server: Served, ann: Api, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trusted = tmp_path / "own.pem"
    trusted.write_text("who we trust")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    for name, text in {"PIP_INDEX_URL": "https://mirror/simple", "PIP_CERT": str(trusted)}.items():
        monkeypatch.setenv(name, text)
    told = told_to_jupyter(server, ann, ann.running(image="example.org/torch:1"))
    assert told["variables"]["PIP_INDEX_URL"] == "https://mirror/simple"
    assert told["certificates"] == "who we trust"
