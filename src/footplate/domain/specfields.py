"""The fields of a job file, with their bounds and help: the one place that says what may be asked.

Reader, writer, JSON schema, reference page and form help all come from these tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from footplate.domain import spec as s
from footplate.domain.codefields import CODE
from footplate.domain.datafields import DATA, RESULTS, DataList
from footplate.domain.environmentfields import ENVIRONMENT
from footplate.domain.fields import Field, ListOf, MapOf, Nullable, Record
from footplate.domain.kinds import AnyJson, Choice, Duration, Flag, Instant, Integer, Scalar, Text
from footplate.domain.model import ALIAS, MODEL_NAME
from footplate.domain.names import (
    ENV,
    ENV_NAME,
    FRAMEWORK,
    IMAGE,
    JOB_NAME,
    PARAMETER_NAME,
    PATH,
    QUEUE_NAME,
    SECRET_NAME,
    SECRET_NAME_OR_NONE,
    STRATEGY_NAME,
)
from footplate.domain.policyfields import ALERT, FAILURE_RULE, HANG
from footplate.domain.problems import MISSING, Problems, join
from footplate.domain.rolefields import MAX_TASKS, ROLE, ROLE_BODY

MODEL_PLACES = ("output", "checkpoints", "work")
SERVICE_KINDS = ("shell", "ssh", "jupyter", "tensorboard", "desktop")


MODEL = Record(
    s.ModelSpec,
    (
        Field("name", Text(128, 1, MODEL_NAME, "choice"), "Name of the model; each success adds a version."),
        Field("path", PATH, "File or folder that is the model (default: all of the folder).", ""),
        Field("from", Choice(MODEL_PLACES), "Folder of the job that the path is in.", "output", "place"),
        Field("framework", Text(257), "Framework of the model (default: the job's).", ""),
        Field("format", Text(64), "Format of the files, such as SavedModel or ONNX.", ""),
        Field("environment", Text(128), "Inference environment of the catalogue.", ""),
        Field("description", Text(4096), "What the version is.", ""),
        Field("tags", ListOf(Text(63, 1), 50, unique=""), "Tags of the version.", ()),
        Field("aliases", ListOf(Text(63, 1, ALIAS, "name"), 20), "Aliases that move to the version.", ()),
        Field("shared", Nullable(Flag()), "Whether everybody may see the model (default: as it is).", None),
    ),
    short="name",
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
    has_image = bool(job["image"] or job["framework"]) or any(role is MISSING or role.image for role in roles)
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
            "framework",
            FRAMEWORK,
            "Framework, alone or with a version: pytorch:2.4; see `footplate frameworks`. It fills in image, "
            "environment and strategy where the job names none.",
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
        Field("data", DataList(DATA, 64, unique="path"), "Stored data that tasks see.", ()),
        Field(
            "results", Nullable(RESULTS), "Storage that keeps what tasks write to their output folder.", None
        ),
        Field("model", Nullable(MODEL), "Model to register when the job succeeds.", None),
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
        Field(
            "deadline",
            Nullable(Instant()),
            "Time by which the job must be over; without a zone it is that of your clock, over REST UTC.",
            None,
            "deadline_at",
        ),
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
        Field(
            "log_metrics",
            ListOf(Text(1024, 1), 20),
            "Regular expressions over lines of the log: named groups are metrics, or `step` and `epoch`.",
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
