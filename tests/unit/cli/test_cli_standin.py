"""The command where it stands in for those of FfDL and Prophecis: their ids, ZIPs, and nobody to ask."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from commandline import Command

from footplate.dialects.ffdl import translate_ffdl, translate_prophecis
from footplate.testing.fake_server import FakeServer, Reply, job

ID = "0abcdefghjk1"


@pytest.fixture
def old_ways(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    """The server, named as the commands of FfDL name it."""
    monkeypatch.setenv("DLAAS_URL", server.url)
    for name in ("FOOTPLATE_URL", "MLSS_AUTH_USER"):
        monkeypatch.delenv(name, raising=False)
    return server


def packed(**files: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"digits-code/{name}.py")
            entry.size, entry.mtime, entry.mode = len(text), 1_700_000_000, 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


def accept(server: FakeServer) -> None:
    server.on("POST /jobs", lambda asked: Reply(201, job(name=asked.json["name"], state="QUEUED")))


def test_a_submit_prints_the_id_as_they_do(old_ways: FakeServer, footplate: Command, tmp_path: Path) -> None:
    accept(old_ways)
    (tmp_path / "job.yaml").write_text("name: hello\ncommand: echo hi\n")
    assert footplate("train", "job.yaml").out.splitlines()[0] == f"Model ID: training-{ID}"
    assert footplate("train", "job.yaml", "--quiet").out == f"{ID}\n"


def test_elsewhere_nothing_of_it_is_printed(server: FakeServer, footplate: Command, tmp_path: Path) -> None:
    accept(server)
    (tmp_path / "job.yaml").write_text("name: hello\ncommand: echo hi\n")
    assert "Model ID" not in footplate("train", "job.yaml").out


def test_downloads_are_zips_of_their_names(old_ways: FakeServer, footplate: Command, tmp_path: Path) -> None:
    old_ways.on(f"GET /jobs/{ID}", Reply(200, job()))
    old_ways.on(f"GET /jobs/training-{ID}", Reply(200, job()))
    old_ways.on(f"GET /jobs/{ID}/download", Reply(content=packed(train="print(1)")))
    assert footplate("download", f"training-{ID}", "--definition").exit_code == 0
    with zipfile.ZipFile(tmp_path / f"training-{ID}-definition.zip") as files:
        (entry,) = files.infolist()
        assert (entry.filename, files.read(entry)) == ("train.py", b"print(1)")
        assert (entry.date_time[0], entry.external_attr >> 16 & 0o777) == (2023, 0o755)
    assert footplate("download", f"training-{ID}", "--trainedmodel", "--filename", "x.zip").exit_code == 0
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_file()) == [
        f"training-{ID}-definition.zip",
        "x.zip",
    ]


def test_a_file_of_zip_is_kept_as_it_is(server: FakeServer, footplate: Command, tmp_path: Path) -> None:
    server.on("GET /jobs/digits", Reply(200, job()))
    server.on(f"GET /jobs/{ID}/download", Reply(content=b"whatever it is"))
    footplate("download", "digits", "data/set.zip", "-o", "set.zip")
    assert (tmp_path / "set.zip").read_bytes() == b"whatever it is"


def test_nobody_is_asked_before_a_delete_that_can_be_undone(
    old_ways: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_ways.on("GET /jobs/digits", Reply(200, job()))
    old_ways.on(f"DELETE /jobs/{ID}", Reply(200, job()))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert footplate("delete", "digits").exit_code == 0
    assert footplate("delete", "digits", "--for-good").exit_code != 0


def test_halting_what_is_over_is_passed_over(old_ways: FakeServer, footplate: Command) -> None:
    old_ways.on("GET /jobs/digits", Reply(200, job(state="SUCCEEDED")))
    assert footplate("halt", "digits").exit_code == 0


@pytest.mark.parametrize("is_prophecis", [False, True])
def test_init_writes_a_manifest_that_can_be_sent(
    old_ways: FakeServer,  # its variables
    footplate: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_prophecis: bool,
) -> None:
    if is_prophecis:
        monkeypatch.setenv("MLSS_AUTH_USER", "ann")
    assert footplate("init", "mine", "--type", "torch", "--version", "2.0").exit_code == 0
    read = translate_prophecis if is_prophecis else translate_ffdl
    made: Any = read((tmp_path / "mine" / "manifest.yml").read_text()).document
    assert (made["name"], made["image"]) == ("mine", "torch:2.0")
    assert footplate("init", "other").exit_code == 0
    assert (tmp_path / "other" / "manifest.yml").exists()
    assert footplate("init").exit_code == 0
    assert (tmp_path / "footplate.yaml").exists()
