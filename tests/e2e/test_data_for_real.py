"""Data and code from storages, with a real server, real processes and the real command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.testing.process import ServerProcess

SETTINGS = """
[[storages]]
name = "sets"
path = "{folder}/sets"
[[storages]]
name = "scratch"
path = "{folder}/scratch"
read_only = false
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    (folder / "sets" / "digits").mkdir(parents=True)
    (folder / "sets" / "digits" / "one").write_text("1\n")
    (folder / "sets" / "code").mkdir()
    (folder / "sets" / "code" / "train.sh").write_text("cat /data/one && ! touch here\n")
    (folder / "scratch").mkdir()
    # Tasks of a root server run as accounts of their own.
    (folder / "scratch").chmod(0o1777)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    home = tmp_path_factory.mktemp("home")
    with ServerProcess(home, SETTINGS.format(folder=folder)) as running:
        with running.client() as client:
            (node,) = client.get("/nodes").json()["items"]
        if "files" not in node["enforced"]:
            pytest.skip(
                f"this machine cannot give tasks a view of their own: {node['unenforced']['message']}"
            )
        yield running


def follow(server: ServerProcess, *words: str) -> str:
    done = server.command("submit", "--again", "-f", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_data_is_found_where_jobs_of_other_platforms_look_for_it(server: ServerProcess) -> None:
    command = (
        "cat /opt/ml/input/data/digits/one; if touch /opt/ml/input/data/digits/two; then exit 1; fi; "
        "echo result >/data/output/result; cp /opt/ml/input/data/digits/one /data/kept/copy; "
        "cat $FOOTPLATE_OUTPUT_DIR/result; [ $DATA_DIR = /opt/ml/input/data/digits ]"
    )
    mounts = ("sets/digits:/opt/ml/input/data/digits", "job/output:/data/output:rw", "scratch:/data/kept:rw")
    options = [word for mount in mounts for word in ("-d", mount)]
    printed = follow(server, "-n", "paths", *options, "--", command)
    assert printed.splitlines()[0] == "1"
    assert printed.splitlines()[-1] == "result"


def test_what_is_written_to_a_storage_stays_there(server: ServerProcess, folder: Path) -> None:
    follow(server, "-n", "writes", "-d", "scratch:/w:rw", "--", "echo 7 >/w/seven")
    assert (folder / "scratch" / "seven").read_text() == "7\n"
    assert not Path("/w").exists()


def test_code_on_a_storage_needs_no_upload_and_cannot_be_changed(
    server: ServerProcess, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "job.yaml").write_text(
        "name: stored\ncommand: sh train.sh\ncode: {storage: sets, path: code}\n"
        "data: [{storage: sets, source: digits, path: /data}]\n"
    )
    printed = follow(server, str(tmp_path / "job.yaml"))
    assert printed.splitlines()[0] == "1"
    assert sorted(path.name for path in (folder / "sets" / "code").iterdir()) == ["train.sh"]


def test_uploaded_code_can_be_read_only_too(server: ServerProcess, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.sh").write_text("! touch here && ! rm train.sh && echo untouched")
    (tmp_path / "job.yaml").write_text(
        "name: uploaded\ncommand: sh train.sh\ncode: {path: code, read_only: true}\n"
    )
    assert "untouched" in follow(server, str(tmp_path / "job.yaml"))


def test_a_storage_is_not_a_way_around_its_links(server: ServerProcess, folder: Path) -> None:
    (folder / "scratch" / "leak").symlink_to("/etc")
    done = server.command("submit", "--again", "-f", "-n", "leak", "-d", "scratch/leak:/w", "--", "ls /w")
    assert done.returncode != 0
    assert "leads out of its storage" in done.stdout + done.stderr
    assert "passwd" not in done.stdout
