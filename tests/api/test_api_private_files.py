"""Two people never see each other's private files: every route by which files leave, as one table."""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import dataclass
from typing import Any

import pytest
from apiclient import Api, Data, Hire, fresh

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
    "move": (
        "POST",
        f"{HOME}/move",
        {"json": {"source": "{file}", "target": {"storage": "shared", "path": "{stolen}"}}},
    ),
    "upload": ("GET", f"{HOME}/uploads/{{upload}}", {}),
    "finish of an upload": ("POST", f"{HOME}/uploads/{{upload}}/finish", {}),
    "upload as a content": (
        "POST",
        f"/model-contents/{DIGEST}",
        {"json": {"storage": "home", "upload": "{upload}"}},
    ),
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
    mine = {one: CALLS[one] for one in CALLS if one not in ("digest of a content", "model by a digest")}
    order = sorted(mine, key=lambda one: one in ("move", "finish of an upload"))
    for what in order:
        method, path, rest = mine[what]
        call = filled({"path": path, **rest}, private)
        answer = ann.call(method, call.pop("path"), **call)
        is_gone = what == "finish of an upload"
        assert answer.is_success or is_gone, f"{what}: {answer.status_code} {answer.text[:200]}"


def test_listings_name_nothing_of_others(ann: Api, hire: Hire, private: Private) -> None:
    other = hire(default="member")
    for path in ("/models", f"{HOME}/entries", f"{HOME}/uploads", "/sizes", "/accounting"):
        assert other.call("GET", path).is_success, path
        text = other.call("GET", path).text
        for word in (private.file.partition("/")[0], private.job, private.model, private.upload):
            assert word not in text, (path, word)
    assert private.model in ann.call("GET", "/models").text
