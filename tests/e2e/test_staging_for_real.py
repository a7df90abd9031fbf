"""Data of a bucket and of a web server, with a real server, real processes and the real command."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.testing.bucket import KEY, BucketServer, running_bucket_server
from footplate.testing.process import ServerProcess


@pytest.fixture(scope="module")
def buckets() -> Iterator[BucketServer]:
    with running_bucket_server() as server:
        yield server


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("web")
    (folder / "labels").write_text("from the web\n")
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("home")) as running:
        with running.client() as client:
            (node,) = client.get("/nodes").json()["items"]
        if "files" not in node["enforced"]:
            pytest.skip(f"tasks have no view of their own here: {node['unenforced']['message']}")
        yield running


@pytest.fixture(scope="module")
def bucket(server: ServerProcess, buckets: BucketServer) -> str:
    """A bucket with some objects, declared as the storage `sets`."""
    name = buckets.new_bucket()
    code = {"project/train.py": "print('of the bucket')\n", "project/lib/words": "deep\n"}
    # A folder that was made on a cloud's own page is an object as well.
    data = {"digits/": "", "digits/one": "1\n", "digits/deep/two": "2\n", "digits/notes.txt": "n\n"}
    for key, content in {**data, **code}.items():
        assert httpx.put(f"{buckets.url}/{name}/{key}", content=content, trust_env=False).is_success
    declare(server, "sets", kind="s3", endpoint=buckets.url, bucket=name, credentials=KEY)
    return name


def declare(server: ServerProcess, name: str, **fields: Any) -> None:
    with server.client() as client:
        answer = client.post("/storages", json={"name": name, **fields})
        assert answer.is_success, answer.text


def follow(server: ServerProcess, *words: str) -> str:
    done = server.command("submit", "--again", "-f", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def submit_file(server: ServerProcess, folder: Path, text: str) -> str:
    (folder / "job.yaml").write_text(text)
    return follow(server, str(folder / "job.yaml"))


@pytest.mark.usefixtures("bucket")
def test_data_of_a_bucket_is_there_before_the_command(server: ServerProcess, tmp_path: Path) -> None:
    told = submit_file(
        server,
        tmp_path,
        "name: staged\ndata: {sets:digits: /data}\n"
        "command: |\n  cat /data/one /data/deep/two\n  [ $DATA_DIR = /data ]\n  ! touch /data/new\n",
    )
    assert "data of storage sets is in place: 3 files, 6B" in told
    assert "1\n2\n" in told
    again = submit_file(server, tmp_path, "name: staged\ndata: sets:digits\ncommand: cat $DATA_DIR/one\n")
    assert "6B of it were here already" in again


@pytest.mark.usefixtures("bucket")
def test_code_of_a_bucket_is_where_tasks_start_and_is_read_only(
    server: ServerProcess, tmp_path: Path
) -> None:
    told = submit_file(
        server,
        tmp_path,
        "name: code\ncode: {storage: sets, path: project}\n"
        "command: |\n  python3 train.py\n  ! touch new\n  cat lib/words\n",
    )
    assert {"of the bucket", "deep"} <= set(told.splitlines())
    done = server.command("submit", "--again", "-f", str(_absent(tmp_path)))
    assert done.returncode != 0
    assert "storage sets has no nothing" in done.stdout + done.stderr


def _absent(folder: Path) -> Path:
    file = folder / "absent.yaml"
    file.write_text("name: absent\ncode: {storage: sets, path: nothing}\ncommand: 'true'\n")
    return file


@pytest.mark.usefixtures("bucket")
def test_a_pattern_names_some_files(server: ServerProcess, tmp_path: Path) -> None:
    told = submit_file(
        server, tmp_path, "name: some\ndata: ['sets:digits/*.txt']\ncommand: ls /opt/ml/input/data/digits\n"
    )
    assert "1 file, 2B" in told
    assert "notes.txt" in told.splitlines()


def test_a_file_of_a_web_server_is_data_too(server: ServerProcess, tmp_path: Path, web: str) -> None:
    declare(server, "web", kind="http", endpoint=web)
    told = submit_file(server, tmp_path, "name: web\ndata: {web:labels: /data/l}\ncommand: cat /data/l\n")
    assert "from the web" in told.splitlines()


@pytest.mark.usefixtures("bucket")
def test_what_the_bucket_does_not_have_ends_the_job_with_its_name(server: ServerProcess) -> None:
    done = server.command("submit", "--again", "-f", "-n", "none", "-d", "sets/nothing:/data", "--", "true")
    assert done.returncode != 0
    assert "storage sets has no nothing" in done.stdout + done.stderr
    with server.client() as client:
        assert client.get("/jobs/none").json()["attempt"] == 0
