"""The fields of a job file, with their bounds and help: the one place that says what may be asked.

Reader, writer, JSON schema, reference page and form help all come from these tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from footplate.domain import spec as s
from footplate.domain.errors import InvalidInput, Problem
from footplate.domain.fields import Field, ListOf, MapOf, Nullable, Record
from footplate.domain.interpolate import Unresolved, resolve
from footplate.domain.kinds import (
    AnyJson,
    Choice,
    Cpus,
    Duration,
    Flag,
    Instant,
    Integer,
    Scalar,
    ScalarText,
    Size,
    Text,
)
from footplate.domain.messages import say
from footplate.domain.policyfields import ALERT, FAILURE_RULE, HANG
from footplate.domain.problems import MISSING, Json, Problems, Schema, join
from footplate.domain.resources import MIB

MAX_TASKS = 10_000
RESERVED_ENV = ("FOOTPLATE_", "PAI_")
RESERVED_ENV_NAMES = frozenset(
    {
        "ASCEND_RT_VISIBLE_DEVICES",
        "ASCEND_VISIBLE_DEVICES",
        "CUDA_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "NVIDIA_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
    }
)
SERVICE_KINDS = ("shell", "ssh", "jupyter", "tensorboard", "desktop")

JOB_NAME = Text(
    255,
    1,
    r"[A-Za-z0-9][A-Za-z0-9._~-]{0,254}",
    "job_name",
)
ROLE_NAME = Text(
    64,
    1,
    r"[A-Za-z0-9][A-Za-z0-9._~]{0,63}",
    "role_name",
)
QUEUE_NAME = Text(63, 1, r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", "name")
LABEL = Text(63, 1, r"[A-Za-z_][A-Za-z0-9_-]{0,62}", "label")
PARAMETER_NAME = Text(63, 1, r"[A-Za-z_][A-Za-z0-9_]{0,62}", "identifier")
SECRET_NAME = Text(63, 1, r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", "name")
STRATEGY_NAME = Text(
    63,
    0,
    r"([A-Za-z0-9][A-Za-z0-9._-]{0,62})?",
    "name",
)
SECRET_NAME_OR_NONE = Text(63, 0, rf"({SECRET_NAME.pattern})?", SECRET_NAME.form)


@dataclass(frozen=True)
class EnvName(Text):
    """The name of an environment variable that a user may set."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        read = super().read(value, path, problems)
        if read is not MISSING and (read in RESERVED_ENV_NAMES or read.startswith(RESERVED_ENV)):
            return problems.add(path, "set_by_platform", variable=read)
        return read


@dataclass(frozen=True)
class FilePath(Text):
    """A path that stays below its root."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        read = super().read(value, path, problems)
        if read is not MISSING and ".." in read.split("/"):
            return problems.add(path, "parent_folder")
        return read


@dataclass(frozen=True)
class Command(Text):
    """Shell text; a job file that says `command: true` means the program, not the truth value."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        return super().read(str(value).lower() if isinstance(value, bool) else value, path, problems)


ENV_NAME = EnvName(255, 1, r"[A-Za-z_][A-Za-z0-9_]*", "identifier")
ENV = MapOf(ENV_NAME, ScalarText(32_768), 1000)
PATH = FilePath(1024)
COMMAND = Command(65_536, 1)
IMAGE = Text(512, 0, r"(\S{1,512})?", "image")

PORT = Record(
    s.PortRange,
    (
        Field("label", LABEL, "Name under which the task finds the ports."),
        Field(
            "begin_at",
            Integer(0, 65_535),
            "First port to try: the task gets the first free ports in a row from here on; "
            "`footplate show` and the task's variables have them. 0 lets the platform choose.",
            0,
        ),
        Field("count", Integer(1, 100), "How many ports in a row.", 1),
    ),
    short="label",
)

COMPLETION = Record(
    s.Completion,
    (
        Field(
            "min_failed",
            Nullable(Integer(1, MAX_TASKS)),
            "The job fails when this many tasks of the role have failed; null: failures never end the job.",
            1,
        ),
        Field(
            "min_succeeded",
            Nullable(Integer(1, MAX_TASKS)),
            "The job succeeds when this many tasks of the role have; null: when all tasks are done.",
            None,
        ),
    ),
)


def _check_role(role: Mapping[str, Any], path: str, problems: Problems) -> None:
    completion, count = role["completion"], role["count"]
    if completion is not MISSING and count is not MISSING:
        for name in ("min_failed", "min_succeeded"):
            wanted = getattr(completion, name)
            if wanted is not None and wanted > count and getattr(s.Completion(), name) != wanted:
                where = join(join(path, "completion"), name)
                problems.add(where, "more_than_count", count=count, given=wanted)
    shm, memory = role["shm_bytes"], role["memory_bytes"]
    if MISSING not in (shm, memory) and shm > memory and shm != s.DEFAULT_SHM_BYTES:
        problems.add(join(path, "shm"), "more_than_memory", memory_bytes=memory)
    if role["gpu_type"] and role["gpus"] == 0:
        problems.add(join(path, "gpu_type"), "gpu_type_without_gpus")
    if role["ports"] is not MISSING:
        _check_ports(role["ports"], join(path, "ports"), problems)


