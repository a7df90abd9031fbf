"""What the reference pages say beside each name that the code has: one entry per name, none missing."""

from __future__ import annotations

from footplate.domain.states import JobState, ReasonCode, TaskState
from footplate.sdk import errors as client_errors
from footplate.services.unused import UNUSED

JOB_STATES = {
    JobState.QUEUED: "Waits for its turn or for resources. The reason says for which, with numbers.",
    JobState.STARTING: "Has its resources. Code is unpacked and tasks are started.",
    JobState.RUNNING: "Every task has started.",
    JobState.STOPPING: "Its tasks are being stopped. It holds its resources until all have ended.",
    JobState.SUCCEEDED: "Ended as the completion rules of its roles require.",
    JobState.FAILED: "A task failed and no retry is left, the launch failed, or it could not start in time.",
    JobState.STOPPED: "Stopped by a user or by a time limit.",
}
TASK_STATES = {
    TaskState.WAITING: "The job is not placed yet.",
    TaskState.STARTING: "The task is placed and its process is about to start.",
    TaskState.RUNNING: "Its process runs.",
    TaskState.EXITED: "It ended, with `exit_code`: 128 + N after signal N.",
    TaskState.LOST: "Its process is gone and left no exit code, as after a restart of the machine.",
}
REASONS = {
    ReasonCode.SUBMITTED: "Just submitted, not scheduled yet.",
    ReasonCode.INSUFFICIENT_RESOURCES: "Too few free resources for the whole gang.",
    ReasonCode.BEHIND_OTHERS: "Too few free resources, and jobs with the same request are ahead.",
    ReasonCode.RESERVED_FOR_ANOTHER: "Resources are free, but reserved for a job ahead.",
    ReasonCode.QUEUE_LIMIT: "Its queue is closed, deleted, or at its maximum.",
    ReasonCode.NO_NODE: "No node in service could hold it, even if empty.",
    ReasonCode.NO_PORTS: "The ports that it requests are in use.",
    ReasonCode.ENGINE_AWAY: "The engine that would run it cannot be used now, or is not configured.",
    ReasonCode.HANDED_OVER: "It was handed over to an engine that places by itself, and waits there.",
    ReasonCode.STORAGE_SILENT: "A storage that it needs does not answer; it waits and holds no resources.",
    ReasonCode.RETRYING: "The last attempt failed; the job is retried.",
    ReasonCode.RETRY_LATER: "The last attempt failed; the job is retried after a pause, at `not_before`.",
    ReasonCode.PREPARING: "Has its resources and is being started.",
    ReasonCode.RUNNING: "All tasks are running.",
    ReasonCode.COMPLETED: "All tasks are done, or as many succeeded as a role needs.",
    ReasonCode.TASK_FAILED: "A task ended with an exit code other than 0.",
    ReasonCode.TASK_LOST: "A task's process can no longer be found.",
    ReasonCode.OUT_OF_MEMORY: "A task exceeded its memory; the message has limit and peak.",
    ReasonCode.HANG: "Its tasks made no progress for longer than its hang policy allows.",
    ReasonCode.KEPT: "It failed, and its environment is kept for inspection until it is released.",
    ReasonCode.LAUNCH_FAILED: "The engine could not start the tasks.",
    ReasonCode.STOPPED_BY_USER: "A user stopped it; the message says who.",
    ReasonCode.HALTED: "A user halted it; its results so far can be downloaded.",
    ReasonCode.IDLE: "It was idle for longer than its limit, or the server's limit for interactive jobs.",
    ReasonCode.DELETED: "A user deleted it while it was queued or running.",
    ReasonCode.TIME_LIMIT: "It reached its time limit.",
    ReasonCode.DISK_QUOTA: "Its files exceed the disk quota of a job.",
    ReasonCode.DEADLINE: "Its deadline has passed.",
    ReasonCode.PREEMPTED: "It was preempted by `footplate preempt` and requeued. The scheduler does not.",
    ReasonCode.NEVER_FITS: "No machine could ever hold it.",
}
ERRORS = {
    "internal": "Internal error; the server's log has the request ID.",
    "invalid_input": "The request must be changed; `problems` lists every field at fault.",
    "too_large": "The request is too large.",
    "unauthenticated": "The request has no valid token.",
    "denied": "The caller is not allowed to do this.",
    "throttled": "Too many failed logins; `Retry-After` says how long to wait.",
    "not_found": "It does not exist, or the caller may not see it.",
    "conflict": "Conflicts with the current state, e.g. the name is taken.",
    "headers_too_large": "A request's headers are too large or too many (`connections` in the settings).",
    "too_slow": "The request's headers or body did not arrive in time (`connections` in the settings).",
    "too_many_connections": "Too many connections from this address or in total; try again later.",
    "disk_full": "The server's disk is nearly full: stop or delete jobs; nothing new is accepted.",
    "starting": "The server is starting, waits for its database or disk, or is stopping; try again.",
    "store_unavailable": "The database cannot be reached or the disk is full; try again later.",
    "invalid_transition": "The job's state does not allow this.",
    "stale_lease": "Another server has taken over the database; this one can no longer write.",
    "secret_unreadable": "A stored secret cannot be decrypted with this server's key; set it again.",
    "engine_error": "The engine failed.",
    "engine_unavailable": "The engine cannot be reached now; try again later.",
    "engine_away": "The engine as a whole does not answer; its jobs wait until it does.",
    "engine_rejected": "The engine cannot run this job; change the job.",
    "outcome_unknown": "The engine did not answer; the work may have been done.",
}
CLIENT_ERRORS = {
    client_errors.Unreachable: "No server answers, or the connection broke for good.",
    client_errors.Untrusted: "A server answers, but its certificate is not trusted here, or there is no TLS.",
    client_errors.NotConfigured: "No server is configured.",
    client_errors.TimedOut: "Timeout of a wait; the job continues.",
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
    "FOOTPLATE_NOTICE_FILE": "File that appears before SIGTERM, as JSON with reason and grace period.",
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
