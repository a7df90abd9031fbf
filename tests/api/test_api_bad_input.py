"""Bad input of every kind is refused in our one error body, names the field, and changes nothing."""

from __future__ import annotations

import base64
import io
import json
import tarfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from apiclient import Api, Data, check_refusal, fresh
from test_api_jobs import snapshot

JSON = {"Content-Type": "application/json"}
YAML = {"Content-Type": "application/yaml"}
MIB = 1024**2


@pytest.fixture(autouse=True)
def nothing_changes(admin: Api) -> Iterator[None]:
    """Compare the job table, the event log and the accounts before and after."""

    def look() -> list[Any]:
        users = admin.ok("GET", "/users")["items"]
        for user in users:
            # Who is refused was here all the same.
            del user["last_seen_at"]
        return [snapshot(admin), users, *(admin.ok("GET", path) for path in ("/queues", "/nodes"))]

    before = look()
    yield
    assert look() == before


FIELDS: dict[str, tuple[Data, str]] = {
    "no name": ({"name": None}, "name"),
    "a number for a name": ({"name": 7}, "name"),
    "a name with a slash": ({"name": "a/b"}, "name"),
    "a name that climbs": ({"name": "../../etc"}, "name"),
    "a name with a newline": ({"name": "a\n"}, "name"),
    "an empty name": ({"name": ""}, "name"),
    "a name of 256 letters": ({"name": "a" * 256}, "name"),
    "a name with NUL": ({"name": "a\x00b"}, "name"),
    "a name with a lone surrogate": ({"name": "a\ud800"}, "name"),
    "a name turned round": ({"name": "a\u202eb"}, "name"),
    "a command that is a list": ({"command": ["a", "b"]}, "command"),
    "a command with NUL": ({"command": "echo \x00"}, "command"),
    "a command with a lone surrogate": ({"command": "echo \udfff"}, "command"),
    "no command at all": ({"command": None}, "command"),
    "cpus in words": ({"cpus": "many"}, "cpus"),
    "cpus below zero": ({"cpus": -1}, "cpus"),
    "cpus beyond all": ({"cpus": 10**400}, "cpus"),
    "cpus as a truth": ({"cpus": True}, "cpus"),
    "memory without a unit": ({"memory": "7"}, "memory"),
    "memory beyond all": ({"memory": 10**30}, "memory"),
    "half a gpu": ({"gpus": 0.5}, "gpus"),
    "gpus beyond all": ({"gpus": 10**18}, "gpus"),
    "a count of zero": ({"count": 0}, "count"),
    "a count beyond all": ({"count": 10**9}, "count"),
    "a priority beyond all": ({"priority": 2**63}, "priority"),
    "a retry in words": ({"retry": "often"}, "retry"),
    "a time limit in light years": ({"time_limit": "3ly"}, "time_limit"),
    "a deadline that is no time": ({"deadline": "tomorrow"}, "deadline"),
    "a deadline beyond all": ({"deadline": "9999-12-31T23:59:59Z"}, "deadline"),
    "env as a list": ({"env": ["A=1"]}, "env"),
    "an env name with =": ({"env": {"A=B": "1"}}, "env.A=B"),
    "a platform's env name": ({"env": {"FOOTPLATE_TOKEN": "x"}}, "env.FOOTPLATE_TOKEN"),
    "an env value that is nested": ({"env": {"A": {"B": 1}}}, "env.A"),
    "an env value with NUL": ({"env": {"A": "\x00"}}, "env.A"),
    "a parameter that is nested": ({"parameters": {"a": [1]}}, "parameters.a"),
    "a reference to nothing": ({"command": "echo ${{ parameters.no }}"}, "command"),
    "an unknown field": ({"gpu": 1}, "gpu"),
    "an unknown field of odd letters": ({"\ud800": 1}, "\\ud800"),
    "two roles of one name": (
        {"command": None, "roles": [{"name": "a", "command": "x"}] * 2},
        "roles[1].name",
    ),
    "roles that are texts": ({"roles": ["a"]}, "roles[0]"),
    "no roles": ({"roles": []}, "roles"),
    "a role below another": ({"roles": [{"command": "a", "roles": []}]}, "roles[0].roles"),
    "a port below 1024": ({"ports": [{"label": "web", "begin_at": 80}]}, "ports[0].begin_at"),
    "an upload that is a path": ({"code": {"upload": "../../secret"}}, "code.upload"),
    "a code path that climbs": ({"code": {"storage": "s", "path": "../up"}}, "code.path"),
    "data that climbs": ({"data": [{"path": "/data", "source": "../up"}]}, "data[0].source"),
    "tags by the thousand": ({"tags": [str(n) for n in range(1000)]}, "tags"),
    "extras beyond all": ({"extras": {"a": "x" * 70_000}}, "extras.a"),
    "extras with NUL": ({"extras": {"a": "\x00"}}, "extras.a"),
    "a queue that climbs": ({"queue": "../x"}, "queue"),
}