def _check_ports(ports: Sequence[Any], path: str, problems: Problems) -> None:
    labels: dict[str, str] = {}
    for i, port in enumerate(ports):
        if port is MISSING:
            continue
        where = join(path, i)
        if port.begin_at and not 1024 <= port.begin_at <= 65_536 - port.count:
            high = 65_536 - port.count
            problems.add(join(where, "begin_at"), "bad_first_port", high=high, given=port.begin_at)
        variable = f"FOOTPLATE_PORT_{s.port_variable(port.label)}"
        other = labels.setdefault(variable, port.label)
        if other != port.label:
            shared = say("ports_share_variable", label=port.label, other=other, variable=variable)
            problems.add(join(where, "label"), shared)


# What a job of one role may write beside `name`, without a list of roles.
ROLE_BODY = (
    Field("command", COMMAND, "Shell command of each task; several lines stop at the first that fails."),
    Field("count", Integer(1, MAX_TASKS), "Number of tasks.", 1),
    Field(
        "cpus",
        Cpus(10, 1_024_000),
        "CPUs of each task, fractions allowed.",
        s.DEFAULT_MILLI_CPUS,
        "milli_cpus",
    ),
    Field(
        "memory",
        Size(16 * MIB, 64 * 1024**4),
        "Memory of each task, with a unit.",
        s.DEFAULT_MEMORY_BYTES,
        "memory_bytes",
    ),
    Field("shm", Size(MIB, 64 * 1024**4), "Shared memory of each task.", s.DEFAULT_SHM_BYTES, "shm_bytes"),
    Field("gpus", Integer(0, 1024), "GPUs of each task.", 0),
    Field("gpu_type", Text(64, 0, r"[A-Za-z0-9._ -]{0,64}", "gpu_type"), "GPU type (default: any).", ""),
    Field("ports", ListOf(PORT, 32, unique="label"), "Ports that each task gets.", ()),
    Field("completion", COMPLETION, "When this role decides the job.", s.Completion()),
    Field(
        "task_retry", Integer(0, 1000), "Retries of a single failed task, without restarting the others.", 0
    ),
)
ROLE = Record(
    s.RoleSpec,
    (
        Field("name", ROLE_NAME, "Name of the role, unique in the job.", s.DEFAULT_ROLE),
        *ROLE_BODY,
        Field("image", IMAGE, "Image of this role (default: the job's).", ""),
        Field("env", ENV, "Environment variables of this role, in addition to the job's.", {}),
    ),
    checks=(_check_role,),
)


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

_SHORT_ROLE = {field.name for field in ROLE_BODY}


def read_job(document: Json) -> s.JobSpec:
    """Read a job document, long or short form; raise `InvalidInput` with every problem found."""
    problems = Problems()
    spread = _spread(document)
    spec = JOB.read(spread, "", problems)
    _check_references(spread, problems)
    problems[:] = place_in(document, problems)
    problems.raise_if_any()
    assert isinstance(spec, s.JobSpec)
    return spec


def _check_references(document: Json, problems: Problems) -> None:
    """Look for references to parameters that are not set, in the raw document: other faults hide none."""
    if not isinstance(document, Mapping):
        return
    given = document.get("parameters")
    parameters = given if isinstance(given, Mapping) else {}
    _check_texts("env", document.get("env"), parameters, problems)
    roles = document.get("roles")
    for i, role in enumerate(roles if isinstance(roles, (list, tuple)) else ()):
        if isinstance(role, Mapping):
            where = join("roles", i)
            _check_texts(where, {"command": role.get("command")}, parameters, problems)
            _check_texts(join(where, "env"), role.get("env"), parameters, problems)


def _check_texts(path: str, texts: Json, parameters: Mapping[str, Any], problems: Problems) -> None:
    for name, text in (texts if isinstance(texts, Mapping) else {}).items():
        try:
            resolve(text if isinstance(text, str) else "", parameters)
        except Unresolved as unresolved:
            problems.add(join(path, str(name)), unresolved.said)


def _spread(document: Json) -> Json:
    if not isinstance(document, Mapping) or "roles" in document:
        return document
    role = {name: value for name, value in document.items() if name in _SHORT_ROLE}
    rest = {name: value for name, value in document.items() if name not in _SHORT_ROLE}
    return {**rest, "roles": [role]}


def place_in(document: Json, problems: Iterable[Problem]) -> list[Problem]:
    """Name the fields at fault as a document of this form has them, long or short."""
    if not isinstance(document, Mapping) or "roles" in document:
        return list(problems)
    return [Problem(re.sub(r"^roles\[0\]\.", "", one.path), one.said) for one in problems]


def write_job(spec: s.JobSpec) -> dict[str, Any]:
    """Write a job as the document that reads back as the same job."""
    written: dict[str, Any] = JOB.write(spec)
    return written


def job_schema() -> Schema:
    """Describe the job file as JSON schema, short form included."""
    schema = JOB.schema()
    properties = dict(schema["properties"])
    for one in ROLE_BODY:
        properties.setdefault(
            one.name, {**one.kind.schema(), "description": one.help + " (A job of one role.)"}
        )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Footplate job",
        **schema,
        "properties": properties,
        "required": ["name"],
        "anyOf": [{"required": ["roles"]}, {"required": ["command"]}],
    }


def require_text(kind: Text, value: Any, path: str) -> str:
    """Read one text on its own, such as the name of a queue."""
    problems = Problems()
    read = kind.read(value, path, problems)
    if problems:
        raise InvalidInput(problems)
    return str(read)
