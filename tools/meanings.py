"""What the reference pages say beside each name that the code has: one entry per name, none missing."""

from __future__ import annotations

from footplate.domain.states import JobState, ReasonCode, TaskState
from footplate.sdk import errors as client_errors
from footplate.services.unused import UNUSED

JOB_STATES = {
    JobState.QUEUED: "Waits for its turn or for resources. The reason says which, with numbers.",
    JobState.STARTING: "Has its place. Code is unpacked and tasks are started.",
    JobState.RUNNING: "Every task has started.",
    JobState.STOPPING: "Its tasks are being ended. It holds its place until nothing of it runs.",
    JobState.SUCCEEDED: "Ended as the completion rules of its roles ask for.",
    JobState.FAILED: "A task failed and no retry is left, the launch failed, or it could not start in time.",
    JobState.STOPPED: "Ended by a person or by a limit of time.",
}
TASK_STATES = {
    TaskState.WAITING: "The job has no place yet.",
    TaskState.STARTING: "The task has a place and its process is about to begin.",
    TaskState.RUNNING: "Its process runs.",
    TaskState.EXITED: "It ended, with `exit_code`: 128 + N after signal N.",
    TaskState.LOST: "Its process is gone and left no exit code, as after a restart of the machine.",
}
REASONS = {
    ReasonCode.SUBMITTED: "Just submitted; the scheduler has not looked yet.",
    ReasonCode.INSUFFICIENT_RESOURCES: "Not enough is free for the whole gang.",
    ReasonCode.BEHIND_OTHERS: "Not enough is free, and jobs that ask for the same are ahead.",
    ReasonCode.RESERVED_FOR_ANOTHER: "Enough is free, but kept for a job ahead of it.",
    ReasonCode.QUEUE_LIMIT: "Its queue is closed, gone, or at the most that it may use.",
    ReasonCode.NO_NODE: "No node in service could take it, even empty.",
    ReasonCode.NO_PORTS: "The ports that it asks for are in use.",
    ReasonCode.STORAGE_SILENT: "A storage that it needs does not answer; it waits, and holds nothing.",
    ReasonCode.RETRYING: "The attempt before failed; the job is tried again.",
    ReasonCode.RETRY_LATER: "The attempt before failed; it is tried again after a pause, at `not_before`.",
    ReasonCode.PREPARING: "Has its place and is being started.",
    ReasonCode.RUNNING: "All tasks run.",
    ReasonCode.COMPLETED: "All tasks are done, or as many succeeded as a role needs.",
    ReasonCode.TASK_FAILED: "A task ended with an exit code other than 0.",
    ReasonCode.TASK_LOST: "A task's process can no longer be found.",
    ReasonCode.OUT_OF_MEMORY: "A task used more memory than it asked for; the message has limit and peak.",
    ReasonCode.HANG: "Its tasks made no progress for as long as its hang policy allows.",
    ReasonCode.KEPT: "It failed, and what failed is kept for a look inside until it is released.",
    ReasonCode.LAUNCH_FAILED: "The engine could not start the tasks.",
    ReasonCode.STOPPED_BY_USER: "Somebody stopped it; the message says who.",
    ReasonCode.HALTED: "Somebody halted it; what it has made so far can be downloaded.",
    ReasonCode.IDLE: "It was idle for as long as its limit, or the server's for interactive jobs, allows.",
    ReasonCode.DELETED: "Somebody deleted it while it waited or ran.",
    ReasonCode.TIME_LIMIT: "It ran for its time limit.",
    ReasonCode.DISK_QUOTA: "Its files take more of the disk than those of a job may.",
    ReasonCode.DEADLINE: "Its deadline has passed.",
    ReasonCode.PREEMPTED: "It had to give its place to another job. (Nothing preempts yet.)",
    ReasonCode.NEVER_FITS: "No machine there is could ever take it.",
}
ERRORS = {
    "internal": "A fault of the server; its log has the request id.",
    "invalid_input": "What was sent must be changed; `problems` names every field.",
    "too_large": "What was sent is larger than is read.",
    "unauthenticated": "No valid token came with the request.",
    "denied": "The caller is known and may not do this.",
    "throttled": "Too many failed logins; `Retry-After` says how long to wait.",
    "not_found": "There is no such thing, or none that the caller may see.",
    "conflict": "It does not go together with how things stand, such as a name that is taken.",
    "headers_too_large": "A request's headers are too large or too many (`connections` in the settings).",
    "too_slow": "Headers or body of a request did not come in time (`connections` in the settings).",
    "too_many_connections": "Too many connections from this address or in all; try again later.",
    "disk_full": "The server's disk is nearly full: jobs can be stopped and deleted, nothing new is taken.",
    "starting": "The server starts, waits for its database or disk, or stops; try again in a moment.",
    "store_unavailable": "The database cannot be reached or the disk is full; try again later.",
    "invalid_transition": "The job's state does not allow this.",
    "stale_lease": "Another server has taken over the database; this one can change nothing.",
    "secret_unreadable": "A stored secret does not open with this server's key; set it again.",
    "engine_error": "The engine failed.",
    "engine_unavailable": "The engine cannot be reached now; try again later.",
    "engine_rejected": "The engine cannot run such a job; it must be changed.",
    "outcome_unknown": "The engine did not answer; the work may have been done.",
}
CLIENT_ERRORS = {
    client_errors.Unreachable: "No server answers, or the connection broke for good.",
    client_errors.Untrusted: "A server answers, but its certificate is not trusted here, or there is no TLS.",
    client_errors.NotConfigured: "Nobody said which server to use.",
    client_errors.TimedOut: "The wait was longer than allowed; the job goes on.",
}
VARIABLES = {
    "FOOTPLATE_JOB_ID": "Id of the job.",
    "FOOTPLATE_JOB_NAME": "Name of the job.",
    "FOOTPLATE_USER": "Owner of the job.",
    "FOOTPLATE_QUEUE": "Queue of the job.",
    "FOOTPLATE_ATTEMPT": "Number of the attempt, from 0.",
    "FOOTPLATE_ATTEMPT_ID": "Id of the attempt: job id and number.",
    "FOOTPLATE_ROLES": "Names of all roles, in the order of the job file.",
    "FOOTPLATE_TASK_COUNT": "Number of tasks of the job.",
    "FOOTPLATE_PARAMETERS": "The job's parameters as JSON; absent when longer than 100 KiB.",
    "FOOTPLATE_CHECKPOINT_DIR": "Folder for checkpoints, the same in every attempt.",
    "FOOTPLATE_OUTPUT_DIR": "Folder for results, the same in every attempt.",
    "FOOTPLATE_URL": "Address of the server.",
    "FOOTPLATE_TOKEN": "Token that acts for the job's owner while the attempt lives.",
    "FOOTPLATE_TASKS": "All tasks in the order of their ranks, with address and ports, as JSON; "
    "absent when longer than 100 KiB.",
    "FOOTPLATE_NODES": "Names of the machines of all tasks by rank, each once; "
    "absent when longer than 100 KiB.",
    "FOOTPLATE_ROLE": "Role of this task.",
    "FOOTPLATE_ROLE_COUNT": "Number of tasks of this role.",
    "FOOTPLATE_TASK_INDEX": "Index of this task in its role, from 0.",
    "FOOTPLATE_TASK": "Name of this task.",
    "FOOTPLATE_NODE": "Name of the machine it runs on.",
    "FOOTPLATE_TASK_RUN": "How often the task was started again by itself, from 0.",
    "FOOTPLATE_NOTICE_FILE": "File that appears, as JSON with reason and grace, before a polite stop.",
    "FOOTPLATE_PORT_MAIN": "A port that this task may listen on.",
    "FOOTPLATE_PORTS_MAIN": "The same as a list.",
    "FOOTPLATE_PORT_HTTP": "The first port of the label `http`, which the role asks for.",
    "FOOTPLATE_PORTS_HTTP": "All ports of that label, separated by commas.",
    "RANK": "Rank of this task: over the roles as the job lists them, then by index; with a strategy, among "
    "those that take part.",
    "NODE_RANK": "The same: every task counts as a machine of its own.",
    "WORLD_SIZE": "Number of tasks of the job; with a strategy, of those that take part.",
    "LOCAL_RANK": "Always 0.",
    "LOCAL_WORLD_SIZE": "Always 1.",
    "MASTER_ADDR": "Address of rank 0.",
    "MASTER_PORT": "The port `main` of rank 0.",
    "PYTHONUNBUFFERED": "Makes Python print lines at once.",
    "CUDA_DEVICE_ORDER": "Makes CUDA number the cards as the platform does.",
    "CUDA_VISIBLE_DEVICES": "The cards of this task; empty when it asks for none.",
    "NVIDIA_VISIBLE_DEVICES": "The same, `none` when it asks for none. AMD and Ascend cards, which a role "
    "asks for by `gpu_type`, have `ROCR_VISIBLE_DEVICES` and `ASCEND_RT_VISIBLE_DEVICES` instead.",
}
# What is checked and kept with the job, while nothing acts on it yet.
NOT_YET = {("Job", name): "stored, not acted on yet" for name in UNUSED}
SETTING_VARIABLES = {
    "FOOTPLATE_HOST": "as `host`",
    "FOOTPLATE_PORT": "as `port`",
    "FOOTPLATE_PUBLIC_URL": "as `public_url`",
    "FOOTPLATE_TLS_CERT": "as `tls_cert`",
    "FOOTPLATE_TLS_KEY": "as `tls_key`",
    "FOOTPLATE_DATABASE_URL": "as `database_url`",
    "FOOTPLATE_ADMIN_PASSWORD": "password of the first account `admin`; used only while there is no account",
    "FOOTPLATE_CONTAINER_SOCKET": "as `container_socket`",
    "FOOTPLATE_LIMITS": "as `limits`: on or off",
}
