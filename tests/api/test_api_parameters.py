"""Query parameters that a call does not have are refused, and our own clients send none of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from apiclient import Api

from footplate.sdk.client import Client
from footplate.sdk.follow import Ended
from footplate.server.app import make_app
from footplate.server.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


def test_a_misspelt_parameter_is_named_with_the_nearest_one(admin: Api) -> None:
    admin.refused("GET", "/jobs", 422, "stat", "did you mean 'state'?", params={"stat": "RUNNING"})
    admin.refused("GET", "/jobs", 422, "zzz", "known: limit, owner", params={"zzz": "1", "limit": 3})


def test_a_call_without_parameters_says_that_it_has_none(admin: Api) -> None:
    admin.refused("GET", "/me", 422, "x", "is not a parameter of this call", params={"x": "1"})
    document = {"name": "unmade", "command": "true"}
    admin.refused(
        "POST",
        "/jobs",
        422,
        "dry_run",
        "is not a parameter of this call",
        params={"dry_run": "1"},
        json=document,
    )
    assert admin.call("GET", "/jobs/unmade").status_code == 404


def test_all_unknown_parameters_are_told_at_once(admin: Api) -> None:
    body = admin.refused("GET", "/jobs", 422, params={"a": "1", "b": "2"})
    assert [problem["path"] for problem in body["problems"]] == ["a", "b"]


@pytest.mark.parametrize("path", ["/health", "/version", "/schema/job"])
def test_who_is_not_signed_in_is_told_too(nobody: Api, path: str) -> None:
    nobody.refused("GET", path, 422, "x", params={"x": "1"})


def described() -> set[str]:
    description = make_app(Settings(Path("unused"))).openapi()
    return {
        parameter["name"]
        for operations in description["paths"].values()
        for operation in operations.values()
        for parameter in _parameters(operation)
        if parameter["in"] == "query"
    }


def _parameters(operation: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = operation.get("parameters", [])
    return found


def test_the_consoles_hand_written_addresses_have_known_parameters_only() -> None:
    # Whatever goes through the generated client is checked by the types.
    written = ROOT / "console" / "src"
    used = {
        name
        for path in written.rglob("*.ts*")
        if ".test." not in path.name
        for text in re.findall(r"`[^`]*/api/v1/[^`]*\?([^`]*)`", path.read_text())
        for name in re.findall(r"(\w+)=", text)
    }
    assert used <= described() | {"ticket"}


def test_the_sdk_sends_known_parameters_only(ann: Api) -> None:
    job = ann.finished()
    with Client(ann.served.url, token=ann.token) as client:
        assert list(
            client.jobs(queue="default", owner=ann.name, state="SUCCEEDED", search="job", sort="name")
        )
        assert not list(client.jobs(trash=True, tag="x", limit=1))
        client.dry_run({"name": "x", "command": "y"})
        mine = client.job(job["id"])
        assert isinstance(list(mine.follow())[-1], Ended)
        assert isinstance(list(mine.follow(tasks=["main-0"], attempt=0, tail=3))[-1], Ended)
        for since in (None, "10m"):
            list(mine.log_text(task="main-0", attempt=0, since=since, raw=True))
        list(mine.log_text(tail=3))
        client.node_usage("fake", since="10m", points=3)
        mine.usage(task="main-0", attempt=0, since="10m", points=3)
        mine.metrics(["x"], task="main-0", attempt=0, begin=0, end=1)
        client.latest_metrics([mine.id], ["x"])
        list(mine.events())
        assert next(iter(client.events(after=0, follow=True)))
        mine.delete(for_good=True)


def test_repeating_a_key_is_described_with_its_status() -> None:
    description = make_app(Settings(Path("unused"))).openapi()
    for path in ("/api/v1/jobs", "/api/v1/jobs/{job_id}/clone"):
        responses = description["paths"][path]["post"]["responses"]
        assert {"200", "201"} <= set(responses)
        assert responses["200"]["content"]["application/json"]["schema"] == {
            "$ref": "#/components/schemas/JobDetail"
        }