@pytest.mark.parametrize("fault", FIELDS)
def test_a_bad_field_is_refused_by_its_name(ann: Api, fault: str) -> None:
    change, field = FIELDS[fault]
    document = {
        name: value for name, value in {"name": "x", "command": "true", **change}.items() if value is not None
    }
    content = json.dumps(document).encode()
    for path in ("/jobs", "/jobs/dry-run"):
        ann.refused("POST", path, 422, field, content=content, headers=JSON)


def test_two_roles_without_a_name_are_refused(ann: Api) -> None:
    # A dry run, so that nothing is left behind while this is not so yet.
    document = {"name": "x", "roles": [{"command": "a"}, {"command": "b"}]}
    ann.refused("POST", "/jobs/dry-run", 422, "roles[1].name", json=document)


def test_all_faults_are_told_at_once(ann: Api) -> None:
    document = {"name": "no spaces", "cpus": -1, "gpus": "all", "roll": 1}
    body = ann.refused("POST", "/jobs", 422, json=document)
    assert {problem["path"] for problem in body["problems"]} >= {"name", "cpus", "gpus", "roll", "command"}


BODIES: dict[str, bytes] = {
    "nothing": b"",
    "a text": b'"hello"',
    "a number": b"7",
    "null": b"null",
    "a list": b"[]",
    "half of it": b'{"name": "x"',
    "two of them": b'{"name": "a", "command": "b"} {"name": "c", "command": "d"}',
    "a comma too many": b'{"name": "x", "command": "y",}',
    "one quote for another": b"{'name': 'x'}",
    "not a number": b'{"name": "x", "command": "y", "cpus": NaN}',
    "without end": b'{"name": "x", "command": "y", "cpus": Infinity}',
    "a number without end": b'{"name": "x", "command": "y", "cpus": 1e999}',
    "a number of 5,000 digits": b'{"name": "x", "command": "y", "cpus": ' + b"9" * 5000 + b"}",
    "a key twice": b'{"name": "x", "name": "y", "command": "z"}',
    "not UTF-8": b'{"name": "\xff", "command": "y"}',
    "UTF-16": '{"name": "x", "command": "y"}'.encode("utf-16"),
    "NUL bytes": b"\x00" * 100,
    "lists 100 deep": b'{"name": "x", "command": "y", "extras": {"a": ' + b"[" * 100 + b"]" * 100 + b"}}",
    "lists 5,000 deep": b'{"name": "x", "command": "y", "extras": {"a": ' + b"[" * 5000 + b"]" * 5000 + b"}}",
    "lists 100,000 deep": b"[" * 100_000,
    "objects 100,000 deep": b'{"a":' * 100_000,
}


@pytest.mark.parametrize("fault", BODIES)
def test_a_body_that_is_no_job_in_json_is_refused(ann: Api, fault: str) -> None:
    for path in ("/jobs", "/jobs/dry-run"):
        ann.refused("POST", path, 422, content=BODIES[fault], headers=JSON)


@pytest.mark.parametrize("fault", BODIES)
def test_a_body_that_is_no_account_is_refused(admin: Api, fault: str) -> None:
    for method, path in (
        ("POST", "/users"),
        ("PATCH", "/users/admin"),
        ("POST", "/login"),
        ("POST", "/queues"),
    ):
        answer = admin.call(method, path, content=BODIES[fault], headers=JSON)
        assert answer.status_code in (400, 422), answer.text
        assert all(problem["path"] for problem in check_refusal(answer)["problems"])


def bomb(levels: int = 30) -> bytes:
    """Aliases that double at every level."""
    lines = ["a0: &a0 boom"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, levels)]
    return "\n".join(lines).encode()


DOCUMENTS: dict[str, tuple[bytes, int]] = {
    "nothing": (b"", 422),
    "only a comment": (b"# nothing here", 422),
    "a plain word": (b"hello", 422),
    "a tab for indentation": (b"name: x\n\tcommand: y", 422),
    "two documents": (b"name: x\n---\nname: y", 422),
    "a key twice": (b"name: x\nname: y\ncommand: z", 422),
    "aliases that explode": (bomb(), 413),
    "an alias to itself": (b"a: &a [*a]", 422),
    "an unknown alias": (b"name: *nobody", 422),
    "a Python object": (b"!!python/object/apply:os.system ['true']", 422),
    "a Python name": (b"name: !!python/name:os.system", 422),
    "a binary": (b"name: !!binary aGVsbG8=", 422),
    "a set": (b"!!set {a, b}", 422),
    "a date for a name": (b"name: 2001-01-01\ncommand: [x]", 422),
    "lists 1,000 deep": (b"name: " + b"[" * 1000, 422),
    "mappings 100,000 deep": (b"{a: " * 100_000, 422),
    "indentation 1,000 deep": (b"".join(b" " * n + b"a:\n" for n in range(1000)), 422),
    "keys that are lists": (b"? [a, b]\n: c", 422),
    "merges of nothing": (b"<<: 7\nname: x", 422),
    "control characters": (b"name: a\x07b\ncommand: y", 422),
    "not UTF-8": (b"name: \xff\xfe\ncommand: y", 422),
    "not a number": (b"name: x\ncommand: y\ncpus: .nan", 422),
    "a number of 5,000 digits": (b"name: x\ncommand: y\ncpus: " + b"9" * 5000, 422),
}


