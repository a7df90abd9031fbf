"""UFile's own client, unchanged, and a job as UAI-Train's tools ask for it, against a real server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from cloudkeys import Key, key_of, python_of, run

from footplate.dialects.uai import signature
from footplate.testing.process import ServerProcess, await_that

IMAGE = "uhub.service.ucloud.cn/demo/mnist:v1"
BIG_BYTES = 9 * 1024**2
UFILE = """
import os, sys
from ufile import config, filemanager, multipartuploadufile
config.set_default(uploadsuffix=".cn-bj.ufileos.com", downloadsuffix=".cn-bj.ufileos.com")
public, private = os.environ["WALK_ID"], os.environ["WALK_KEY"]
files = filemanager.FileManager(public, private)
parts = multipartuploadufile.MultipartUploadUFile(public, private)
answers = [
    files.putfile("mybucket", "mnist/small.txt", "small.txt", header=None),
    parts.uploadfile("mybucket", "mnist/big.bin", "big.bin"),
    files.head_file("mybucket", "mnist/big.bin"),
    files.download_file("mybucket", "mnist/big.bin", "back.bin", isprivate=True),
]
assert [answer.status_code for _, answer in answers] == [200, 200, 200, 200]
listed, _ = files.getfilelist("mybucket", prefix="mnist/")
assert [one["FileName"] for one in listed["DataSet"]] == ["mnist/big.bin", "mnist/small.txt"]
_, wrong = filemanager.FileManager(public, "wrong").getfilelist("mybucket", prefix="mnist/")
assert wrong.status_code == 403
"""
PROGRAM = """
import argparse, os
options = argparse.ArgumentParser()
for name in ("work_dir", "data_dir", "output_dir", "log_dir"):
    options.add_argument(f"--{name}")
options.add_argument("--num_gpus", type=int)
given = options.parse_args()
with open(f"{given.data_dir}/small.txt") as file:
    text = file.read().strip()
name = f"{given.output_dir}/model-{os.environ['RANK']}.txt"
before = open(name).read() if os.path.exists(name) else ""
assert not os.path.exists(f"{given.output_dir}/footplate-manifest.json")
with open(name, "w") as file:
    file.write(before + text.upper())
print("trained on", text)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("uai") / "home") as running:
        with running.client() as admin:
            # The image stands for the Python of these tests: no container engine is needed.
            stands_in = {"environments": {IMAGE: sys.prefix}}
            admin.patch("/queues/default", json=stands_in).raise_for_status()
        yield running


@pytest.fixture(scope="module")
def key(server: ServerProcess) -> Key:
    return key_of(server)


def call(server: ServerProcess, key: Key, action: str, **parameters: Any) -> dict[str, Any]:
    """Ask as the tools do whose requests go through a proxy: with the whole address in the first line."""
    given = {"Action": action, "PublicKey": key.id, "Region": "cn-bj2", "Zone": "cn-bj2-04"}
    given |= {name: str(value) for name, value in parameters.items()}
    given["Signature"] = signature.sign(given, key.secret)
    with httpx.Client(proxy=server.url, trust_env=False, timeout=30) as client:
        body: dict[str, Any] = client.get(f"http://api.ucloud.cn/?{urlencode(given)}").json()
    assert body["RetCode"] == 0, body
    return body


def test_ufile_s_own_client_stores_and_fetches(server: ServerProcess, key: Key, tmp_path: Path) -> None:
    python = python_of("ufile")
    (tmp_path / "small.txt").write_text("digits\n")
    (tmp_path / "big.bin").write_bytes(bytes(range(256)) * (BIG_BYTES // 256))
    (tmp_path / "program.py").write_text(UFILE)
    proxy = {"HTTP_PROXY": server.url, "http_proxy": server.url, "NO_PROXY": "none", "no_proxy": "none"}
    run([str(python), "program.py"], tmp_path, WALK_ID=key.id, WALK_KEY=key.secret, **proxy)
    assert (tmp_path / "back.bin").read_bytes() == (tmp_path / "big.bin").read_bytes()


def test_a_distributed_job_reads_its_data_and_leaves_its_results(server: ServerProcess, key: Key) -> None:
    with server.client() as admin:
        where = {"path": "buckets/mybucket/mnist/small.txt"}
        admin.put("/storages/home/content", params=where, content=b"digits\n").raise_for_status()
        code = {"path": "buckets/mybucket/mnist/train.py"}
        admin.put("/storages/home/content", params=code, content=PROGRAM.encode()).raise_for_status()
        modes = call(server, key, "GetUAITrainAvailableTrainMode")["DataItem"]
        mode = next(one["TrainModeId"] for one in modes if one["TrainModeName"] == "Distributed")
        nodes = call(server, key, "GetUAITrainAvailableResource", NodeType="Work", TrainModeId=mode)
        wanted = {"AcceleratorAmount": 1, "AcceleratorVersion": "P40"}
        node = next(one["NodeId"] for one in nodes["DataSet"] if wanted.items() <= one.items())

        def create() -> str:
            made = call(
                server,
                key,
                "CreateUAITrainJob",
                TrainJobName="mnist",
                TrainWorkId=node,
                CodeUhubPath=IMAGE,
                DataUfilePath="http://mybucket.ufile.ucloud.com.cn/mnist/",
                InputDataBackendId=201,
                OutputUfilePath="http://mybucket.cn-bj.ufileos.com/out/",
                OutputDataBackendId=201,
                DockerCmd="/data/data/train.py",
                MaxExecuteTime=1,
                TrainWorkAmount=2,
                TrainModeId=mode,
                DistAIFrame=302,
                TrainPublicKey=key.id,
                TrainPrivateKey=key.secret,
                TrainJobMemo="",
                BusinessGroup="default",
            )
            return str(made["TrainJobId"])

        def status(train: str) -> str:
            [one] = call(server, key, "GetUAITrainJobList", TrainJobId=train, Offset=0, Limit=0)["DataSet"]
            return str(one["Status"])

        def leaves(train: str, content: bytes) -> None:
            await_that(lambda: status(train) in ("Done", "Error"), 60, "the job ends")
            assert status(train) == "Done"
            job_id = train.removeprefix("uaitrain-")
            kept = {"path": f"buckets/mybucket/out/{job_id}/model-1.txt"}
            await_that(
                lambda: admin.get("/storages/home/content", params=kept).content == content,
                60,
                "the results are in the bucket",
            )

        train = create()
        leaves(train, b"DIGITS")
        lines = call(server, key, "GetUAITrainRunningLog", TrainJobId=train, LogTopicId="worker-1")
        assert lines["RunningLog"] == ["trained on digits"]
        # The next with the same output path goes on from there.
        leaves(create(), b"DIGITSDIGITS")
    assert key.secret not in server.log
