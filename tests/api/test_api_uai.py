"""UAI-Train and UFile over HTTP: bounds that are told, bills, logs told once, and keys that nobody sees."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from apiclient import Api, Hire, fresh
from cloudclients import Key, Uai, Ufile, key_of, other

from footplate.dialects.uai import catalogue
from footplate.services import access_keys
from footplate.services.access import Caller
from footplate.testing.server import Served, until

BUCKET = "mybucket"
IMAGE = "registry.example.com/uai/train:1"


@pytest.fixture(scope="module")
def key(ann: Api) -> Key:
    return key_of(ann)


@pytest.fixture(scope="module")
def uai(ann: Api, key: Key) -> Uai:
    ufile = Ufile(ann, key)
    assert ufile.call("PUT", "mnist/train.bin", content=b"123").status_code == 200
    return Uai(ann, key)


@pytest.fixture
def ufile(ann: Api, key: Key) -> Ufile:
    return Ufile(ann, key, fresh("bucket"))


def node(name: str) -> int:
    return catalogue.number_of(name)


def wish(**changed: Any) -> dict[str, Any]:
    return {
        "TrainJobName": fresh("standalone"),
        "TrainWorkId": node("1-P40"),
        "CodeUhubPath": IMAGE,
        "DataUfilePath": f"http://{BUCKET}.ufile.ucloud.com.cn/mnist/",
        "InputDataBackendId": 201,
        "OutputUfilePath": f"http://{BUCKET}.cn-bj.ufileos.com/out/",
        "OutputDataBackendId": 201,
        "DockerCmd": "/data/mnist.py --max_step=200",
        "MaxExecuteTime": 2,
        "TrainWorkAmount": 1,
        "TrainModeId": 101,
        "DistAIFrame": 0,
        "TrainPublicKey": "ucloudpub",
        "TrainPrivateKey": "ucloudpriv-do-not-tell",
        "TrainJobMemo": "",
        "BusinessGroup": "default",
        **changed,
    }


def test_the_tools_find_what_they_ask_for(uai: Uai) -> None:
    modes = uai.ok("GetUAITrainAvailableTrainMode")["DataItem"]
    assert modes[0] == {"TrainModeId": 101, "TrainModeName": "StandAlone"}
    nodes = uai.ok("GetUAITrainAvailableResource", NodeType="Work", TrainModeId=101)["DataSet"]
    found = {(one["AcceleratorAmount"], one["AcceleratorVersion"]): one["NodeId"] for one in nodes}
    assert type(found[2, "P40"]) is int
    backends = uai.ok("GetUAITrainAvailableBackend", TrainModeId=101)["DataItem"]
    assert [one["DataBackendName"] for one in backends] == ["UFile", "UFS"]
    frameworks = uai.ok("GetUAITrainAvailableDistAIFramework", TrainModeId=102)["DataItem"]
    assert "tensorflow" in [one["DistAIFrameName"] for one in frameworks]
    bounds = uai.ok("GetUAITrainDistributeWorkAmountRange")
    assert (bounds["Min"], bounds["Max"]) == (2, 4)
    assert uai.ok("GetUAITrainMaxExecTimeRange")["Max"] == 720
    numbers = {}
    for kind in ("OS", "Python", "AIFrame", "Accelerator"):
        numbers[kind] = uai.ok("GetUAITrainEnvPkg", PkgType=kind)["DataSet"][0]["PkgId"]
    image = uai.ok(
        "CheckUAITrainBaseImgExists",
        OSVersion=numbers["OS"],
        PythonVersion=numbers["Python"],
        AIFrameVersion=numbers["AIFrame"],
        AcceleratorID=numbers["Accelerator"],
    )
    assert image["BimgName"] == ["uaitrain/ubuntu-14.04.05_python-2.7.6_tensorflow-1.1.0_gpu:v1.0"]


def test_a_wish_becomes_a_job(uai: Uai, ann: Api) -> None:
    train = uai.ok("CreateUAITrainJob", **wish())["TrainJobId"]
    config = ann.ok("GET", f"/jobs/{train.removeprefix('uaitrain-')}/config")
    [role] = config["roles"]
    assert role["command"] == (
        "cd /data && exec python /data/mnist.py --max_step=200 --work_dir=/data --data_dir=/data/data "
        "--output_dir=/data/output --log_dir=/data/output --num_gpus=1"
    )
    assert (config["image"], config["time_limit"]) == (IMAGE, "2h")
    mounts = {one["path"]: (one["storage"], one["source"]) for one in config["data"]}
    assert mounts == {"/data/data": ("home", f"buckets/{BUCKET}/mnist"), "/data/output": ("job", "output")}
    assert config["results"] == {"storage": "home", "path": f"buckets/{BUCKET}/out"}
    listed = uai.ok("GetUAITrainJobList", TrainJobId=train, Offset=0, Limit=0)
    [told] = listed["DataSet"]
    assert told["DockerCmd"] == "/data/mnist.py --max_step=200"
    assert type(told["CreateTime"]) is int
    assert told["EndTime"] == 0


def test_a_name_may_be_used_again(uai: Uai) -> None:
    asked = wish(TrainJobName=f"{fresh('again')}x")
    ids = [uai.ok("CreateUAITrainJob", **asked)["TrainJobId"] for _ in range(2)]
    names = [
        uai.ok("GetUAITrainJobList", TrainJobId=one, Offset=0, Limit=0)["DataSet"][0]["TrainJobName"]
        for one in ids
    ]
    assert names == [asked["TrainJobName"], f"{asked['TrainJobName']}-2"]


def test_a_job_goes_on_from_what_lies_at_its_output_path(uai: Uai, ann: Api) -> None:
    where = {"path": f"buckets/{BUCKET}/resumed/checkpoint.bin"}
    ann.call("PUT", "/storages/home/content", params=where, content=b"weights").raise_for_status()
    output = f"http://{BUCKET}.cn-bj.ufileos.com/resumed/"
    train = uai.ok("CreateUAITrainJob", **wish(TrainJobName="resumed", OutputUfilePath=output))["TrainJobId"]
    config = ann.ok("GET", f"/jobs/{train.removeprefix('uaitrain-')}/config")
    mounts = {one["path"]: (one["storage"], one["source"]) for one in config["data"]}
    assert mounts["/data/earlier"] == ("home", f"buckets/{BUCKET}/resumed")
    assert "cp -R /data/earlier/. /data/output/" in config["roles"][0]["command"]


@pytest.mark.parametrize(
    ("changed", "number", "says"),
    [
        ({"TrainModeId": 102, "TrainWorkAmount": 1}, 210, "from 2 to 4"),
        ({"TrainModeId": 102, "TrainWorkAmount": 5}, 210, "from 2 to 4"),
        ({"TrainModeId": 101, "TrainWorkAmount": 2}, 210, "from 1 to 1"),
        ({"MaxExecuteTime": 0}, 210, "from 1 to 720"),
        ({"MaxExecuteTime": 721}, 210, "from 1 to 720"),
        ({"MaxExecuteTime": "soon"}, 210, "MaxExecuteTime"),
        ({"TrainJobName": ""}, 220, "TrainJobName"),
        ({"TrainWorkId": 7}, 210, "TrainWorkId"),
        ({"DataUfilePath": "http://127.0.0.1/data/"}, 210, "DataUfilePath"),
        ({"DistAIFrame": 9}, 210, "DistAIFrame"),
        ({"DataUfilePath": f"http://{BUCKET}.ufile.ucloud.com.cn/none/"}, 210, "none"),
    ],
)
def test_what_is_out_of_bounds_is_refused_and_never_cut(
    uai: Uai, changed: dict[str, Any], number: int, says: str
) -> None:
    refused = uai.call("CreateUAITrainJob", **wish(**changed))
    assert refused["RetCode"] == number
    assert says in refused["Message"]


def test_a_distributed_job_has_its_nodes(uai: Uai, ann: Api) -> None:
    changed = {"TrainModeId": 102, "TrainWorkAmount": 2, "DistAIFrame": 301}
    train = uai.ok("CreateUAITrainJob", **wish(**changed))["TrainJobId"]
    roles = ann.ok("GET", f"/jobs/{train.removeprefix('uaitrain-')}/config")["roles"]
    assert [(one["name"], one.get("count", 1), one.get("gpus", 0)) for one in roles] == [
        ("master", 1, 1),
        ("worker", 1, 1),
        ("ps", 1, 0),
    ]
    [told] = uai.ok("GetUAITrainJobList", TrainJobId=train, Offset=0, Limit=0)["DataSet"]
    assert told["TrainWorkAmount"] == 2


def test_a_job_is_renamed_stopped_and_removed(uai: Uai) -> None:
    train = uai.ok("CreateUAITrainJob", **wish())["TrainJobId"]
    name = fresh("renamed")
    uai.ok("ModifyUAITrainJobName", TrainJobId=train, TrainJobName=name)
    uai.ok("ModifyUAITrainJobMemo", TrainJobId=train, TrainJobMemo="a memo")
    uai.ok("StopUAITrainJob", TrainJobId=train)

    def told() -> dict[str, Any]:
        [one] = uai.ok("GetUAITrainJobList", TrainJobId=train, Offset=0, Limit=0)["DataSet"]
        return dict(one)

    until(lambda: told()["Status"] == "Stopped")
    assert (told()["TrainJobName"], told()["TrainJobMemo"]) == (name, "a memo")
    info = uai.ok("GetUAITrainRunningInfo", TrainJobId=train)
    assert (info["ExecTime"] >= 0, info["TotalPrice"]) == (True, 0)
    assert uai.ok("GetUAITrainJobStartPredict", TrainJobId=train)["WaitJobCount"] == 0
    uai.ok("RemoveUAITrainJob", TrainJobId=train)


def test_a_bill_says_how_long_jobs_ran(uai: Uai, ann: Api) -> None:
    clock = ann.served.clock
    began = int(clock.now())
    train = uai.ok("CreateUAITrainJob", **wish())["TrainJobId"]
    until(lambda: ann.ok("GET", f"/jobs/{train.removeprefix('uaitrain-')}")["state"] == "RUNNING")
    clock.advance(600)  # type: ignore[attr-defined]
    bill = uai.ok("GetUAITrainBillInfo", BeginTime=began - 1, EndTime=began + 1000, Offset=0, Limit=10)
    lines = {one["TrainJobId"]: one["ExecuteTime"] for one in bill["DataSet"]}
    assert 590 <= lines[train] <= 601
    assert bill["TotalExecuteTime"] >= lines[train]
    assert uai.call("GetUAITrainBillInfo", BeginTime=5, EndTime=5, Offset=0, Limit=1)["RetCode"] == 210


def test_where_nothing_serves_tensorboard_its_address_is_the_page_of_the_job(
    uai: Uai, hire: Hire, server: Served
) -> None:
    train = uai.ok("CreateUAITrainJob", **wish())["TrainJobId"]
    url = uai.ok("GetUAITrainTensorboardUrl", TrainJobId=train)["TensorboardURL"]
    assert url == f"{server.parts.settings.url}/jobs/{train.removeprefix('uaitrain-')}"
    stranger = hire(default="member")
    refused = Uai(stranger, key_of(stranger)).call("GetUAITrainTensorboardUrl", TrainJobId=train)
    assert refused["RetCode"] == 240


def test_a_log_is_told_once(uai: Uai, ann: Api) -> None:
    train = uai.ok("CreateUAITrainJob", **wish())["TrainJobId"]
    log = ann.served.parts.platform.logs.open(f"{train.removeprefix('uaitrain-')}.0", "worker-0")
    log.path.parent.mkdir(parents=True, exist_ok=True)
    topics = uai.ok("GetUAITrainRunningLogTopicList", TrainJobId=train)["DataSet"]
    assert topics == [{"TopicId": "worker-0", "TopicName": "worker-0"}]

    def lines() -> list[str]:
        return list(uai.ok("GetUAITrainRunningLog", TrainJobId=train, LogTopicId="worker-0")["RunningLog"])

    assert lines() == []
    log.path.write_text("one\ntwo\nhal")
    assert lines() == ["one", "two"]
    assert lines() == []
    log.path.write_text("one\ntwo\nhalf\n")
    assert lines() == ["half"]
    # Whoever comes back later wants all of it.
    ann.served.clock.advance(61)  # type: ignore[attr-defined]
    assert lines() == ["one", "two", "half"]
    assert uai.call("GetUAITrainRunningLog", TrainJobId=train, LogTopicId="none")["RetCode"] == 220001


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """All that any logger of the server writes meanwhile."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.addFilter(lambda record: not record.name.startswith("http"))
    root = logging.getLogger()
    root.addHandler(handler)
    before = root.level
    root.setLevel(logging.DEBUG)
    yield text
    root.removeHandler(handler)
    root.setLevel(before)


