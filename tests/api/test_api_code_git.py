"""Code that is sent by what has changed, and code that the server fetches from a repository."""

from __future__ import annotations

import gzip
import io
import json
import socket
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from apiclient import NODE, Api, Data, Hire, fresh

from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.process import await_that, free_port
from footplate.testing.server import Served, served


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A git server on this machine, and the folder whose repositories it hands out."""
    folder, port = tmp_path_factory.mktemp("repositories"), free_port()
    words = ["git", "daemon", "--export-all", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}"]
    daemon = subprocess.Popen([*words, f"--base-path={folder}", str(folder)], stderr=subprocess.DEVNULL)

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        await_that(answers)
        yield f"git://127.0.0.1:{port}", folder
    finally:
        daemon.terminate()
        daemon.wait()


@pytest.fixture(scope="module")
def server(
    module_database_url: str, repositories: tuple[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    clock, home = FakeClock(), tmp_path_factory.mktemp("home")
    sources = {"git_sources": (f"{repositories[0]}/",)}
    with served(home, FakeEngine(clock, [NODE]), clock, module_database_url, **sources) as running:
        yield running


def git(folder: Path, *words: str) -> str:
    author = ("-c", "user.name=ann", "-c", "user.email=ann@example.com")
    return subprocess.run(
        ["git", *author, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(repositories: tuple[str, Path]) -> tuple[str, Path]:
    """A repository with one commit, and its address."""
    url, base = repositories
    folder = base / fresh("repo")
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "train.py").write_text("print(1)\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return f"{url}/{folder.name}", folder


def packed(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb") as zipped, tarfile.open(fileobj=zipped, mode="w") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def send(api: Api, files: dict[str, str], **params: str) -> Data:
    return api.ok("POST", "/code", status=201, content=packed(files), params=params)


def files_in(api: Api, digest: str) -> dict[str, str]:
    answer = api.call("GET", f"/code/{digest}")
    assert answer.status_code == 200, answer.text
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as tar:
        return {one.name: tar.extractfile(one).read().decode() for one in tar if one.isreg()}  # type: ignore[union-attr]


def test_what_has_changed_makes_new_code_of_what_was_sent(ann: Api) -> None:
    base = send(ann, {"a": "1", "b": "2", "c": "3"})["upload"]
    made = send(ann, {"b": "two", "d": "4", ".footplate-removed": json.dumps(["c"])}, base=base)
    assert files_in(ann, made["upload"]) == {"a": "1", "b": "two", "d": "4"}
    assert files_in(ann, base) == {"a": "1", "b": "2", "c": "3"}


def test_nobody_builds_on_code_that_is_not_theirs(ann: Api, hire: Hire) -> None:
    base = send(ann, {"secret": "mine"})["upload"]
    other = hire(default="member")
    refused = other.call("POST", "/code", content=packed({"a": "1"}), params={"base": base})
    assert refused.status_code == 404
    assert (
        ann.call("POST", "/code", content=packed({"a": "1"}), params={"base": "sha256:0"}).status_code == 404
    )


@pytest.mark.parametrize("name", ["../out", "/etc/passwd"])
def test_a_change_is_checked_as_code_is(ann: Api, name: str) -> None:
    base = send(ann, {"a": "1"})["upload"]
    ann.refused("POST", "/code", 422, "code", content=packed({name: "x"}), params={"base": base})
    ann.refused("POST", "/code", 422, "code", content=b"no archive", params={"base": base})
    broken = packed({".footplate-removed": "no list"})
    ann.refused("POST", "/code", 422, "code", content=broken, params={"base": base})


@pytest.mark.parametrize("named", ["main", "", "commit", "short"])
def test_the_server_fetches_the_commit_of_a_repository(
    ann: Api, repository: tuple[str, Path], named: str
) -> None:
    url, folder = repository
    first = git(folder, "rev-parse", "HEAD")
    if named in ("commit", "short"):
        (folder / "train.py").write_text("print(2)\n")
        git(folder, "commit", "-q", "-a", "-m", "second")
    wanted = {"commit": first, "short": first[:10]}.get(named, named)
    job = ann.submit(code={"git": url, "commit": wanted})
    code = job["config"]["code"]
    assert code["revision"]["commit"] == first
    assert files_in(ann, code["upload"]) == {"train.py": "print(1)\n"}
    again = ann.ok("POST", f"/jobs/{job['id']}/clone", status=201, json={})
    assert again["config"]["code"] == code


def test_a_repository_that_cannot_be_fetched_is_told_of(ann: Api, repository: tuple[str, Path]) -> None:
    url, folder = repository
    for code, field in (
        ({"git": url, "commit": "no-such-branch"}, "code.git"),
        ({"git": f"{url}-none"}, "code.git"),
        ({"git": "https://example.com/a.git"}, "code.git"),
        ({"git": f"file://{folder}"}, "code.git"),
        ({"git": url.replace("git://", "git://ann:secret@")}, "code.git"),
        ({"git": f"ext::sh -c touch% /tmp/x {url}"}, "code.git"),
        ({"git": url, "commit": "--upload-pack=touch /tmp/x"}, "code.commit"),
        ({"commit": "main"}, "code.commit"),
        ({"git": url, "storage": "shared"}, "code.git"),
    ):
        ann.refused("POST", "/jobs", 422, field, json={"name": fresh("job"), "command": "true", "code": code})


def test_a_link_that_leads_out_of_a_repository_is_refused(ann: Api, repository: tuple[str, Path]) -> None:
    url, folder = repository
    (folder / "leak").symlink_to("/etc/passwd")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "leak")
    job = {"name": fresh("job"), "command": "true", "code": {"git": url}}
    ann.refused("POST", "/jobs", 422, "code", json=job)


def test_a_viewer_sees_the_commit_but_no_diff(ann: Api, hire: Hire) -> None:
    upload = send(ann, {"a": fresh("content")})["upload"]
    revision = {"commit": "a" * 40, "branch": "main", "dirty": True, "diff": "+secret"}
    job = ann.submit(code={"upload": upload, "revision": revision}, shared=True)
    assert job["config"]["code"]["revision"] == revision
    viewer = hire(default="viewer")
    del revision["diff"]
    assert viewer.job(job["id"])["config"]["code"]["revision"] == revision
    assert viewer.ok("GET", f"/jobs/{job['id']}/config")["code"]["revision"] == revision
    assert hire(default="member").job(job["id"])["config"]["code"]["revision"]["diff"] == "+secret"
