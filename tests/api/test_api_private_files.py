"""Two people never see each other's private files: every route by which files leave, as one table."""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
from dataclasses import dataclass
from typing import Any

import pytest
from apiclient import Api, Data, Hire, fresh
from cloudclients import Cos, Ufile, key_of

from footplate.testing.server import until

SECRET = b"only the owner may read this"
HOME = "/storages/home"
DIGEST = hashlib.sha256(SECRET).hexdigest()


@dataclass(frozen=True)
class Private:
    """What somebody has that nobody else may see: a file, a job with files and code, and a model."""

    file: str
    upload: str
    job: str
    manifest: str
    code: str
    model: str


@pytest.fixture
def private(ann: Api) -> Private:
    name = fresh("private")
    file = f"{name}/secret"
    ann.ok("PUT", f"{HOME}/content", params={"path": file}, content=SECRET)
    upload = _uploaded(ann, name)
    code = ann.ok("POST", "/code", status=201, content=_archive(name))["upload"]
    job = ann.running(code={"upload": code}, results={})
    for what in ("output", "code"):
        ann.folder(job, what).mkdir(parents=True, exist_ok=True)
        (ann.folder(job, what) / "secret").write_bytes(SECRET)
    ann.finish(job)
    model = ann.ok(
        "POST", "/models", status=201, json={"name": name, "storage": {"storage": "home", "path": name}}
    )

    def results() -> Data | None:
        shown: Data = ann.job(job["id"])["results"]
        return shown if shown["is_complete"] else None

    saved = until(results)
    return Private(
        file,
        upload,
        job["id"],
        f"{saved['path']}/footplate-manifest.json",
        code,
        model["model_id"],
    )


def _uploaded(api: Api, name: str) -> str:
    body = {"path": f"{name}/whole", "size_bytes": len(SECRET)}
    upload: str = api.ok("POST", f"{HOME}/uploads", status=201, json=body)["id"]
    api.ok("PATCH", f"{HOME}/uploads/{upload}", params={"offset": 0}, content=SECRET)
    return upload


def _archive(name: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(mode="w:gz", fileobj=out) as tar:
        info = tarfile.TarInfo(name)
        info.size = len(SECRET)
        tar.addfile(info, io.BytesIO(SECRET))
    return out.getvalue()


def content(path: str, **headers: str) -> tuple[str, str, dict[str, Any]]:
    return "GET", f"{HOME}/content", {"params": {"path": path}, "headers": headers}


# By what it is about: method, path, and the rest of the call.
CALLS = {
    "file": content("{file}"),
    "range of a file": content("{file}", Range="bytes=0-3"),
    "file inline": ("GET", f"{HOME}/content", {"params": {"path": "{file}", "inline": True}}),
    "length of a file": ("HEAD", f"{HOME}/content", {"params": {"path": "{file}"}}),
    "preview": ("GET", f"{HOME}/preview", {"params": {"path": "{file}"}}),
    "entry": ("GET", f"{HOME}/entry", {"params": {"path": "{file}"}}),
    "usage": ("GET", f"{HOME}/usage", {"params": {"path": "{file}"}}),
    "archive": ("GET", f"{HOME}/archive", {"params": {"path": "{folder}"}}),
    "listing": ("GET", f"{HOME}/entries", {"params": {"path": "{folder}"}}),
    "manifest of results": content("{manifest}"),
    "copy": (
        "POST",
        f"{HOME}/copy",
        {"json": {"source": "{file}", "target": {"storage": "shared", "path": "{stolen}"}}},
    ),
    "upload": ("GET", f"{HOME}/uploads/{{upload}}", {}),
    "digest of a content": ("HEAD", f"/model-contents/{DIGEST}", {}),
    "model by a digest": (
        "POST",
        "/models",
        {"json": {"name": "{stolen}", "files": [{"path": "x", "sha256": DIGEST}]}},
    ),
    "model of a file": (
        "POST",
        "/models",
        {"json": {"name": "{stolen}", "storage": {"storage": "home", "path": "{file}"}}},
    ),
    "model of a job": ("POST", "/models", {"json": {"name": "{stolen}", "job": {"job": "{job}"}}}),
    "model": ("GET", "/models/{model}", {}),
    "version": ("GET", "/models/{model}/versions/1", {}),
    "content of a version": ("GET", "/models/{model}/versions/1/content", {}),
    "archive of a version": ("GET", "/models/{model}/versions/1/archive", {}),
    "comparison": ("GET", "/models/{model}/compare", {"params": {"first": "1", "second": "1"}}),
    "code by its digest": ("GET", "/code/{code}", {}),
    "digest of code": ("HEAD", "/code/{code}", {}),
    "job with the code": (
        "POST",
        "/jobs",
        {"json": {"name": "{stolen}", "command": "true", "code": {"upload": "{code}"}}},
    ),
    "change of the code": ("POST", "/code", {"params": {"base": "{code}"}, "content": _archive("x")}),
    "files of a job": ("GET", "/jobs/{job}/files", {}),
    "outputs of a job": ("GET", "/jobs/{job}/files/output", {}),
    "preview of an output": ("GET", "/jobs/{job}/files/output/preview", {"params": {"path": "secret"}}),
    "archive of a job": ("GET", "/jobs/{job}/download", {}),
    "code of a job": ("GET", "/jobs/{job}/download", {"params": {"what": "code"}}),
    "sizes of a job": ("GET", "/jobs/{job}/sizes", {}),
    "piece of an upload": ("PATCH", f"{HOME}/uploads/{{upload}}", {"params": {"offset": len(SECRET)}}),
    "upload as a content": (
        "POST",
        f"/model-contents/{DIGEST}",
        {"json": {"storage": "home", "upload": "{upload}"}},
    ),
    # From here on something changes for the one to whom it belongs.
    "change of a version": ("PATCH", "/models/{model}/versions/1", {"json": {"description": "x"}}),
    "alias": ("PUT", "/models/{model}/aliases/best", {"json": {"version": "1"}}),
    "end of an alias": ("DELETE", "/models/{model}/aliases/best", {}),
    "change of a model": ("PATCH", "/models/{model}", {"json": {"description": "x"}}),
    "deletion of a version": ("DELETE", "/models/{model}/versions/1", {}),
    "return of a version": ("POST", "/models/{model}/versions/1/restore", {}),
    "deletion of a model": ("DELETE", "/models/{model}", {}),
    "return of a model": ("POST", "/models/{model}/restore", {}),
    "end of an upload": ("DELETE", f"{HOME}/uploads/{{upload}}", {}),
    "finish of an upload": ("POST", f"{HOME}/uploads/{{upload}}/finish", {}),
    "move": (
        "POST",
        f"{HOME}/move",
        {"json": {"source": "{file}", "target": {"storage": "shared", "path": "{stolen}"}}},
    ),
    "deletion": ("DELETE", f"{HOME}/entries", {"params": {"path": "{manifest}"}}),
}
# These mean nothing to the owner either: the content comes only with the upload, and ends it.
MEAN_NOTHING = ("digest of a content", "model by a digest", "end of an upload", "finish of an upload")
# Routes of files; and those of them by which one only writes into what is one's own, or keeps storages.
ABOUT = re.compile(
    r"/(storages/\{name\}/|models/|model-contents/|code/|jobs/\{job_id\}/(files|download|sizes))"
)
APART = {
    "PUT /storages/{name}/content",
    "POST /storages/{name}/batch",
    "POST /storages/{name}/check",
    "POST /storages/{name}/folders",
    "POST /storages/{name}/uploads",
    "GET /storages/{name}/uploads",
    "PUT /model-contents/{sha256}",
}


def filled(value: Any, private: Private) -> Any:
    if isinstance(value, dict):
        return {name: filled(one, private) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, private) for one in value]
    names = {
        "file": private.file,
        "folder": private.file.partition("/")[0],
        "stolen": fresh("stolen"),
        "manifest": private.manifest,
        "upload": private.upload,
        "job": private.job,
        "model": private.model,
        "code": private.code,
    }
    for name, meant in names.items():
        value = value.replace(f"{{{name}}}", meant) if isinstance(value, str) else value
    return value


