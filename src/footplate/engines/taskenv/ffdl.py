"""The variables that FfDL and Prophecis set for a learner.

Left out is PYTHONPATH: it comes before the standard library, so that a file `logging.py` in the code of any
job would take the place of Python's own. A job that wants its code there sets `PYTHONPATH: .`, the folder in
which its command runs. Left out is also what only their own start scripts read: UID, GID, CODE_DATA_PATH,
TFOS_REQUEST, GUARDIAN_TOKEN, and every DLAAS_ name, which they remove before the user's command.
"""

from __future__ import annotations

from footplate.domain.cluster import TaskPlacement
from footplate.domain.interpolate import resolve
from footplate.domain.spec import RoleSpec
from footplate.engines.taskenv.gang import Environment, Gang

SERVER_ROLES = frozenset({"ps"})
# A longer one would be copied into every task of a gang for the sake of a variable that few read.
MAX_COMMAND_CHARS = 8192


def gang(gang: Gang) -> Environment:
    plan, spec = gang.plan, gang.plan.spec
    variables = {
        "TRAINING_ID": plan.job_id,
        "TRAINING_JOB": spec.name,
        "USER_ID": plan.owner,
        "LEARNER_NAME_PREFIX": "learner",
        "NUM_LEARNERS": str(sum(role.count for role in spec.roles if role.name.lower() not in SERVER_ROLES)),
        "DOWNWARD_API_POD_NAMESPACE": spec.queue,
        **_folders(gang),
    }
    if spec.code is not None:
        variables["CODE_SELECTOR"] = "codeFile" if spec.code.upload else "storagePath"
    return variables


def _folders(gang: Gang) -> Environment:
    output = gang.shared_paths.output
    variables = {
        **dict.fromkeys(("RESULT_DIR", "JOB_RESULT_DIR", "RESULT_BUCKET_DIR", "JOB_STATE_DIR"), output),
        "LOG_DIR": f"{output}/logs",
        "CHECKPOINT_DIR": gang.shared_paths.checkpoints,
    }
    data = gang.plan.spec.data
    return {**variables, "DATA_DIR": data[0].path} if data else variables


def role(gang: Gang, role: RoleSpec) -> Environment:
    variables = {"GPU_COUNT": f"{role.gpus:.6f}"}
    command = resolve(role.command, gang.plan.spec.parameters)
    if len(command) <= MAX_COMMAND_CHARS:
        variables["TRAINING_COMMAND"] = command
    return variables


def task(gang: Gang, task: TaskPlacement, _rank: int) -> Environment:
    work = gang.paths(task).work
    variables = {
        "MODEL_DIR": work,
        "WORK_DIR": work,
        "DOWNWARD_API_POD_NAME": f"{gang.plan.job_id}-{task.role}-{task.index}",
    }
    number = _learner(gang, task)
    if number is not None:
        variables["LEARNER_ID"] = str(number)
    return variables


def _learner(gang: Gang, task: TaskPlacement) -> int | None:
    """Count learners from 1 over all roles; servers are none."""
    if task.role.lower() in SERVER_ROLES:
        return None
    before = 0
    for role in gang.plan.spec.roles:
        if role.name == task.role:
            break
        before += 0 if role.name.lower() in SERVER_ROLES else role.count
    return before + task.index + 1
