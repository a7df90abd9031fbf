"""TI-ONE's own walkthrough for tikit, statement by statement, with somebody's values filled in."""

import os
import sys
import time

from tikit import models
from tikit.client import Client

SECRET_ID, SECRET_KEY, NAME = os.environ["WALK_ID"], os.environ["WALK_KEY"], sys.argv[1]
BUCKET = "demo-1256580188"
if os.environ.get("WALK_URL"):
    # The three lines for a script that may be changed.
    client = Client(SECRET_ID, SECRET_KEY, "ap-guangzhou", tione_endpoint=os.environ["WALK_URL"])
    conf = client._cos_client.get_conf()
    conf.set_ip_port("127.0.0.1", int(os.environ["WALK_URL"].rpartition(":")[2]))
    conf._scheme = "http"
else:
    client = Client(SECRET_ID, SECRET_KEY, "ap-guangzhou")

client.upload_to_cos("data", BUCKET, "notebook-demo-classification/")
client.upload_to_cos("code", BUCKET, "notebook-demo-classification/")

print(client.describe_training_frameworks())
print(client.describe_postpaid_training_price())
framework = models.FrameworkInfo.new_system_framework("PYTORCH", "torch1.9-py3.8-cuda11.1-gpu", "DDP")
worker_resource = models.ResourceConfigInfo.new_postpaid("TI.GN10.2XLARGE40.POST", 2)
DATA, PLACE = f"{BUCKET}/notebook-demo-classification/data/", "/opt/ml/input/data/image_classify"
input_data = models.TrainingDataConfig.new_cos_data({DATA: PLACE})
if NAME == "changed" and hasattr(models.TrainingDataConfig, "new_mount_cosfs"):
    # As later releases write it.
    input_data = [models.TrainingDataConfig.new_mount_cosfs(DATA, PLACE)]
created = client.create_training_task(
    NAME,
    framework,
    f"{BUCKET}/output/",
    worker_resource,
    input_data_config=input_data,
    code_package_path=f"{BUCKET}/notebook-demo-classification/code/",
    worker_start_cmd="sh start_cloud.sh",
)
task = created.Id
for _ in range(300):
    status = client.describe_training_task(task).TrainingTaskDetail.Status
    if status in ("SUCCEED", "FAILED", "STOPPED"):
        break
    time.sleep(1)
logs = client.describe_train_logs(f"{task}*")
print(logs)
assert status == "SUCCEED", status
print(client.describe_training_tasks())
print(client.describe_training_task_pods(task))
print(client.describe_training_metrics(task))
if hasattr(client, "save_log"):
    # Which earlier releases do not have.
    client.save_log("logs", service="TRAIN", id=task)

print(client.describe_system_reasoning_images())
reasoning_env = models.ReasoningEnvironment.new_system_environment("torch1.9.0-py38-cu111")
model_output_path = models.CosPathInfo(BUCKET, f"output/{task}/", "ap-guangzhou")
registered = client.create_model_by_task(f"model-{NAME}", task, reasoning_env, model_output_path, "PYTORCH")
print(client.describe_training_models())
print(client.describe_training_model_versions(registered.Id))
print("DONE", task, registered.Id)