def test_nobody_reads_private_files_of_another_by_any_route(ann: Api, hire: Hire, private: Private) -> None:
    other = hire(default="member")
    for what, (method, path, rest) in CALLS.items():
        call = filled({"path": path, **rest}, private)
        answer = other.call(method, call.pop("path"), **call)
        assert answer.status_code in (403, 404, 422), f"{what}: {answer.status_code} {answer.text[:200]}"
        assert SECRET not in answer.content, what
    # To whom it belongs, each of these means something: the paths above are the right ones.
    for what, (method, path, rest) in CALLS.items():
        call = filled({"path": path, **rest}, private)
        answer = ann.call(method, call.pop("path"), **call)
        means_nothing = what in MEAN_NOTHING
        assert answer.is_success or means_nothing, f"{what}: {answer.status_code} {answer.text[:200]}"


def test_the_table_has_every_route_of_files(ann: Api) -> None:
    described = ann.ok("GET", "/openapi.json")["paths"]
    routes = {
        f"{method.upper()} {inner}"
        for path, methods in described.items()
        if ABOUT.match(inner := path.removeprefix("/api/v1"))
        for method in methods
    }
    tried = {f"{method} {path}" for method, path, _ in CALLS.values()}

    def is_tried(route: str) -> bool:
        shape = re.compile(re.sub(r"\{[^}]+\}", "[^/]+", route))
        return any(shape.fullmatch(one) for one in tried)

    assert len(routes) > len(APART)
    assert {route for route in routes if not is_tried(route)} == APART


def test_the_buckets_of_other_clouds_lead_to_nobody_elses_home(
    ann: Api, hire: Hire, private: Private
) -> None:
    other = hire(default="member")
    for clients in (Cos, Ufile):
        mine, theirs = (clients(api, key_of(api), bucket="home") for api in (ann, other))
        assert mine.call("GET", private.file).content == SECRET
        for key in (private.file, private.manifest):
            assert theirs.call("GET", key).status_code == 404
            assert theirs.call("HEAD", key).status_code == 404
        assert private.file.partition("/")[0] not in theirs.call("GET").text
        assert private.file.partition("/")[0] in mine.call("GET").text


def test_listings_name_nothing_of_others(ann: Api, hire: Hire, private: Private) -> None:
    other = hire(default="member")
    for path in ("/models", f"{HOME}/entries", f"{HOME}/uploads", "/sizes", "/accounting"):
        assert other.call("GET", path).is_success, path
        text = other.call("GET", path).text
        for word in (private.file.partition("/")[0], private.job, private.model, private.upload):
            assert word not in text, (path, word)
    assert private.model in ann.call("GET", "/models").text
