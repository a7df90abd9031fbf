"""One table for each convention and dialect: every name, with its exact value for one sample gang."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.resources import GIB, Resources
from footplate.domain.spec import CodeRef, Completion, DataMount, JobSpec, PortRange, RoleSpec
from footplate.engines.base import LaunchPlan
from footplate.engines.taskenv import ffdl, frameworks, pai, slurm, tfconfig, tione, uai
from footplate.engines.taskenv.gang import Gang, Group, gather
from footplate.testing.task_environments import paths_of, task_environment

PS = RoleSpec("serve", "ps", 1, milli_cpus=500, memory_bytes=GIB)
WORKER = RoleSpec(
    "train --lr ${{ parameters.lr }}",
    "worker",
    2,
    milli_cpus=2000,
    memory_bytes=2 * GIB,
    gpus=2,
    ports=(PortRange("http", 0, 2), PortRange("ssh")),
    completion=Completion(None, 2),
)
SPEC = JobSpec(
    "fit",
    (PS, WORKER),
    queue="vision",
    code=CodeRef("sha256:" + "0" * 64),
    data=(DataMount("/opt/ml/input/data"),),
    parameters={"lr": 0.1},
)
PORTS = (("main", (5001,)), ("http", (5002, 5003)), ("ssh", (5004,)))
MORE_PORTS = (("main", (5011,)), ("http", (5012, 5013)), ("ssh", (5014,)))
PLACEMENT = Placement(
    (
        TaskPlacement("ps", 0, "n1", Resources(500), (), (("main", (5000,)),), "10.0.0.1"),
        TaskPlacement("worker", 0, "n1", Resources(2000), (0, 1), PORTS, "10.0.0.1"),
        TaskPlacement("worker", 1, "n2", Resources(2000), (2, 3), MORE_PORTS, "10.0.0.2"),
    )
)
PLAN = LaunchPlan(
    "j1",
    "ann",
    3,
    SPEC,
    PLACEMENT,
)
RANK = 2
WORK = "/jobs/j1/attempt-3/worker-1/work"
CLUSTER = {"ps": ["10.0.0.1:5000"], "worker": ["10.0.0.1:5001", "10.0.0.2:5011"]}

# All tables are those of task worker-1.
TORCH = {
    "MASTER_ADDR": "10.0.0.1",
    "MASTER_PORT": "5000",
    "RANK": "2",
    "WORLD_SIZE": "3",
    "LOCAL_RANK": "0",
    "LOCAL_WORLD_SIZE": "1",
    "NODE_RANK": "2",
    "GROUP_RANK": "2",
    "PET_NNODES": "3",
    "PET_NPROC_PER_NODE": "2",
    "PET_NODE_RANK": "2",
    "PET_MASTER_ADDR": "10.0.0.1",
    "PET_MASTER_PORT": "5000",
    "PET_RDZV_BACKEND": "static",
    "PET_RDZV_ENDPOINT": "10.0.0.1:5000",
    "PET_RDZV_ID": "j1.3",
}
TENSORFLOW = {
    "TF_CONFIG": json.dumps(
        {"cluster": CLUSTER, "task": {"type": "worker", "index": 1}, "environment": "cloud"},
        separators=(",", ":"),
    )
}
JAX = {
    "JAX_COORDINATOR_ADDRESS": "10.0.0.1:5000",
    "JAX_NUM_PROCESSES": "3",
    "JAX_PROCESS_ID": "2",
    "JAX_LOCAL_DEVICE_IDS": "0,1",
}
RAY = {"RAY_ADDRESS": "10.0.0.1:5000"}
SLURM = {
    "SLURM_JOB_ID": "685",
    "SLURM_JOBID": "685",
    "SLURM_JOB_NAME": "fit",
    "SLURM_JOB_USER": "ann",
    "SLURM_JOB_PARTITION": "vision",
    "SLURM_NTASKS": "3",
    "SLURM_NPROCS": "3",
    "SLURM_NNODES": "3",
    "SLURM_JOB_NUM_NODES": "3",
    "SLURM_NTASKS_PER_NODE": "1",
    "SLURM_PROCID": "2",
    "SLURM_LOCALID": "0",
    "SLURM_NODEID": "2",
    "SLURM_NODELIST": "10.0.0.1,10.0.0.1,10.0.0.2",
    "SLURM_JOB_NODELIST": "10.0.0.1,10.0.0.1,10.0.0.2",
    "SLURM_STEP_NODELIST": "10.0.0.1,10.0.0.1,10.0.0.2",
    "SLURM_CPUS_PER_TASK": "2",
    "OMPI_MCA_plm": "^slurm",
    "OMPI_MCA_ras": "^slurm",
    "PRTE_MCA_plm": "^slurm",
    "PRTE_MCA_ras": "^slurm",
    "HYDRA_RMK": "user",
    "HYDRA_LAUNCHER": "ssh",
}
FFDL = {
    "MODEL_DIR": WORK,
    "WORK_DIR": WORK,
    "DATA_DIR": "/opt/ml/input/data",
    "RESULT_DIR": "/jobs/j1/output",
    "JOB_RESULT_DIR": "/jobs/j1/output",
    "RESULT_BUCKET_DIR": "/jobs/j1/output",
    "JOB_STATE_DIR": "/jobs/j1/output",
    "LOG_DIR": "/jobs/j1/output/logs",
    "CHECKPOINT_DIR": "/jobs/j1/checkpoints",
    "TRAINING_ID": "j1",
    "TRAINING_JOB": "fit",
    "TRAINING_COMMAND": "train --lr 0.1",
    "GPU_COUNT": "2.000000",
    "NUM_LEARNERS": "2",
    "LEARNER_ID": "2",
    "LEARNER_NAME_PREFIX": "learner",
    "DOWNWARD_API_POD_NAME": "j1-worker-1",
    "DOWNWARD_API_POD_NAMESPACE": "vision",
    "USER_ID": "ann",
    "CODE_SELECTOR": "codeFile",
}
TIONE = {
    "NODE_NUM": "3",
    "INDEX": "2",
    "GPU_NUM_PER_NODE": "2",
    "CHIEF_IP": "10.0.0.1",
    "TI_TASK_ID": "train-j1",
    "TI_INSTANCE_ID": "train-j1-worker-1",
    "REGION": "local",
}
UAI = {"WORKER_NUM": "3", "WORKER_GPU_NUM": "2", "UAI_HOSTS": "10.0.0.1,10.0.0.1,10.0.0.2"}
PAI = {
    "PAI_JOB_NAME": "ann~fit",
    "PAI_FRAMEWORK_NAME": "ann~fit",
    "PAI_VIRTUAL_CLUSTER": "vision",
    "PAI_USER_NAME": "ann",
    "PAI_USERNAME": "ann",
    "PAI_DEFAULT_FS_URI": "file:///jobs/j1/output",
    "PAI_TASK_ROLE_COUNT": "2",
    "PAI_TASK_ROLES_NUM": "2",
    "PAI_JOB_TASK_ROLE_COUNT": "2",
    "PAI_TASK_ROLE_LIST": "ps,worker",
    "PAI_JOB_TASK_ROLE_LIST": "ps,worker",
    "PAI_TASKS_NUM": "3",
    "PAI_JOB_TASK_COUNT": "3",
    "PAI_TASK_ROLE_TASK_COUNT_ps": "1",
    "PAI_TASK_ROLE_TASK_COUNT_worker": "2",
    "PAI_RESOURCE_ps": "0,1,1024,64",
    "PAI_RESOURCE_worker": "2,2,2048,64",
    "PAI_MIN_FAILED_TASK_COUNT_ps": "1",
    "PAI_MIN_FAILED_TASK_COUNT_worker": "-1",
    "PAI_MIN_SUCCEEDED_TASK_COUNT_ps": "-1",
    "PAI_MIN_SUCCEEDED_TASK_COUNT_worker": "2",
    "PAI_HOST_IP_ps_0": "10.0.0.1",
    "PAI_HOST_IP_worker_0": "10.0.0.1",
    "PAI_HOST_IP_worker_1": "10.0.0.2",
    "PAI_PORT_LIST_ps_0_main": "5000",
    "PAI_PORT_LIST_ps_0_http": "5000",
    "PAI_PORT_LIST_ps_0_ssh": "5000",
    "PAI_PORT_LIST_worker_0_main": "5001",
    "PAI_PORT_LIST_worker_0_http": "5002,5003",
    "PAI_PORT_LIST_worker_0_ssh": "5004",
    "PAI_PORT_LIST_worker_1_main": "5011",
    "PAI_PORT_LIST_worker_1_http": "5012,5013",
    "PAI_PORT_LIST_worker_1_ssh": "5014",
    "PAI_ps_0_main_PORT": "5000",
    "PAI_ps_0_http_PORT": "5000",
    "PAI_ps_0_ssh_PORT": "5000",
    "PAI_worker_0_main_PORT": "5001",
    "PAI_worker_0_http_PORT": "5002,5003",
    "PAI_worker_0_ssh_PORT": "5004",
    "PAI_worker_1_main_PORT": "5011",
    "PAI_worker_1_http_PORT": "5012,5013",
    "PAI_worker_1_ssh_PORT": "5014",
    "PAI_TASK_ROLE_ps_HOST_LIST": "10.0.0.1:5000",
    "PAI_TASK_ROLE_worker_HOST_LIST": "10.0.0.1:5002,10.0.0.2:5012",
    "PAI_TASK_ROLE_INSTANCES": "ps:0,worker:0,worker:1",
    "PAI_CURRENT_TASK_ROLE_NAME": "worker",
    "PAI_TASK_ROLE_NAME": "worker",
    "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX": "1",
    "PAI_TASK_INDEX": "1",
    "PAI_TASK_ROLE_INDEX": "1",
    "PAI_CURRENT_CONTAINER_IP": "10.0.0.2",
    "PAI_CONTAINER_HOST_IP": "10.0.0.2",
    "PAI_CURRENT_CONTAINER_PORT": "5012",
    "PAI_CONTAINER_HOST_PORT": "5012",
    "PAI_CONTAINER_SSH_PORT": "5014",
    "PAI_CONTAINER_HOST_PORT_LIST": "main:5011;http:5012,5013;ssh:5014;",
    "PAI_CONTAINER_HOST_main_PORT_LIST": "5011",
    "PAI_CONTAINER_HOST_http_PORT_LIST": "5012,5013",
    "PAI_CONTAINER_HOST_ssh_PORT_LIST": "5014",
    "PAI_CONTAINER_ID": "j1.3.worker-1",
    "PAI_DATA_DIR": "/opt/ml/input/data",
    "PAI_OUTPUT_DIR": "/jobs/j1/output",
    "PAI_CODE_DIR": WORK,
    "PAI_WORK_DIR": WORK,
    "PAI_TASK_ROLE_NUM": "2",
    "PAI_CURRENT_TASK_ROLE_TASK_COUNT": "2",
    "PAI_TASK_CPU_NUM": "2",
    "PAI_CURRENT_TASK_ROLE_CPU_COUNT": "2",
    "PAI_TASK_MEM_MB": "2048",
    "PAI_CURRENT_TASK_ROLE_MEM_MB": "2048",
    "PAI_TASK_GPU_NUM": "2",
    "PAI_CURRENT_TASK_ROLE_GPU_COUNT": "2",
    "PAI_CURRENT_TASK_ROLE_SHM_MB": "64",
    "PAI_CURRENT_TASK_ROLE_MIN_FAILED_TASK_COUNT": "-1",
    "PAI_CURRENT_TASK_ROLE_MIN_SUCCEEDED_TASK_COUNT": "2",
    "PAI_RESOURCE": "2,2,2048,64",
    "FC_FRAMEWORK_NAME": "ann~fit",
    "FC_FRAMEWORK_ATTEMPT_ID": "3",
    "FC_TASKROLE_NAME": "worker",
    "FC_TASK_INDEX": "1",
    "FC_TASK_ATTEMPT_ID": "0",
    "FC_POD_UID": "j1.3.worker-1",
}


def of_group(convention: Callable[[Gang], Group]) -> Callable[[Gang], Mapping[str, str]]:
    def written(gang: Gang) -> Mapping[str, str]:
        group = convention(gang)
        return {**group.shared, **group.own(gang.tasks[RANK], RANK)}

    return written


TABLES: list[tuple[str, Mapping[str, str], Callable[[Gang], Mapping[str, str]]]] = [
    ("torch", TORCH, of_group(frameworks.pytorch)),
    ("tensorflow", TENSORFLOW, of_group(tfconfig.tensorflow)),
    ("jax", JAX, of_group(frameworks.jax)),
    ("ray", RAY, of_group(frameworks.ray)),
    ("slurm", SLURM, of_group(slurm.slurm)),
    ("ffdl", FFDL, lambda g: {**ffdl.gang(g), **ffdl.role(g, WORKER), **ffdl.task(g, g.tasks[RANK], RANK)}),
    ("tione", TIONE, lambda g: {**tione.gang(g), **tione.task(g, g.tasks[RANK], RANK)}),
    ("uai", UAI, lambda g: {**uai.gang(g), **uai.task(g, g.tasks[RANK], RANK)}),
    ("pai", PAI, lambda g: {**pai.gang(g), **pai.role(g, WORKER), **pai.task(g, g.tasks[RANK], RANK)}),
]


@pytest.mark.parametrize(("name", "table", "write"), TABLES, ids=[name for name, *_ in TABLES])
def test_a_dialect_gives_exactly_its_table(
    name: str, table: Mapping[str, str], write: Callable[[Gang], Mapping[str, str]]
) -> None:
    assert dict(write(gather(PLAN, paths_of))) == table


def test_all_tables_reach_a_task_at_once() -> None:
    found = task_environment(PLAN, "worker", 1)
    expected = {name: value for _, table, _ in TABLES for name, value in table.items()}
    assert {name: found.get(name) for name in expected} == expected


def test_roles_with_other_signs_come_in_both_spellings() -> None:
    role = RoleSpec("true", "PS.server_1")
    task = TaskPlacement("PS.server_1", 0, "n", Resources(1), (), (("main", (7,)),), "10.0.0.9")
    plan = LaunchPlan("j1", "ann", 0, JobSpec("fit", (role,)), Placement((task,)))
    found = task_environment(plan, "PS.server_1", 0)
    assert found["PAI_HOST_IP_PS.server_1_0"] == found["PAI_HOST_IP_psserver1_0"] == "10.0.0.9"
    assert found["PAI_TASK_ROLE_INSTANCES"] == "psserver1:0"
    assert found["PAI_TASK_ROLE_LIST"] == "PS.server_1"


def test_every_task_has_ports_http_and_ssh_in_the_words_of_pai() -> None:
    found = task_environment(PLAN, "ps", 0)
    assert found["PAI_CONTAINER_SSH_PORT"] == found["PAI_CONTAINER_HOST_ssh_PORT_LIST"] == "5000"
    assert found["PAI_CONTAINER_HOST_PORT_LIST"] == "main:5000;http:5000;ssh:5000;"


def test_the_head_of_ray_listens_at_a_port_of_that_name_where_there_is_one() -> None:
    head = TaskPlacement("main", 0, "n", Resources(1), (), (("main", (7,)), ("ray", (6379,))), "10.0.0.9")
    other = TaskPlacement("main", 1, "n", Resources(1), (), (("main", (8,)),), "10.0.0.9")
    spec = JobSpec("fit", (RoleSpec("true", count=2),))
    plan = LaunchPlan("j1", "ann", 0, spec, Placement((head, other)))
    assert task_environment(plan, "main", 1)["RAY_ADDRESS"] == "10.0.0.9:6379"


def test_a_task_alone_is_not_sent_to_a_cluster_of_ray() -> None:
    task = TaskPlacement("main", 0, "n", Resources(1), (), (("main", (7,)),))
    plan = LaunchPlan("j1", "ann", 0, JobSpec("fit", (RoleSpec("true"),)), Placement((task,)))
    assert "RAY_ADDRESS" not in task_environment(plan, "main", 0)


def test_servers_are_no_learners_of_ffdl() -> None:
    found = task_environment(PLAN, "ps", 0)
    assert "LEARNER_ID" not in found
    assert found["NUM_LEARNERS"] == "2"
    assert task_environment(PLAN, "worker", 0)["LEARNER_ID"] == "1"


def test_a_job_without_data_and_code_names_no_folder_for_them() -> None:
    task = TaskPlacement("main", 0, "n", Resources(1))
    plan = LaunchPlan("j1", "ann", 0, JobSpec("fit", (RoleSpec("true"),)), Placement((task,)))
    assert not {"DATA_DIR", "PAI_DATA_DIR", "CODE_SELECTOR"} & set(task_environment(plan, "main", 0))


def test_start_scripts_of_tione_get_one_process_where_there_are_no_cards() -> None:
    assert task_environment(PLAN, "ps", 0)["GPU_NUM_PER_NODE"] == "1"
    assert task_environment(PLAN, "ps", 0)["WORKER_GPU_NUM"] == "0"


def test_a_very_long_command_is_not_repeated_in_a_variable() -> None:
    task = TaskPlacement("main", 0, "n", Resources(1))
    role = RoleSpec("true " + "x" * 9000)
    plan = LaunchPlan("j1", "ann", 0, JobSpec("fit", (role,)), Placement((task,)))
    assert "TRAINING_COMMAND" not in task_environment(plan, "main", 0)