@pytest.mark.parametrize("fault", DOCUMENTS)
def test_a_body_that_is_no_job_in_yaml_is_refused(ann: Api, fault: str) -> None:
    content, status = DOCUMENTS[fault]
    ann.refused("POST", "/jobs", status, content=content, headers=YAML)


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/jobs", JSON),
        ("/jobs", YAML),
        ("/jobs/dry-run", YAML),
        ("/users", JSON),
        ("/login", JSON),
        ("/queues", JSON),
    ],
)
def test_ten_megabytes_are_refused_as_too_large(admin: Api, path: str, headers: dict[str, str]) -> None:
    large = b'{"name": "x", "description": "' + b"y" * (10 * MIB) + b'"}'
    body = admin.refused("POST", path, 413, says="1MB", content=large, headers=headers)
    assert body["code"] == "too_large"
    pieces = (b"- a\n" * 1000 for _ in range(2600))
    admin.refused("POST", path, 413, content=pieces, headers=headers)


def test_just_under_the_bound_is_read_and_refused_for_its_fields(ann: Api) -> None:
    document = {"name": "x", "command": "y", "env": {f"A{n}": "z" * 1000 for n in range(1000)}, "gpus": "all"}
    content = json.dumps(document).encode()
    assert MIB - 50_000 < len(content) < MIB
    ann.refused("POST", "/jobs", 422, "gpus", content=content, headers=JSON)


@pytest.mark.parametrize(
    "kind", ["image/png", "multipart/form-data; boundary=x", "application/xml", "\xff/\xfe", "json"]
)
def test_a_job_of_another_content_type_is_refused(ann: Api, kind: str) -> None:
    headers = {"Content-Type": kind.encode("latin-1")}
    content = b'{"name": "x", "command": "true"}'
    ann.refused("POST", "/jobs", 422, "Content-Type", content=content, headers=headers)
    answer = ann.call("POST", "/tokens", content=b'{"name": "x"}', headers=headers)
    assert answer.status_code == 422
    check_refusal(answer)


ODD = [
    "\x00",
    "a\x00b",
    "\u202egnp",
    "a\nb",
    "../../etc/passwd",
    "%",
    "%s%n",
    "'; DROP TABLE jobs; --",
    "训练",
    "x" * 3000,
]


@pytest.mark.parametrize("text", ODD)
def test_odd_path_segments_find_nothing(admin: Api, text: str) -> None:
    segment = quote(text, safe="")
    for path in (
        f"/jobs/{segment}",
        f"/jobs/{segment}/config",
        f"/jobs/{segment}/logs",
        f"/jobs/{segment}/logs/stream",
        f"/jobs/{segment}/attempts",
        f"/users/{segment}",
        f"/queues/{segment}",
        f"/queues/{segment}/members",
    ):
        answer = admin.call("GET", path)
        assert answer.status_code in (404, 422), (path, answer.text)
        check_refusal(answer)
    for method, path in (("DELETE", f"/tokens/{segment}"), ("DELETE", f"/queues/default/members/{segment}")):
        assert admin.call(method, path).status_code in (404, 422)
    assert admin.call("PATCH", f"/nodes/{segment}", json={"is_schedulable": False}).status_code in (404, 422)
    assert admin.call("HEAD", f"/code/{segment}").status_code == 404


def test_bytes_that_are_no_text_in_a_path_find_nothing(admin: Api) -> None:
    for path in ("/jobs/%ff%fe", "/jobs/%ed%a0%80", "/users/%c0%af", "/queues/%00"):
        assert admin.call("GET", path).status_code in (404, 422)


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_to_search_for_find_nothing_and_break_nothing(admin: Api, text: str) -> None:
    for name in ("search", "tag", "queue", "owner"):
        answer = admin.call("GET", "/jobs", params={name: text})
        assert answer.status_code in (200, 422), answer.text
        if answer.status_code == 422:
            assert check_refusal(answer)["problems"][0]["path"].startswith(name)
        else:
            assert answer.json()["items"] == []


