"""Whatever clients of OpenPAI, FfDL and Prophecis send: an answer, or a refusal in their shape."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from apiclient import PASSWORD, Api, Hire, fresh
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemas import HEADER_TEXT, JUNK, ODD_TEXT

from footplate.server.routes.compat import (
    ccv1,
    ffdl,
    ffdllogs,
    paicluster,
    paijobs,
    paipeople,
    paissh,
    paitasks,
)

Data = dict[str, Any]
EXAMPLES = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
BELOW_PAI = "/rest-server/api"
MODULES = {
    module.__name__.rpartition(".")[2]: (prefix, module.router)
    for prefix, module in (
        (BELOW_PAI, paijobs),
        (BELOW_PAI, paissh),
        (BELOW_PAI, paitasks),
        (BELOW_PAI, paipeople),
        (BELOW_PAI, paicluster),
        ("", ffdl),
        ("", ffdllogs),
        ("", ccv1),
    )
}
MULTIPART = "multipart/form-data; boundary=b"
QUERIES = st.sampled_from(
    [
        "username",
        "vc",
        "state",
        "jobPriority",
        "tagsContain",
        "tagsNotContain",
        "keyword",
        "offset",
        "limit",
        "order",
        "withTotalCount",
        "type",
        "default",
        "nodes",
        "tail-mode",
        "tailMode",
        "namespace",
        "userid",
        "page",
        "size",
        "clusterName",
        "follow",
        "since_time",
        "pagesize",
        "pos",
        "searchType",
        "from",
        "version",
        "watson-userinfo",
        "mlss-userid",
        "path",
    ]
)
WORDS = st.sampled_from(
    ["true", "RUNNING,FAILED", "submissionTime,ASC", "jobName,DESC", "0", "-1", "2", "9999999999999", "halt"]
)
MANIFEST: Data = {
    "name": "fuzzed",
    "cpus": 1,
    "memory": "100Mb",
    "learners": 1,
    "namespace": "default",
    "code_selector": "storagePath",
    "data_stores": [{"id": "a", "type": "mount_volume", "training_data": {"container": "b"}}],
    "framework": {"name": "tensorflow", "version": "1", "command": "true"},
    "evaluation_metrics": {"type": "tensorboard", "in": "$JOB_STATE_DIR/logs/tb"},
    "job_alert": {},
    "gpus": 0,
    "pss": "0",
}
BODY: Data = {
    "username": "somebody",
    "password": PASSWORD,
    "newPassword": PASSWORD,
    "oldPassword": PASSWORD,
    "email": "a@b.c",
    "admin": False,
    "virtualCluster": ["default"],
    "virtualClusters": "default",
    "grouplist": [],
    "groupname": "some",
    "extension": {"acls": {"virtualClusters": ["default"], "storageConfigs": ["home"], "admin": False}},
    "patch": True,
    "value": "STOP",
    "status": "halt",
    "vcCapacity": 1,
    "vcStatus": "stopped",
    "jobName": "fuzzed",
    "image": "python:3.9",
    "taskRoles": [{"name": "a", "command": "true", "memoryMB": 100}],
}
BODY["data"] = {name: BODY[name] for name in ("username", "groupname", "email", "extension", "admin")}


@dataclass(frozen=True)
class Sent:
    """One request to make."""

    method: str
    path: str
    rest: Data


@pytest.fixture
def known(admin: Api) -> dict[str, list[str]]:
    """Names of things that are there, by parameter."""
    user, queue = fresh("user"), fresh("queue")
    admin.ok("POST", "/users", status=201, json={"name": user, "password": PASSWORD})
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    job = admin.finished()
    admin.write_log(job, b"one\ntwo\xff\nthree")
    return {
        "framework": [f"admin~{job['name']}"],
        "job": [job["name"]],
        "model": [f"training-{job['id']}"],
        "user": ["admin", user],
        "attempt": ["0", "1"],
        "role": ["main"],
        "index": ["0"],
        "run": ["0"],
        "field": ["email", "admin", "virtualcluster", "extension", "group", "grouplist"],
        "group": ["some"],
        "name": [queue, "home"],
        "namespace": [queue, "default"],
        "token": ["a.b.c"],
    }


@st.composite
def requests(draw: st.DrawFn, name: str, known: dict[str, list[str]], token: str) -> Sent:
    prefix, router = MODULES[name]
    routes = [one for one in router.routes if isinstance(one, APIRoute) and not one.path.endswith("/logout")]
    route = draw(st.sampled_from(routes))
    method, path = draw(st.sampled_from(sorted(route.methods or ()))), prefix + route.path
    for inner in re.findall(r"{(\w+)}", path):
        value = draw(st.sampled_from(known[inner]) | st.sampled_from(known[inner]) | ODD_TEXT.filter(bool))
        path = path.replace(f"{{{inner}}}", quote(value, safe="", errors="replace"))
    kind, content = draw(st.sampled_from(["", "*/*"]).map(lambda kind: (kind, b"")) | bodies())
    known_or_not = draw(st.sampled_from([token] * 9 + [""]))
    headers = {"Authorization": known_or_not, "Content-Type": kind}
    if draw(st.booleans()):
        one = draw(
            st.sampled_from(["X-Watson-Userinfo", "MLSS-UserID", "MLSS-Passwd", "Accept", "Authorization"])
        )
        headers[one] = draw(HEADER_TEXT)
    params = draw(st.lists(st.tuples(QUERIES, WORDS | ODD_TEXT), max_size=4))
    rest = {
        "params": [(name, value.encode(errors="replace").decode()) for name, value in params],
        "headers": {name: value.strip().encode("latin-1") for name, value in headers.items()},
        "content": content,
    }
    return Sent(method, path, rest)


SPOILT = st.dictionaries(st.sampled_from([*BODY, *MANIFEST]), JUNK, max_size=2)
SPOILT_BODIES = SPOILT.map(lambda junk: {**BODY, **junk})
NOISE = st.binary(max_size=60)


def bodies() -> st.SearchStrategy[tuple[str, bytes]]:
    """A body and its kind: as clients send it, nearly so, and not at all."""
    return st.one_of(
        SPOILT_BODIES.map(lambda body: ("application/json", json.dumps(body).encode())),
        JUNK.map(lambda junk: ("application/json", json.dumps(junk).encode())),
        SPOILT_BODIES.map(lambda body: ("application/x-www-form-urlencoded", _form(body))),
        SPOILT_BODIES.map(lambda body: ("text/yaml", json.dumps({**body, "protocolVersion": 2}).encode())),
        NOISE.map(lambda noise: ("text/yaml", noise)),
        SPOILT.map(lambda junk: (MULTIPART, _multipart(yaml.safe_dump({**MANIFEST, **junk}).encode(), None))),
        NOISE.map(lambda noise: (MULTIPART, _multipart(yaml.safe_dump(MANIFEST).encode(), noise))),
        NOISE.map(lambda noise: (MULTIPART, noise)),
    )


def _form(document: Data) -> bytes:
    pairs = [(name, json.dumps(value)) for name, value in document.items()]
    return "&".join(f"{quote(name)}={quote(value)}&{quote(name)}[0][a]=1" for name, value in pairs).encode()


def _multipart(manifest: bytes, code: bytes | None) -> bytes:
    parts = [(b"manifest", manifest)] + ([(b"model_definition", code)] if code is not None else [])
    head = b'--b\r\nContent-Disposition: form-data; name="%s"; filename="x"\r\n\r\n%s\r\n'
    return b"".join(head % part for part in parts) + b"--b--\r\n"


@pytest.mark.parametrize("name", MODULES)
def test_no_request_of_a_foreign_client_makes_the_server_fail(
    admin: Api, known: dict[str, list[str]], hire: Hire, name: str
) -> None:
    boss = hire(is_admin=True)
    basic = base64.b64encode(f"{boss.name}:{PASSWORD}".encode()).decode()
    token = f"Bearer {boss.token}" if name.startswith("pai") else f"Basic {basic}"
    succeeded: set[str] = set()

    @EXAMPLES
    @given(requests(name, known, token))
    def try_one(sent: Sent) -> None:
        answer = admin.http.request(
            sent.method,
            f"{admin.served.url}{sent.path}",
            **sent.rest,
        )
        assert answer.status_code < 500, (answer.text, sent)
        if answer.status_code >= 400:
            _check_shape(name, answer.json())
        else:
            succeeded.add(sent.method)

    try_one()
    # Else the requests would not reach what they are meant for; no task of these can be entered.
    assert "GET" in succeeded or name == "paissh"


def _check_shape(name: str, body: Data) -> None:
    if name.startswith("pai"):
        assert set(body) == {"code", "message"}, body
    elif name == "ccv1":
        assert set(body) == {"code", "message", "result"}, body
    else:
        assert "message" in body or {"code", "error"} <= set(body), body
