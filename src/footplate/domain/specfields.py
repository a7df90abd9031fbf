"""The fields of a job file, with their bounds and help: the one place that says what may be asked.

Reader, writer, JSON schema, reference page and form help all come from these tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from footplate.domain import spec as s
from footplate.domain.environmentfields import ENVIRONMENT
from footplate.domain.fields import Field, ListOf, MapOf, Nullable, Record
from footplate.domain.kinds import AnyJson, Choice, Duration, Flag, Instant, Integer, Scalar, Text
from footplate.domain.names import (
    ENV,
    ENV_NAME,
    IMAGE,
    JOB_NAME,
    PARAMETER_NAME,
    PATH,
    QUEUE_NAME,
    SECRET_NAME,
    SECRET_NAME_OR_NONE,
    STRATEGY_NAME,
    FilePath,
)
from footplate.domain.policyfields import ALERT, FAILURE_RULE, HANG
from footplate.domain.problems import MISSING, Problems, join
from footplate.domain.rolefields import MAX_TASKS, ROLE, ROLE_BODY

SERVICE_KINDS = ("shell", "ssh", "jupyter", "tensorboard", "desktop")


def _check_code(code: Mapping[str, Any], path: str, problems: Problems) -> None:
    if code["path"] not in ("", MISSING) and not code["storage"] and not code["upload"]:
        problems.add(join(path, "path"), "code_path_without_storage")


CODE = Record(
    s.CodeRef,
    (
        Field(
            "upload",
            Text(71, 0, r"(sha256:[0-9a-f]{64})?", "digest"),
            "Digest of uploaded code; `footplate submit` fills it in from a local folder.",
            "",
        ),
        Field("storage", Text(63), "Storage with the code; read-only for tasks.", ""),
        Field(
            "path",
            PATH,
            "Folder on that storage; without a storage, a local folder that `footplate submit` uploads.",
            "",
        ),
        Field("read_only", Flag(), "Whether tasks may only read their code.", False),
    ),
    checks=(_check_code,),
    short="path",
)
DATA = Record(
    s.DataMount,
    (
        Field("path", FilePath(1024, 1), "Where tasks see the data."),
        # What else holds of storages, the service checks that knows them: stored jobs must stay readable.
        Field("storage", Text(63), "Storage with the data; `job` for the job's own folders.", ""),
        Field("source", PATH, "File or folder on that storage (default: the whole storage).", ""),
        Field("read_only", Flag(), "Whether tasks may only read it.", True),
    ),
)
RESULTS = Record(
    s.Results,
    (
        Field("storage", Text(63), "Storage that keeps the results.", ""),
        Field("path", PATH, "Folder on that storage; made from the job's name when absent.", ""),
    ),
    short="path",
)
SERVICE = Record(
    s.Service,
    (
        Field("kind", Choice(SERVICE_KINDS), "What to offer."),
        Field("role", Text(64), "Role whose tasks offer it; the first when absent.", ""),
        Field("path", PATH, "Folder it shows.", ""),
    ),
    short="kind",
)


def _check_job(job: Mapping[str, Any], path: str, problems: Problems) -> None:
    roles = () if job["roles"] is MISSING else job["roles"]
    tasks = sum(role.count for role in roles if role is not MISSING)
    if tasks > MAX_TASKS:
        problems.add(join(path, "roles"), "too_many_tasks", given=tasks, most=MAX_TASKS)
    environment, code = job["environment"], job["code"]
    if environment not in (None, MISSING) and environment.file and code is None:
        problems.add(join(path, "environment"), "environment_file_without_code", file=environment.file)
    has_image = bool(job["image"]) or any(role is MISSING or role.image for role in roles)
    if job["image_credentials"] not in ("", MISSING) and not has_image and job["roles"] is not MISSING:
        problems.add(join(path, "image_credentials"), "credentials_without_image")


JOB = Record(
    s.JobSpec,
    (
        Field("name", JOB_NAME, "Name of the job, unique among yours."),
        Field("description", Text(4096), "What the job is for.", ""),
        Field("queue", QUEUE_NAME, "Queue to submit to.", s.DEFAULT_QUEUE),
        Field("priority", Integer(-1000, 1000), "Higher starts first.", 0),
        Field(
            "shared",
            Nullable(Flag()),
            "Whether everybody in the queue may see its logs, configuration and files "
            "(default: what the queue says).",
            None,
        ),
        Field("image", IMAGE, "Container image (default: the machine's own environment).", ""),
        Field(
            "image_credentials",
            SECRET_NAME_OR_NONE,
            "Secret of kind registry, to pull private images.",
            "",
        ),
        Field(
            "strategy",
            STRATEGY_NAME,
            "Strategy for distributed training, such as torchrun or mpi (default: none).",
            "",
        ),
        Field("code", Nullable(CODE), "Code that the tasks find in their working folder.", None),
        Field(
            "environment",
            Nullable(ENVIRONMENT),
            "Python packages of every task; built once and shared read-only by your jobs.",
            None,
        ),
        Field("data", ListOf(DATA, 64, unique="path"), "Stored data that tasks see.", ()),
        Field("results", Nullable(RESULTS), "Where results are kept.", None),
        Field("env", ENV, "Environment variables of every task.", {}),
        Field(
            "parameters",
            MapOf(PARAMETER_NAME, Scalar(), 200),
            "Values referenced as ${{ parameters.NAME }} in commands and environment.",
            {},
        ),
        Field(
            "secrets",
            MapOf(ENV_NAME, SECRET_NAME, 100),
            "Environment variables filled from stored secrets.",
            {},
        ),
        Field("roles", ListOf(ROLE, 100, 1, unique="name"), "Groups of equal tasks."),
        Field("services", ListOf(SERVICE, 16), "Interactive services while it runs.", ()),
        Field("alerts", ListOf(ALERT, 64), "Notifications.", ()),
        Field("retry", Integer(0, 1000), "Retries of the whole job after a failure.", 0),
        Field(
            "time_limit",
            Nullable(Duration(1, 365 * 86400)),
            "Longest run time of one attempt.",
            None,
            "time_limit_s",
        ),
        Field("deadline", Nullable(Instant()), "Time by which the job must be over.", None, "deadline_at"),
        Field(
            "grace",
            Duration(0, 3600),
            "Grace period between SIGTERM and SIGKILL.",
            s.DEFAULT_GRACE_S,
            "grace_s",
        ),
        Field(
            "keep_on_failure",
            Nullable(Duration(60, 7 * 86400)),
            "How long the environment of a failed task is kept for inspection.",
            None,
            "keep_on_failure_s",
        ),
        Field(
            "on_failure",
            ListOf(FAILURE_RULE, 32),
            "Rules for failures; the first match decides, else the defaults.",
            (),
        ),
        Field("hang", Nullable(HANG), "What to do when tasks make no progress.", None),
        Field(
            "idle_limit",
            Nullable(Duration(5, 30 * 86400)),
            "Stop the job when all its tasks have been idle for this long.",
            None,
            "idle_limit_s",
        ),
        Field("tags", ListOf(Text(63, 1), 50, unique=""), "Tags to find the job by.", ()),
        Field("extras", MapOf(Text(255, 1), AnyJson(65_536), 200), "Free data kept with the job.", {}),
    ),
    checks=(_check_job,),
    similar=tuple(field.name for field in ROLE_BODY),
)