def forged(key: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode()


TOKENS = {
    "a word": "hello",
    "odd letters": "é训",
    "a number": forged(5),
    "null": forged(None),
    "a mapping": forged({"priority": 1, "a": 2, "b": 3}),
    "too few": forged(["priority", 1]),
    "another sort": forged(["name", "x", "y"]),
    "a truth for a number": forged(["priority", True, "x"]),
    "a text for a number": forged(["priority", "1", "x"]),
    "a huge number": forged(["priority", 10**30, "x"]),
    "not a number": forged(["priority", float("nan"), "x"]),
    "no end": forged(["priority", float("inf"), "x"]),
    "a list for an id": forged(["priority", 1, ["x"]]),
    "NUL in an id": forged(["priority", 1, "\x00"]),
    "lists without end": base64.urlsafe_b64encode(b"[" * 1500).decode(),
    "bytes": base64.urlsafe_b64encode(bytes(range(200))).decode(),
    "3,000 letters": "A" * 3000,
}


@pytest.mark.parametrize("fault", TOKENS)
def test_a_forged_page_token_is_refused(ann: Api, fault: str) -> None:
    params = {"sort": "priority", "page_token": TOKENS[fault]}
    ann.refused("GET", "/jobs", 422, "page_token", params=params)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"sort": "colour"}, "sort"),
        ({"sort": "--name"}, "sort"),
        ({"limit": 0}, "limit"),
        ({"limit": 10**30}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"state": "DREAMING"}, "state[0]"),
        ({"state": ["QUEUED"] * 8}, "state"),
        ({"queue": ["q"] * 101}, "queue"),
        ({"search": "x" * 256}, "search"),
        ({"tag": "\x00"}, "tag"),
    ],
)
def test_a_list_badly_asked_for_is_refused(ann: Api, params: Data, field: str) -> None:
    ann.refused("GET", "/jobs", 422, field, params=params)


def archive_with(name: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as packed:
        packed.addfile(tarfile.TarInfo(name), io.BytesIO())
    return out.getvalue()


# Named, since an archive holds the time at which it was made.
@pytest.mark.parametrize(
    "content",
    [b"", b"no archive", archive_with("../evil"), archive_with("/etc/evil")],
    ids=["nothing", "no archive", "leads out", "absolute"],
)
def test_an_upload_that_is_no_harmless_archive_is_refused(ann: Api, content: bytes) -> None:
    ann.refused("POST", "/code", 422, "code", content=content)


@pytest.mark.parametrize("digest", ["sha256:" + "0" * 64, "nonsense", "x" * 72])
def test_an_upload_of_another_digest_is_refused(ann: Api, digest: str) -> None:
    body = ann.refused("POST", "/code", 422, content=archive_with("a"), headers={"X-Content-SHA256": digest})
    assert body["problems"][0]["path"] in ("code", "X-Content-SHA256")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "a b"}, "name"),
        ({"name": "a" * 64}, "name"),
        ({"description": "x" * 4097}, "description"),
        ({"share": {"cpus": -1}}, "share.cpus"),
        ({"maximum": {"memory_bytes": 2**61}}, "maximum.memory_bytes"),
        ({"maximum": {"gpus": 0.5}}, "maximum.gpus"),
        ({"nodes": ["\x00"]}, "nodes[0]"),
        ({"nodes": "fake"}, "nodes"),
        ({"is_open": "sometimes"}, "is_open"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_queue_out_of_bounds_is_refused(admin: Api, change: Data, field: str) -> None:
    admin.refused("POST", "/queues", 422, field, json={"name": "new", **change})


def test_lone_surrogates_in_bodies_are_refused_everywhere(admin: Api) -> None:
    for method, path, body in (
        ("POST", "/users", {"name": "\ud800", "password": "long enough"}),
        ("POST", "/users", {"name": "x", "password": "long enough \ud800"}),
        ("POST", "/login", {"user": "\udcff", "password": "x"}),
        ("POST", "/tokens", {"name": "\ud800"}),
        ("POST", "/queues", {"name": "q", "description": "\ud800"}),
        ("PATCH", "/nodes/fake", {"\ud800": True}),
    ):
        content = json.dumps(body).encode()
        admin.refused(method, path, 422, content=content, headers=JSON)


def test_a_pattern_that_cannot_be_looked_for_is_refused_with_its_field(ann: Api) -> None:
    rules = [{"action": "retry", "log": "/CUDA error: .*/"}, {"action": "retry", "log": "/CUDA (/"}]
    document = {"name": fresh("pattern"), "command": "true", "on_failure": rules}
    ann.refused("POST", "/jobs", 422, "on_failure[1].log", says="missing )", json=document)
