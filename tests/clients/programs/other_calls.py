"""What else tikit can be asked for of tasks, models and buckets; results are printed too.

Printing is part of it: the client draws tables, and raises where a field is missing.
"""

import os
import time

from tikit import models
from tikit.client import Client
from tikit.tencentcloud.common.exception import TencentCloudSDKException
from tikit.tencentcloud.tione.v20211111.models import Filter, MetricData

BUCKET = "others-1256580188"
IMAGE = "registry.example.com/team/torch:1"
client = Client(os.environ["WALK_ID"], os.environ["WALK_KEY"], "ap-guangzhou")


def status_of(task, *wanted):
    for _ in range(600):
        found = client.describe_training_task(task).TrainingTaskDetail.Status
        if found in wanted:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{task} is {found}")


def refused(call, *given, **named):
    try:
        call(*given, **named)
    except TencentCloudSDKException as error:
        return error.code
    raise AssertionError("it was not refused")


# Buckets
client.mkdir(BUCKET, "code/")
client.upload_to_cos("run.sh", BUCKET, "code/")
assert client.is_cos_dir(BUCKET, "code/")
assert client.check_object_exist(BUCKET, "code/run.sh")
assert not client.check_object_exist(BUCKET, "code/nothing")
print(client.describe_cos_path(BUCKET, "code/"), client.get_cos_sub_files(BUCKET, "code/"))

# What there is to choose from
print(client.describe_resource_groups())
print(client.describe_train_resource_groups())
print(client.describe_inference_resource_groups())
print(client.describe_postpaid_reasoning_price())

# Workers with a server of parameters, paid for before, in an image behind a login
framework = models.FrameworkInfo.new_custom("PS_WORKER", "CUSTOM", IMAGE, user_name="ann", passwd="p" * 300)
size = models.ResourceConfigInfo.new_prepaid(0.2, 0.25, instance_num=2)
task = client.create_training_task(
    "others",
    framework,
    f"{BUCKET}/output/",
    size,
    code_package_path=f"{BUCKET}/code/",
    ps_resource=models.ResourceConfigInfo.new_prepaid(0.1, 0.25),
    worker_start_cmd="sh run.sh",
    ps_start_cmd="sleep 600",
    tuning_parameters_dict={"lr": 0.1},
    remark="by the client",
    restart_limit=1,
).Id
status_of(task, "RUNNING")
print(client.describe_training_tasks(), client.describe_training_task(task))
pods = client.describe_training_task_pods(task)
print(pods)
assert sorted(pods.PodNames) == [f"{task}-ps-0", f"{task}-worker-0", f"{task}-worker-1"], pods.PodNames
named = Filter()
named.Name, named.Values = "Status", ["RUNNING"]
assert [one.Id for one in client.describe_training_tasks(filters=[named]).TrainingTaskSet] == [task]

# Metrics
now = int(time.time())
client.push_training_metrics(now, {"loss": 0.5}, task, 1, 10, 3)
entry = MetricData()
entry.TaskId, entry.Timestamp, entry.Step, entry.Points = task, now, 4, [{"Name": "loss", "Value": 0.25}]
client.push_training_metrics_list([entry])
drawn = client.describe_training_metrics(task)
print(drawn)
steps = next(one for one in drawn.Data[0].Metrics if one.XType == "STEP")
assert [(one.XValue, one.YValue) for one in steps.Points] == [(3, 0.5), (4, 0.25)]

# Stopped, started again, stopped, and gone
client.stop_training_task(task)
status_of(task, "STOPPED")
client.start_training_task(task)
status_of(task, "RUNNING")
assert [one.Name for one in client.describe_training_tasks().TrainingTaskSet].count("others") == 1
client.stop_training_task(task)
status_of(task, "STOPPED")

# Models, from a bucket and from a task
environment = models.ReasoningEnvironment.new_system_environment("torch1.9.0-py38-cu111")
own = models.ReasoningEnvironment.new_custom_environment("CCR", IMAGE, "", "")
files, place = f"{BUCKET}/code/", models.CosPathInfo(BUCKET, "models/", "ap-guangzhou")
made = client.create_model_by_cos("others", "PYTORCH", files, environment, "PYTORCH", "acc=0.5")
client.create_model_version_by_cos(made.Id, "PYTORCH", files, own, "PYTORCH", place)
client.create_model_version_by_task(made.Id, task, environment, place, "PYTORCH", "acc=0.75")
print(client.describe_training_models(), client.describe_training_model_versions(made.Id))
versions = client.describe_training_model_versions(made.Id).TrainingModelVersions
assert sorted(one.TrainingModelVersion for one in versions) == ["v1", "v2", "v3"]
by_name = {one.TrainingModelVersion: one for one in versions}
assert [by_name[name].ReasoningEnvironmentSource for name in ("v1", "v2", "v3")] == [
    "SYSTEM",
    "CUSTOM",
    "SYSTEM",
]
places = [by_name[name].TrainingModelCosPath for name in ("v1", "v3")]
assert [one.Bucket for one in places] == [BUCKET, BUCKET], places
assert places[0].Paths == ["code/"], places
assert places[1].Paths[0].startswith(f"output/{task}/"), places
# Where it says, the files are.
client.download_from_cos(BUCKET, places[1].Paths[0], "model")
last = max(versions, key=lambda one: one.TrainingModelVersion)
one = client.describe_training_model_version(last.TrainingModelVersionId).TrainingModelVersion
told = (one.TrainingJobId, one.TrainingJobName, one.TrainingModelIndex)
assert told == (task, "others", "acc=0.75"), one
refusals = [
    refused(client.append_model_into_existed_version_by_cos, made.Id, "v1", files, "PYTORCH", own, place),
    refused(client.create_model_by_cos, "others", "PYTORCH", files, environment, "PYTORCH"),
    refused(client.describe_training_task, "train-000000000000"),
    refused(client.create_training_task, "x", framework, f"{BUCKET}/o/", size, ps_resource=size,
            code_package_path="nobodys-1256580188/code/", worker_start_cmd="true", ps_start_cmd="true"),
    refused(client.describe_notebooks),
    refused(Client(os.environ["WALK_ID"], "wrong", "ap-guangzhou").describe_training_frameworks),
]  # fmt: skip
client.delete_training_model_version(last.TrainingModelVersionId)
assert len(client.describe_training_model_versions(made.Id).TrainingModelVersions) == 2
client.delete_training_model(made.Id)
client.delete_training_task(task)
refusals.append(refused(client.describe_training_task, task))
print("REFUSED", *refusals)
