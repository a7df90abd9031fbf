"""Notebooks over REST: jobs with a service, waiting in the queue like any other, and samples."""

from __future__ import annotations

import json

import pytest
from apiclient import Api, Data, Hire

from footplate.sdk.client import Client
from footplate.wire.jobs import JobDetail
from footplate.wire.notebooks import Samples


def test_a_notebook_is_a_job_with_jupyter_that_waits_its_turn(ann: Api) -> None:
    first = ann.running(cpus=8)
    wish = {
        "name": "mine",
        "cpus": 2,
        "memory": "2GB",
        "packages": ["numpy"],
        "samples": ["first-steps.ipynb"],
    }
    made = ann.ok("POST", "/notebooks", JobDetail, 201, json=wish)
    assert (made["state"], made["tags"]) == ("QUEUED", ["notebook"])
    config = ann.ok("GET", f"/jobs/{made['id']}/config")
    assert config["services"] == [{"kind": "jupyter", "path": "notebooks"}]
    assert (config["environment"], config["idle_limit"]) == ({"requirements": ["numpy"]}, "2h")
    ann.finish(first)
    ann.until(made, "RUNNING")


def test_asked_twice_with_one_key_there_is_one(ann: Api) -> None:
    asked = {"json": {"cpus": 1}, "headers": {"Idempotency-Key": "one-notebook"}}
    made = [ann.ok("POST", "/notebooks", JobDetail, status, **asked) for status in (201, 200)]
    assert made[0]["id"] == made[1]["id"]
    assert made[0]["name"].startswith("notebook-")


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"cpus": -1}, "cpus"),
        ({"memory": "much"}, "memory"),
        ({"name": "a b"}, "name"),
        ({"samples": ["../secret"]}, "samples[0]"),
        ({"idle_limit": "soon"}, "idle_limit"),
        ({"packages": [7]}, "packages[0]"),
        ({"command": "true"}, "command"),
        ({"image": "missing"}, "image"),
        ({"type": "none", "cpus": 1}, "cpus"),
    ],
)
def test_a_bad_wish_is_refused_with_its_field(ann: Api, wish: Data, field: str) -> None:
    refusal = ann.refused("POST", "/notebooks", 422, json=wish)
    assert field in json.dumps(refusal)


def test_who_may_not_submit_gets_no_notebook(hire: Hire, nobody: Api) -> None:
    hire(default="viewer").refused("POST", "/notebooks", 403, json={})
    hire().refused("POST", "/notebooks", 404, json={})
    nobody.refused("POST", "/notebooks", 401, json={})
    nobody.refused("GET", "/notebooks/samples", 401)


def test_samples_are_listed_and_fetched(ann: Api) -> None:
    listed = ann.ok("GET", "/notebooks/samples", Samples)["items"]
    assert listed[0]["file"] == "first-steps.ipynb"
    with Client(ann.served.url, token=ann.token) as client:
        assert client.notebook_samples() == listed
        assert json.loads(client.notebook_sample("first-steps.ipynb"))["nbformat"] == 4
        job = client.create_notebook("from-sdk", cpus=1, samples=["first-steps.ipynb"])
        assert job.name == "from-sdk"
    for name in ("none.ipynb", "..%2Fnotebooks.py", "%00"):
        assert ann.call("GET", f"/notebooks/samples/{name}").status_code in (404, 422)
