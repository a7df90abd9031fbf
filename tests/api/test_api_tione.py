"""TI-ONE over HTTP: what tikit sends becomes jobs, and refusals are those of TI-ONE."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import httpx
import pytest
from apiclient import Api, Hire, fresh
from cloudclients import Cos, Key, Tione, key_of, other

from footplate.testing.server import until

BUCKET = "demo-1256580188"


@pytest.fixture(scope="module")
def key(ann: Api) -> Key:
    return key_of(ann)


@pytest.fixture(scope="module")
def tione(ann: Api, key: Key) -> Tione:
    cos = Cos(ann, key, BUCKET)
    cos.call("PUT", "code/main.py", content=b"print(1)")
    cos.call("PUT", "code/lib/deep.py", content=b"print(2)")
    cos.call("PUT", "data/train.csv", content=b"1,2")
    return Tione(ann, key)


def path(text: str) -> dict[str, Any]:
    return {"Bucket": BUCKET, "Region": "ap-guangzhou", "Paths": [text]}


def wish(**changed: Any) -> dict[str, Any]:
    """What tikit 1.9.5 sends for the walkthrough."""
    commands = {"StartCmd": None, "PsStartCmd": None, "WorkerStartCmd": "sh start_cloud.sh"}
    return {
        "Name": fresh("xxx"),
        "ChargeType": "POSTPAID_BY_HOUR",
        "ResourceConfigInfos": [
            {"Role": "WORKER", "InstanceType": "TI.GN10.2XLARGE40.POST", "InstanceNum": 2}
        ],
        "FrameworkName": "PYTORCH",
        "FrameworkEnvironment": "torch1.9-py3.8-cuda11.1-gpu",
        "ResourceGroupId": "",
        "CodePackagePath": path("code/"),
        "TrainingMode": "DDP",
        "DataConfigs": [
            {
                "MappingPath": "/opt/ml/input/data/image_classify",
                "DataSourceType": "COS",
                "COSSource": path("data/"),
            }
        ],
        "Output": path("output/"),
        "TuningParameters": "{}",
        "LogEnable": False,
        "DataSource": "COS",
        "EncodedStartCmdInfo": {"StartCmdInfo": base64.b64encode(json.dumps(commands).encode()).decode()},
        **changed,
    }


def job_of(api: Api, task: str) -> dict[str, Any]:
    return api.ok("GET", f"/jobs/{task.removeprefix('train-')}/config")


def test_the_walkthrough_finds_its_names(tione: Tione) -> None:
    infos = tione.ok("DescribeTrainingFrameworks")["FrameworkInfos"]
    versions = [one["Environment"] for info in infos for one in info["VersionInfos"]]
    assert "torch1.9-py3.8-cuda11.1-gpu" in versions
    specs = tione.ok("DescribeBillingSpecs", {"ChargeType": "POSTPAID_BY_HOUR", "TaskType": "TRAIN"})["Specs"]
    names = [one["SpecName"] for one in specs]
    assert "TI.GN10.2XLARGE40.POST" in names
    asked = [{"SpecName": name, "SpecCount": 1} for name in names]
    prices = tione.ok("DescribeBillingSpecsPrice", {"SpecsParam": asked})["SpecsPrice"]
    assert [one["SpecName"] for one in prices] == names
    images = tione.ok("DescribePlatformImages", {"Offset": 0, "Limit": 200})["PlatformImageInfos"]
    assert "torch1.9.0-py38-cu111" in [one["ImageName"] for one in images]
    templates = tione.ok("DescribeInferTemplates")["FrameworkTemplates"]
    assert templates[0]["InferTemplates"][0]["InferTemplateId"] == "torch1.9.0-py38-cu111"


def test_a_task_becomes_a_job(tione: Tione, ann: Api) -> None:
    task = tione.ok("CreateTrainingTask", wish(Remark="a note", Tags=[{"TagKey": "team", "TagValue": "v"}]))[
        "Id"
    ]
    config = job_of(ann, task)
    assert config["description"] == "a note"
    assert config["tags"] == ["team:v"]
    assert config["code"]["upload"].startswith("sha256:")
    [role] = config["roles"]
    assert (role["name"], role["count"], role["command"]) == ("worker", 2, "sh start_cloud.sh")
    # The machine of the example has 8 CPUs and 2 cards for both tasks.
    assert (role["cpus"], role["gpus"]) == (4, 1)
    mounts = {one["path"]: (one["storage"], one["source"]) for one in config["data"]}
    assert mounts["/opt/ml/input/data/image_classify"] == ("home", f"buckets/{BUCKET}/data")
    assert mounts["/opt/ml/model"] == ("job", "output")
    assert config["results"] == {"storage": "home", "path": f"buckets/{BUCKET}/output/{task}"}


def test_a_task_is_told_of_as_it_was_asked_for(tione: Tione) -> None:
    asked = wish()
    task = tione.ok("CreateTrainingTask", asked)["Id"]
    told = tione.ok("DescribeTrainingTask", {"Id": task})["TrainingTaskDetail"]
    assert (told["Id"], told["LatestInstanceId"], told["Name"]) == (task, task, asked["Name"])
    assert told["Output"] == path("output/")
    assert told["CodePackagePath"] == path("code/")
    assert told["ResourceConfigInfos"][0]["Cpu"] == 4000
    assert told["ResourceConfigInfos"][0]["InstanceType"] == "TI.GN10.2XLARGE40.POST"
    assert told["Warnings"][0]["Reason"] == "Example"
    listed = tione.ok("DescribeTrainingTasks", {"Filters": [{"Name": "Id", "Values": [task]}]})
    assert listed["TotalCount"] == 1
    [one] = listed["TrainingTaskSet"]
    # What printing fails without.
    for name in ("FrameworkName", "ChargeType", "ResourceGroupSWType", "Tags", "RuntimeInSeconds"):
        assert one[name] is not None
    pods = tione.ok("DescribeTrainingTaskPods", {"Id": task})
    assert pods["PodNames"] == [f"{task}-worker-0", f"{task}-worker-1"]


def test_tasks_are_listed_by_every_filter(tione: Tione, hire: Hire) -> None:
    mine = replace(tione, key=key_of(owner := hire(default="member")), api=owner)
    cos = Cos(owner, mine.key, BUCKET)
    cos.call("PUT", "code/main.py", content=b"print(1)")
    cos.call("PUT", "data/train.csv", content=b"1,2")
    by_hour = mine.ok("CreateTrainingTask", wish(Tags=[{"TagKey": "team", "TagValue": "a"}]))["Id"]
    size = {"Role": "WORKER", "Cpu": 2000, "Memory": 1024, "InstanceNum": 1}
    tuning = json.dumps({"lr": 0.1, "api_token": "hunter2hunter2"})
    paid = mine.ok("CreateTrainingTask", wish(ResourceConfigInfos=[size], TuningParameters=tuning))["Id"]

    def listed(*filters: tuple[str, str], **more: Any) -> set[str]:
        given = [{"Name": name, "Values": [value]} for name, value in filters]
        answer = mine.ok("DescribeTrainingTasks", {"Filters": given, **more})
        assert answer["TotalCount"] == len(answer["TrainingTaskSet"])
        return {one["Id"] for one in answer["TrainingTaskSet"]}

    both = {by_hour, paid}
    assert listed() == listed(("Creator", owner.name)) == both
    assert listed(("Creator", "somebody")) == listed(("CHARGE_STATUS", "ARREARS_STOP")) == set()
    assert listed(("ChargeType", "PREPAID")) == {paid}
    assert listed(("ChargeType", "POSTPAID_BY_HOUR")) == {by_hour}
    assert listed(("CHARGE_STATUS", "BILLING")) | listed(("CHARGE_STATUS", "NOT_BILLING")) == both
    assert listed(TagFilters=[{"TagKey": "team", "TagValues": ["a", "b"]}]) == {by_hour}
    assert listed(TagFilters=[{"TagKey": "team", "TagValues": ["b"]}]) == set()
    detail = mine.ok("DescribeTrainingTask", {"Id": paid})["TrainingTaskDetail"]
    assert json.loads(detail["TuningParameters"]) == {"lr": 0.1, "api_token": "***"}


def test_older_clients_send_their_command_plainly(tione: Tione, ann: Api) -> None:
    asked = wish(StartCmdInfo={"WorkerStartCmd": "sh old.sh", "PsStartCmd": ""})
    del asked["EncodedStartCmdInfo"]
    task = tione.ok("CreateTrainingTask", asked)["Id"]
    assert job_of(ann, task)["roles"][0]["command"] == "sh old.sh"


def test_parameter_servers_and_workers_are_roles(tione: Tione, ann: Api) -> None:
    size = {"Cpu": 2000, "Memory": 1024, "InstanceNum": 1}
    commands = base64.b64encode(json.dumps({"PsStartCmd": "ps", "WorkerStartCmd": "work"}).encode()).decode()
    asked = wish(
        TrainingMode="PS_WORKER",
        ResourceConfigInfos=[{"Role": "WORKER", **size}, {"Role": "PS", **size}],
        EncodedStartCmdInfo={"StartCmdInfo": commands},
    )
    task = tione.ok("CreateTrainingTask", asked)["Id"]
    roles = [(one["name"], one["command"], one["cpus"]) for one in job_of(ann, task)["roles"]]
    assert roles == [("worker", "work", 2), ("ps", "ps", 2)]


def test_a_task_ends_as_its_job_does(tione: Tione, ann: Api) -> None:
    task = tione.ok("CreateTrainingTask", wish())["Id"]

    def status() -> str:
        found = tione.ok("DescribeTrainingTask", {"Id": task})
        return str(found["TrainingTaskDetail"]["Status"])

    tione.ok("StopTrainingTask", {"Id": task})
    until(lambda: status() == "STOPPED")
    code, _ = tione.refused("StopTrainingTask", {"Id": task})
    assert code == "FailedOperation.NotAllow"
    tione.ok("StartTrainingTask", {"Id": task})
    # The id stands for the new job from now on.
    assert status() != "STOPPED"
    assert ann.ok("GET", f"/jobs/{task.removeprefix('train-')}")["state"] == "STOPPED"
    tione.ok("DeleteTrainingTask", {"Id": task})
    left = {one["Id"] for one in tione.ok("DescribeTrainingTasks")["TrainingTaskSet"]}
    assert task not in left


@pytest.mark.parametrize(
    ("changed", "code", "says"),
    [
        ({"Name": ""}, "InvalidParameterValue.BadName", "Name"),
        ({"Name": "x" * 61}, "InvalidParameterValue.BadName", "60"),
        ({"ResourceConfigInfos": []}, "InvalidParameter.ValidateError", "ResourceConfigInfos"),
        ({"ResourceConfigInfos": "no"}, "InvalidParameter.ValidateError", "ResourceConfigInfos"),
        ({"TrainingMode": "GUESS"}, "InvalidParameter.ValidateError", "TrainingMode"),
        ({"FrameworkEnvironment": "torch0"}, "InvalidParameter.ValidateError", "torch1.9-py3.8-cuda11.1-gpu"),
        ({"EncodedStartCmdInfo": {"StartCmdInfo": "%%"}}, "InvalidParameter.ValidateError", "base64"),
        (
            {"SchedulePolicy": {"BackOffLimit": 11}},
            "InvalidParameterValue.BackOffLimitIllegal",
            "from 0 to 10",
        ),
        (
            {"CodePackagePath": {"Bucket": BUCKET, "Paths": ["none/"]}},
            "InvalidParameterValue.CosPathNotExist",
            "none",
        ),
        (
            {"DataConfigs": [{"MappingPath": "/d", "COSSource": {"Bucket": BUCKET, "Paths": ["nothing/"]}}]},
            "InvalidParameterValue.CosPathNotExist",
            "nothing",
        ),
        ({"ResourceGroupId": "nowhere"}, "FailedOperation.RecordNotFound", "nowhere"),
    ],
)
def test_a_bad_wish_is_refused_by_its_field(
    tione: Tione, changed: dict[str, Any], code: str, says: str
) -> None:
    found, message = tione.refused("CreateTrainingTask", wish(**changed))
    assert found == code
    assert says in message


def test_a_name_that_is_taken_is_refused(tione: Tione) -> None:
    asked = wish()
    tione.ok("CreateTrainingTask", asked)
    assert tione.refused("CreateTrainingTask", asked)[0] == "FailedOperation.DuplicateName"


def test_a_name_may_have_letters_of_any_language(tione: Tione) -> None:
    task = tione.ok("CreateTrainingTask", wish(Name="图像分类"))["Id"]
    assert tione.ok("DescribeTrainingTask", {"Id": task})["TrainingTaskDetail"]["Name"] == "图像分类"


def test_logs_come_page_by_page(tione: Tione, ann: Api) -> None:
    task = tione.ok("CreateTrainingTask", wish())["Id"]
    job_id = task.removeprefix("train-")
    logs = ann.served.parts.platform.logs
    for index in (0, 1):
        log = logs.open(f"{job_id}.0", f"worker-{index}")
        log.path.parent.mkdir(parents=True, exist_ok=True)
        log.path.write_text("".join(f"w{index} line {n}\n" for n in range(5)))
        log.sample(100.0 + index, log.size)
    wanted = [f"w{index} line {n}" for index in (0, 1) for n in range(5)]

    def pages(order: str) -> list[str]:
        seen, context = [], ""
        while True:
            asked = {
                "Service": "TRAIN",
                "PodName": f"{task}*",
                "Limit": 3,
                "Order": order,
                "Context": context,
            }
            found = tione.ok("DescribeLogs", asked)
            seen += [one["Message"] for one in found["Content"]]
            context = found["Context"]
            if context == "":
                return seen

    assert pages("ASC") == wanted
    assert pages("DESC") == wanted[::-1]
    one = tione.ok("DescribeLogs", {"PodName": f"{task}-worker-1", "Order": "ASC"})
    assert [line["PodName"] for line in one["Content"]] == [f"{task}-worker-1"] * 5
    some = tione.ok("DescribeLogs", {"PodName": task, "Filters": [{"Name": "Key", "Values": ["w1", "3"]}]})
    assert [line["Message"] for line in some["Content"]] == ["w1 line 3"]
    assert tione.refused("DescribeLogs", {"PodName": f"{task}*", "Context": "x"})[0].startswith(
        "InvalidParameter"
    )
    assert (
        tione.refused("DescribeLogs", {"PodName": f"{task}-worker-7"})[0] == "FailedOperation.RecordNotFound"
    )


def test_queues_are_groups_of_resources(tione: Tione) -> None:
    groups = tione.ok("DescribeBillingResourceGroups", {"Offset": 0, "Limit": 20, "SearchWord": ""})
    [default] = groups["ResourceGroupSet"]
    assert default["ResourceGroupId"] == "default"
    assert default["TotalResource"]["Cpu"] == 8000


def test_a_login_comes_encrypted_and_is_kept_as_a_secret(tione: Tione, ann: Api) -> None:
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    given = tione.ok("DescribePublicKey", {"EncryptAlgorithm": "RSA_2048"})
    public = serialization.load_pem_public_key(given["PublicKeyPem"].encode())
    assert isinstance(public, rsa.RSAPublicKey)
    pad = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
    pieces = [base64.b64encode(public.encrypt(piece, pad)).decode() for piece in (b"pass", b"word")]
    secret = {"KeyId": given["KeyId"], "Username": "ann", "Password": ",".join(pieces)}
    image = {"ImageType": "CCR", "ImageUrl": "registry.example.com/team/torch:1", "ImageSecret": secret}
    asked = wish(ImageInfo=image)
    del asked["FrameworkName"], asked["FrameworkEnvironment"]
    task = tione.ok("CreateTrainingTask", asked)["Id"]
    name = job_of(ann, task)["image_credentials"]
    assert name in [one["name"] for one in ann.ok("GET", "/secrets")["items"]]
    wrong = {
        **asked,
        "Name": fresh("xxx"),
        "ImageInfo": {**image, "ImageSecret": {**secret, "Password": "AAAA"}},
    }
    assert tione.refused("CreateTrainingTask", wrong)[0].startswith("InvalidParameter")


def test_metrics_are_pushed_and_read(tione: Tione, ann: Api) -> None:
    task = tione.ok("CreateTrainingTask", wish())["Id"]
    points = [{"Name": "acc1", "Value": 71.234}, {"Name": "acc5", "Value": 90.5}]
    entry = {"TaskId": task, "Timestamp": 1794724142, "Epoch": 3, "Points": points}
    assert tione.ok("DescribeLatestTrainingMetrics", {"TaskId": task})["Metrics"] == []
    tione.ok("PushTrainingMetrics", {"Data": [entry, {**entry, "Timestamp": 1794724150, "Epoch": 4}]})
    latest = tione.ok("DescribeLatestTrainingMetrics", {"TaskId": task})["Metrics"]
    assert latest[0] == {
        "MetricName": "acc1",
        "Values": [{"Timestamp": 1794724150, "Value": 71.234, "Epoch": 4}],
    }
    data = tione.ok("DescribeTrainingMetrics", {"TaskId": task})["Data"]
    assert [one["MetricName"] for one in data] == ["acc1", "acc5"]
    axes = {one["XType"]: one["Points"] for one in data[1]["Metrics"]}
    assert axes["EPOCH"] == [{"XValue": 3, "YValue": 90.5}, {"XValue": 4, "YValue": 90.5}]
    assert set(axes) == {"TIMESTAMP", "EPOCH"}
    # The same curves as everybody else sees.
    told = ann.ok("GET", f"/jobs/{task.removeprefix('train-')}/metrics")
    assert "acc1" in json.dumps(told)
    bad = {**entry, "Points": [{"Name": "acc1", "Value": "high"}]}
    assert tione.refused("PushTrainingMetrics", {"Data": [bad]})[0] == "InvalidParameter.ValidateError"


def finished(tione: Tione) -> str:
    """A task with a file of results, which has been stopped."""
    task = str(tione.ok("CreateTrainingTask", wish())["Id"])
    tione.ok("StopTrainingTask", {"Id": task})
    job_id = task.removeprefix("train-")
    until(lambda: tione.api.ok("GET", f"/jobs/{job_id}")["state"] == "STOPPED")
    served = tione.api.served
    job = served.run(served.parts.platform.store.job(job_id))
    assert job is not None
    folder = served.parts.platform.files.folders(job)["output"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.pth").write_bytes(b"weights")
    return task


def model(task: str, **changed: Any) -> dict[str, Any]:
    """What tikit 1.9.5 sends to register the results of a task."""
    return {
        "ImportMethod": "MODEL",
        "ReasoningEnvironmentSource": "SYSTEM",
        "TrainingModelName": fresh("model"),
        "TrainingJobName": "xxx5",
        "TrainingModelCosPath": path(f"output/{task}/"),
        "AlgorithmFramework": "PYTORCH",
        "ReasoningEnvironment": "footplate.local/infer/torch:1.9.0-py38-cu111",
        "TrainingModelIndex": "acc1=71.234,acc5=90.5",
        "ModelMoveMode": "COPY",
        "TrainingJobId": task,
        "TrainingModelSource": "JOB",
        "ModelFormat": "PYTORCH",
        "ReasoningEnvironmentId": "img-torch1.9.0-py38-cu111",
        "IsQAT": False,
        **changed,
    }


def test_a_task_ends_as_a_model(tione: Tione, ann: Api) -> None:
    task = finished(tione)
    made = tione.ok("CreateTrainingModel", model(task))
    wanted = {"TrainingModelVersionId": made["TrainingModelVersionId"]}
    one = tione.ok("DescribeTrainingModelVersion", wanted)["TrainingModelVersion"]
    assert (one["TrainingModelVersion"], one["TrainingJobId"]) == ("v1", task)
    assert one["TrainingModelIndex"] == "acc1=71.234,acc5=90.5"
    assert ann.ok("GET", f"/models/{made['Id']}/versions/1")["files"][0]["path"] == "model.pth"
    asked = model(task, ImportMethod="VERSION", TrainingModelId=made["Id"], TrainingModelVersion="v2")
    del asked["TrainingModelName"]
    second = tione.ok("CreateTrainingModel", asked)
    listed = tione.ok("DescribeTrainingModelVersions", {"TrainingModelId": made["Id"]})
    assert [entry["TrainingModelVersion"] for entry in listed["TrainingModelVersions"]] == ["v2", "v1"]
    tione.ok("DeleteTrainingModelVersion", {"TrainingModelVersionId": second["TrainingModelVersionId"]})
    every = tione.ok("DescribeTrainingModels", {"Limit": 20})
    assert made["Id"] in [entry["TrainingModelId"] for entry in every["TrainingModels"]]
    tione.ok("DeleteTrainingModel", {"TrainingModelId": made["Id"], "EnableDeleteCos": True})
    assert tione.ok("DescribeTrainingModels")["TotalCount"] == every["TotalCount"] - 1


def test_a_model_comes_from_a_bucket_too(tione: Tione, ann: Api) -> None:
    asked = model("", TrainingModelSource="COS", TrainingModelCosPath=path("data/"))
    made = tione.ok("CreateTrainingModel", asked)
    assert ann.ok("GET", f"/models/{made['Id']}/versions/1")["files"][0]["path"] == "train.csv"


def test_a_model_that_cannot_be_is_refused(tione: Tione, hire: Hire) -> None:
    task = finished(tione)
    first = model(task)
    tione.ok("CreateTrainingModel", first)
    assert tione.refused("CreateTrainingModel", first)[0] == "FailedOperation.DuplicateName"
    exist = model(task, ImportMethod="EXIST")
    assert tione.refused("CreateTrainingModel", exist)[0] == "InvalidParameter.ValidateError"
    named = model(task, TrainingModelName="模型")
    assert tione.refused("CreateTrainingModel", named)[0] == "InvalidParameterValue.BadName"
    bob = hire(default="member")
    theirs = Tione(bob, key_of(bob))
    assert theirs.refused("CreateTrainingModel", model(task))[0] == "AuthFailure.UnauthorizedOperation"


# Who is refused


def test_what_is_not_signed_by_the_key_is_refused(tione: Tione) -> None:
    wrong = replace(tione, key=other(tione.key))
    assert wrong.refused("DescribeTrainingFrameworks")[0] == "AuthFailure.SignatureFailure"
    unknown = replace(tione, key=Key("nobody", "x"))
    assert unknown.refused("DescribeTrainingFrameworks")[0] == "AuthFailure.SignatureFailure"


@pytest.mark.parametrize("path", ["/", "/compat/tione", "/any/prefix"])
def test_the_path_is_not_signed(tione: Tione, path: str) -> None:
    replace(tione, path=path).ok("DescribeTrainingFrameworks")


def test_the_host_may_be_a_url_and_the_service_a_part_of_it(tione: Tione) -> None:
    replace(tione, host=tione.api.served.url, service="http://127").ok("DescribeTrainingFrameworks")


def test_an_old_request_is_refused(tione: Tione) -> None:
    sent = tione.send("DescribeTrainingFrameworks", {}).request
    tione.api.served.clock.advance(1000)  # type: ignore[attr-defined]
    answer = httpx.post(sent.url, headers=dict(sent.headers), content=b"{}")
    assert answer.json()["Response"]["Error"]["Code"] == "AuthFailure.SignatureExpire"


def test_an_unknown_action_is_refused(tione: Tione) -> None:
    assert tione.refused("CreateModelService")[0] == "InvalidAction"
    assert tione.refused("DescribeTrainingTask", b"{")[0] == "InvalidParameter.ValidateError"
    assert tione.refused("DescribeTrainingTask", [])[0] == "InvalidParameter.ValidateError"


def test_other_peoples_tasks_are_not_theirs_to_see_or_stop(tione: Tione, hire: Hire) -> None:
    task = tione.ok("CreateTrainingTask", wish())["Id"]
    bob = hire(default="member")
    theirs = Tione(bob, key_of(bob))
    assert theirs.refused("DescribeTrainingTask", {"Id": task})[0] == "AuthFailure.UnauthorizedOperation"
    assert theirs.refused("DescribeLogs", {"PodName": f"{task}*"})[0] == "AuthFailure.UnauthorizedOperation"
    pushed = {"Data": [{"TaskId": task, "Timestamp": 1, "Points": [{"Name": "a", "Value": 1}]}]}
    assert theirs.refused("PushTrainingMetrics", pushed)[0] == "AuthFailure.UnauthorizedOperation"
    assert theirs.refused("StopTrainingTask", {"Id": task})[0] == "AuthFailure.UnauthorizedOperation"
    assert theirs.ok("DescribeTrainingTasks")["TrainingTaskSet"] == []
    stranger = Tione(hire(), key_of(bob))
    assert (
        stranger.refused("DescribeTrainingTask", {"Id": "train-000000000000"})[0]
        == "FailedOperation.RecordNotFound"
    )
    # What is theirs alone cannot be taken as code either.
    assert theirs.refused("CreateTrainingTask", wish())[0] == "InvalidParameterValue.CosPathNotExist"
