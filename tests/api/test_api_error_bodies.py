"""A router may tell of refusals in a body of its own; all others keep ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from apiclient import NODE
from fastapi import APIRouter
from pydantic import BaseModel

from footplate.domain.errors import InvalidInput
from footplate.server import errors
from footplate.server.auth import Signed
from footplate.server.errors import Refusal
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served

router = APIRouter(prefix="/elsewhere/api")


class Body(BaseModel):
    number: int


@router.post("/jobs")
async def submit(body: Body, caller: Signed) -> None:
    raise InvalidInput(f"{caller.name} may not have {body.number}", "number")


def foreign(refusal: Refusal) -> dict[str, Any]:
    return {"error": refusal.code, "fields": [problem.path for problem in refusal.problems]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home: Path = tmp_path_factory.mktemp("home")
    clock = FakeClock()
    with served(home, FakeEngine(clock, [NODE]), clock) as one:
        # Before what the console takes for itself, which is every path.
        routes = list(one.app.router.routes)
        errors.include(one.app, router, foreign)
        added = [route for route in one.app.router.routes if route not in routes]
        one.app.router.routes[:] = [*added, *routes]
        yield one


@pytest.mark.parametrize(
    ("path", "sent", "status", "body"),
    [
        ("/jobs", {"number": 3}, 422, {"error": "invalid_input", "fields": ["number"]}),
        ("/jobs", {"number": "x"}, 422, {"error": "invalid_input", "fields": ["number"]}),
        ("/jobs", None, 422, {"error": "invalid_input", "fields": ["body"]}),
    ],
)
def test_refusals_below_a_prefix_have_the_body_of_their_router(
    server: Served, path: str, sent: Any, status: int, body: Any
) -> None:
    with server.client(server.sign_in()) as client:
        answer = client.post(f"{server.url}/elsewhere/api{path}", json=sent)
    assert (answer.status_code, answer.json()) == (status, body)


def test_a_stranger_is_told_so_in_the_body_of_the_router(server: Served) -> None:
    with server.client() as client:
        answer = client.post(f"{server.url}/elsewhere/api/jobs", json={"number": 3})
    assert (answer.status_code, answer.json()) == (401, {"error": "unauthenticated", "fields": []})
    assert answer.headers["www-authenticate"] == "Bearer"


def test_a_wrong_method_is_told_in_the_body_of_the_router(server: Served) -> None:
    with server.client() as client:
        answer = client.delete(f"{server.url}/elsewhere/api/jobs")
    assert (answer.status_code, answer.json()["error"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/elsewhere/apis", "/elsewher"])
def test_other_paths_keep_our_own_body(server: Served, path: str) -> None:
    with server.client(server.sign_in()) as client:
        answer = client.post(f"{server.url}{path}")
    assert {"code", "message", "problems", "request_id"} <= answer.json().keys()