def test_the_private_key_is_written_nowhere(
    uai: Uai, ann: Api, logged: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = uai.ok("CreateUAITrainJob", **wish())["TrainJobId"]
    uai.call("CreateUAITrainJob", **wish(TrainWorkAmount=99))

    def fail(*_: object) -> None:
        raise RuntimeError("with the whole request in it: ucloudpriv-do-not-tell")

    monkeypatch.setattr("footplate.dialects.uai.jobs.read", fail)
    refused = uai.call("CreateUAITrainJob", **wish())
    assert refused["RetCode"] == 130
    assert "ucloudpriv" not in str(refused)
    assert "CreateUAITrainJob" in logged.getvalue()
    assert "ucloudpriv" not in logged.getvalue()
    job_id = train.removeprefix("uaitrain-")
    assert "ucloudpriv" not in ann.call("GET", f"/jobs/{job_id}/config").text
    assert "ucloudpriv" not in ann.call("GET", f"/jobs/{job_id}/events").text


# Who is refused


def test_what_is_not_signed_by_the_key_is_refused(uai: Uai, ann: Api) -> None:
    assert replace(uai, key=other(uai.key)).call("GetUAITrainJobList")["RetCode"] == 171
    assert replace(uai, key=Key("nobody", "x")).call("GetUAITrainJobList")["RetCode"] == 171
    gone = key_of(ann)
    ann.served.run(access_keys.remove(ann.served.parts.platform, Caller(ann.name), gone.id))
    assert replace(uai, key=gone).call("GetUAITrainJobList")["RetCode"] == 171
    bare = httpx.get(f"{ann.served.url}/?Action=GetUAITrainJobList", headers={"Host": "api.ucloud.cn"})
    assert bare.json()["RetCode"] == 170
    none = httpx.get(f"{ann.served.url}/", headers={"Host": "api.ucloud.cn"})
    assert none.json()["RetCode"] == 160
    assert uai.call("DropAllTables")["RetCode"] == 210


def test_other_peoples_jobs_are_refused(uai: Uai, hire: Hire) -> None:
    train = uai.ok("CreateUAITrainJob", **wish())["TrainJobId"]
    bob = hire(default="member")
    theirs = Uai(bob, key_of(bob))
    for action in ("StopUAITrainJob", "RemoveUAITrainJob", "GetUAITrainJobList", "GetUAITrainRunningInfo"):
        assert theirs.call(action, TrainJobId=train, Offset=0, Limit=0)["RetCode"] in (240, 220001)
    assert theirs.call("StopUAITrainJob", TrainJobId="uaitrain-000000000000")["RetCode"] == 220001
    assert theirs.ok("GetUAITrainJobList", TrainJobId="", Offset=0, Limit=0)["DataSet"] == []


# UFile


def test_an_object_of_ufile_comes_back(ufile: Ufile) -> None:
    assert ufile.call("PUT", "mnist/a", content=b"123").status_code == 200
    assert ufile.call("GET", "mnist/a").content == b"123"
    assert ufile.call("HEAD", "mnist/a").headers["content-length"] == "3"
    listed = ufile.call("GET", query="?list&prefix=mnist/").json()
    assert [(one["FileName"], one["Size"]) for one in listed["DataSet"]] == [("mnist/a", 3)]
    assert listed["NextMarker"] == ""
    assert ufile.call("DELETE", "mnist/a").status_code == 204
    assert ufile.call("GET", "mnist/a").status_code == 404


def test_parts_of_ufile_are_joined(ufile: Ufile) -> None:
    begun = ufile.call("POST", "big", "?uploads").json()
    tags = []
    for number, content in enumerate((b"first ", b"second")):
        sent = ufile.call("PUT", "big", f"?uploadId={begun['UploadId']}&partNumber={number}", content)
        tags.append(sent.headers["etag"].strip('"'))
    done = ufile.call("POST", "big", f"?uploadId={begun['UploadId']}", ",".join(tags).encode())
    assert done.json()["FileSize"] == 12
    assert ufile.call("GET", "big").content == b"first second"


def test_a_link_of_ufile_ends(ufile: Ufile) -> None:
    ufile.call("PUT", "a b", content=b"x")
    host = {"Host": f"{ufile.bucket}.cn-bj.ufileos.com"}
    assert httpx.get(ufile.link("a b", 60), headers=host).content == b"x"
    assert httpx.get(ufile.link("a b", -60), headers=host).status_code == 403
    assert (
        httpx.get(ufile.link("a b", 60).replace("Signature=", "Signature=x"), headers=host).status_code == 403
    )


def test_objects_of_others_are_refused(ufile: Ufile, hire: Hire) -> None:
    ufile.call("PUT", "mine", content=b"x")
    assert replace(ufile, key=other(ufile.key)).call("GET", "mine").status_code == 403
    bob = hire(default="member")
    refused = replace(ufile, api=bob, key=key_of(bob)).call("GET", "mine")
    assert refused.status_code == 404
    assert refused.json()["RetCode"] < 0
