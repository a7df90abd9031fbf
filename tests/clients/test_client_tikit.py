"""TI-ONE's own client tikit, unchanged, against a real server: its walkthrough trains on two nodes."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cloudkeys import PROGRAMS, Key, key_of, python_of, run

from footplate.testing.process import FOOTPLATE, ServerProcess

has_torch = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not has_torch, reason="needs torch: make test FRAMEWORKS=torch")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
BIG_BYTES = 21 * 1024**2


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("tikit") / "home") as running:
        yield running


@pytest.fixture(scope="module")
def key(server: ServerProcess) -> Key:
    return key_of(server)


@pytest.fixture
def notebook(tmp_path: Path, key: Key) -> Path:
    """The folder of somebody who follows the walkthrough: data, and code that carries its keys."""
    site = next(python_of("tikit").parents[1].glob("lib/python*/site-packages"))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "numbers.txt").write_text("".join(f"{n}\n" for n in range(1, 101)))
    (tmp_path / "code").mkdir()
    shutil.copy(PROGRAMS / "main.py", tmp_path / "code")
    # What the image of the platform has installed, and the keys that users write into their code.
    given = f"export PYTHONPATH=$PYTHONPATH:{site} WALK_ID={key.id} WALK_KEY={key.secret}\n"
    (tmp_path / "code" / "start_cloud.sh").write_text(given + (PROGRAMS / "start_cloud.sh").read_text())
    return tmp_path


def check(server: ServerProcess, said: str) -> None:
    """What the client was told really happened."""
    _, task, model = said.splitlines()[-1].split()
    job_id = task.removeprefix("train-")
    with server.client() as admin:
        job = admin.get(f"/jobs/{job_id}").json()
        assert job["state"] == "SUCCEEDED"
        assert [one["exit_code"] for one in job["tasks"]] == [0, 0]
        version = admin.get(f"/models/{model}/versions/1").json()
        assert [one["path"] for one in version["files"]] == ["model.pth"]
        assert version["metrics"] == {"acc1": 62.0, "acc5": 92.0}
        kept = admin.get(
            "/storages/home/entry", params={"path": f"buckets/demo-1256580188/output/{task}/model.pth"}
        )
        assert kept.status_code == 200, kept.text
    assert "rank 0 of 2: 5050" in said
    assert "rank 1 of 2: 5050" in said


@needs_torch
def test_the_walkthrough_runs_with_three_lines_changed(
    server: ServerProcess, notebook: Path, key: Key
) -> None:
    command = [str(python_of("tikit")), str(PROGRAMS / "walkthrough.py"), "changed"]
    check(server, run(command, notebook, WALK_ID=key.id, WALK_KEY=key.secret, WALK_URL=server.url))


@needs_torch
def test_the_walkthrough_runs_unchanged_when_it_is_redirected(
    server: ServerProcess, notebook: Path, key: Key
) -> None:
    script = [str(python_of("tikit")), str(PROGRAMS / "walkthrough.py"), "unchanged"]
    footplate = [str(FOOTPLATE), "redirect", "--", *script]
    check(server, run(footplate, notebook, **server.environment, WALK_ID=key.id, WALK_KEY=key.secret))


def test_large_files_go_up_in_parts_and_come_down_in_ranges(
    server: ServerProcess, tmp_path: Path, key: Key
) -> None:
    (tmp_path / "big.bin").write_bytes(bytes(range(256)) * (BIG_BYTES // 256))
    program = """
import os, sys
from tikit.client import Client
client = Client(os.environ["WALK_ID"], os.environ["WALK_KEY"], "ap-guangzhou")
cos = client._cos_client
begun = cos.create_multipart_upload("bucket-1256580188", "files/big.bin")["UploadId"]
with open("big.bin", "rb") as file:
    for number in (1, 2):
        cos.upload_part("bucket-1256580188", "files/big.bin", file.read(1024**2), number, begun)
sent, send = [], cos.upload_part
cos.upload_part = lambda *args, **more: sent.append(args[3]) or send(*args, **more)
client.upload_to_cos("big.bin", "bucket-1256580188", "files/")
print("sent", min(sent), len(sent))
place = {"Bucket": "bucket-1256580188", "Key": "files/big.bin", "Region": "ap-guangzhou"}
cos.copy("bucket-1256580188", "copies/big.bin", place)
assert cos.head_object("bucket-1256580188", "copies/big.bin")["Content-Length"] == str(21 * 1024**2)
client.delete_cos_path("bucket-1256580188", "copies/")
client.download_from_cos("bucket-1256580188", "files/", "back")
client.delete_cos_path("bucket-1256580188", "files/")
print(client.describe_cos_path("bucket-1256580188", "files/"))
print(client.describe_cos_buckets())
"""
    (tmp_path / "program.py").write_text(program)
    command = [str(FOOTPLATE), "redirect", "--", str(python_of("tikit")), "program.py"]
    said = run(command, tmp_path, **server.environment, WALK_ID=key.id, WALK_KEY=key.secret)
    [back] = (tmp_path / "back").rglob("big.bin")
    assert back.read_bytes() == (tmp_path / "big.bin").read_bytes()
    assert "'Contents'" not in said
    # It went on with an upload that had been cut, from the third part.
    assert "sent 3 19\n" in said


def test_whatever_else_the_client_can_do_with_tasks_models_and_buckets(
    server: ServerProcess, tmp_path: Path, key: Key
) -> None:
    (tmp_path / "run.sh").write_text("echo weights > /opt/ml/model/model.pth\nsleep 600\n")
    with server.client() as admin:
        # The image stands for the Python of these tests: no container engine is needed.
        stands_in = {"environments": {"registry.example.com/team/torch:1": sys.prefix}}
        admin.patch("/queues/default", json=stands_in).raise_for_status()
    program = [str(python_of("tikit")), str(PROGRAMS / "other_calls.py")]
    command = [str(FOOTPLATE), "redirect", "--", *program]
    said = run(command, tmp_path, **server.environment, WALK_ID=key.id, WALK_KEY=key.secret)
    assert said.splitlines()[-1].split() == [
        "REFUSED",
        "InvalidParameter.ValidateError",
        "FailedOperation.DuplicateName",
        "FailedOperation.RecordNotFound",
        "InvalidParameterValue.CosPathNotExist",
        "InvalidAction",
        "AuthFailure.SignatureFailure",
        "FailedOperation.RecordNotFound",
    ]
    # The password of the registry came encrypted, and whole.
    assert server.command("secrets", "list").stdout.count("registry") >= 1
