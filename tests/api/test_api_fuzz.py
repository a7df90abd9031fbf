"""Whatever is sent to any described operation, the server answers it, or refuses it in its own words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from apiclient import PASSWORD, Api, check_refusal, fresh
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemas import Description, Wanted, requests
from test_api_routes import OPERATIONS

from footplate.domain.errors import InvalidInput
from footplate.domain.jobfile import read_job
from footplate.server.app import API
from footplate.wire.documents import load

OPENAPI = json.loads((Path(__file__).parents[2] / "docs/reference/openapi.json").read_text())
DESCRIPTION = Description(OPENAPI["components"]["schemas"])
DESCRIBED = {
    f"{method.upper()} {path.removeprefix(API)}": operation
    for path, methods in OPENAPI["paths"].items()
    for method, operation in methods.items()
}
EXAMPLES = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def known(admin: Api) -> dict[str, list[str]]:
    """Names of things that are there; the admin who calls is not among them."""
    user, queue = fresh("user"), fresh("queue")
    admin.ok("POST", "/users", status=201, json={"name": user, "password": PASSWORD})
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    token = admin.ok("POST", "/tokens", status=201, json={"name": "fuzzed"})
    job = admin.submit()
    admin.write_log(job, bytes(range(256)) * 10)
    return {
        "job_id": [job["id"], job["name"]],
        "name": [user, queue, "fake", "home"],
        "user": [user],
        "file": ["nothing.whl"],
        "token_id": [token["id"]],
        "digest": ["sha256:" + "0" * 64],
        "version": ["1"],
        "what": ["output"],
        "upload_id": ["0" * 32],
        "channel_id": ["000000000000"],
        "rule_id": ["000000000000"],
        "delivery_id": ["0" * 20],
        "shell_id": ["0" * 16],
        "model": ["m-000000000000"],
        "alias": ["production"],
        "sha256": ["0" * 64],
        "key_id": ["0" * 64],
        "service": ["1"],
    }


@pytest.mark.parametrize("name", DESCRIBED)
def test_no_request_makes_the_server_fail(admin: Api, known: dict[str, list[str]], name: str) -> None:
    method, path = name.split()
    wanted = requests(DESCRIPTION, path, DESCRIBED[name], known)

    @EXAMPLES
    @given(wanted)
    def try_one(request: Wanted) -> None:
        _send(admin, method, name, request)

    try_one()


def _send(admin: Api, method: str, name: str, request: Wanted) -> None:
    sent: dict[str, Any] = {"params": request.params, "headers": request.headers, "content": request.content}
    with admin.http.stream(method, request.path, **sent) as answer:
        assert answer.status_code < 500, (name, request)
        if OPERATIONS[name].is_stream and answer.status_code == 200:
            return
        answer.read()
    if answer.status_code >= 400:
        if method != "HEAD":
            check_refusal(answer)
        return
    model = OPERATIONS[name].model
    if model is not None:
        model.model_validate_json(answer.content, strict=True)


@EXAMPLES
@given(st.binary(max_size=300))
def test_no_bytes_make_a_document_that_the_reader_fails_on(content: bytes) -> None:
    try:
        read_job(load(content, "body"))
    except InvalidInput as refused:
        assert refused.problems
