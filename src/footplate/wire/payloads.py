"""The bodies of our REST API, for its published description and for reading requests."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from footplate.domain.errors import BY_CODE
from footplate.domain.problems import is_writable
from footplate.domain.states import JobState, ReasonCode, TaskState


def _writable(text: str) -> str:
    if not is_writable(text):
        raise ValueError("not_writable")
    return text


Text = Annotated[str, AfterValidator(_writable)]
Name = Annotated[Text, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]*$")]
QueueName = Annotated[Text, Field(min_length=1, max_length=63, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Password = Annotated[Text, Field(min_length=8, max_length=256)]
QueueRole = Literal["admin", "member", "viewer"]
Environments = Annotated[
    dict[
        Annotated[Text, Field(min_length=1, max_length=512, pattern=r"^\S+$")],
        Annotated[Text, Field(min_length=1, max_length=1024)],
    ],
    Field(
        max_length=100,
        description="Images, by name, for which a folder on the server stands in: image to absolute path.",
    ),
]
LifetimeS = Annotated[int, Field(ge=60, le=10 * 365 * 86400)]
# The framework refuses a verb before any of our errors can be raised.
ERROR_CODES: list[Any] = [*sorted(BY_CODE), "method_not_allowed"]


class Body(BaseModel):
    """A request or answer; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Told(Body):
    """Something said to people: an English text with times in UTC, and what it was made of."""

    message: str
    message_code: str = Field(description="Which sentence it is; `x-messages` lists them all.")
    params: dict[str, Any] = Field(description="Its parameters, by name.")


class ProblemBody(Told):
    path: str


class ErrorBody(Told):
    """What every refused request is answered with."""

    code: str = Field(json_schema_extra={"enum": ERROR_CODES})
    problems: list[ProblemBody] = []
    request_id: str


class Login(Body):
    user: Text = Field(max_length=255)
    password: Text = Field(max_length=1024)
    name: Text = Field("login", max_length=255, description="What the token is for.")
    expires_in_s: LifetimeS | None = Field(
        30 * 86400, description="Lifetime of the token; null: it never expires."
    )
    replaces: bool = Field(False, description="Revoke the earlier tokens of the same user and name.")


class NewToken(Body):
    name: Text = Field(min_length=1, max_length=255)
    expires_in_s: LifetimeS | None = None


class TokenBody(Body):
    id: str
    name: str
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    is_current: bool = Field(description="Whether this call was made with it.")


class IssuedToken(Body):
    """A token, shown this once."""

    token: str
    id: str
    user: str
    name: str
    expires_at: str | None


class Tokens(Body):
    items: list[TokenBody]


class QueueMembership(Body):
    name: str
    role: QueueRole


class Me(Body):
    name: str
    is_admin: bool
    job_id: str | None = Field(None, description="Set when a running job is calling.")
    queues: list[QueueMembership]


class Session(Body):
    user: Me | None = Field(description="Null when nobody is signed in.")


class SessionLogin(Body):
    user: Text = Field(max_length=255)
    password: Text = Field(max_length=1024)


class NewSession(Body):
    key: str = Field(description="To be sent in the header X-Footplate-Key with every call.")
    user: Me


class NewTicket(Body):
    path: Text = Field(max_length=1024, description="Such as /api/v1/jobs/ID/download, without its query.")


class Ticket(Body):
    ticket: str


class PasswordChange(Body):
    old_password: Text = Field(max_length=1024)
    new_password: Password


class NewUser(Body):
    name: Name
    password: Password
    is_admin: bool = False
    queues: dict[QueueName, QueueRole] = Field({"default": "member"}, max_length=1000)


class UserChange(Body):
    password: Password | None = None
    is_admin: bool | None = None
    is_enabled: bool | None = None


class UserBody(Body):
    name: str
    is_admin: bool
    is_enabled: bool
    created_at: str
    queues: list[QueueMembership]


class Users(Body):
    items: list[UserBody]


class Amount(Body):
    """CPUs, memory and GPUs."""

    cpus: float = Field(0, ge=0, le=1_000_000)
    memory_bytes: int = Field(0, ge=0, le=2**60)
    gpus: int = Field(0, ge=0, le=1_000_000)


class Maximum(Body):
    """A cap on CPUs, memory and GPUs; what is absent or null is unlimited, 0 forbids it."""

    cpus: float | None = Field(None, ge=0, le=1_000_000)
    memory_bytes: int | None = Field(None, ge=0, le=2**53)
    gpus: int | None = Field(None, ge=0, le=1_000_000)


class NewQueue(Body):
    name: QueueName
    description: Text = Field("", max_length=4096)
    guaranteed: Amount = Amount()
    maximum: Maximum | None = None
    nodes: list[Annotated[Text, Field(min_length=1, max_length=255)]] = Field([], max_length=1000)
    is_open: bool = True
    environments: Environments = {}


class QueueChange(Body):
    description: Text | None = Field(None, max_length=4096)
    guaranteed: Amount | None = None
    maximum: Maximum | None = None
    nodes: list[Annotated[Text, Field(min_length=1, max_length=255)]] | None = Field(None, max_length=1000)
    is_open: bool | None = None
    environments: Environments | None = None


class QueueBody(Body):
    name: str
    description: str
    guaranteed: Amount
    maximum: Maximum | None
    nodes: list[str]
    is_open: bool
    environments: dict[str, str]
    used: Amount
    n_running: int
    n_waiting: int
    my_role: QueueRole | None


class Queues(Body):
    items: list[QueueBody]


class MemberChange(Body):
    role: QueueRole


class Member(Body):
    user: str
    role: QueueRole


class Members(Body):
    items: list[Member]


class GpuBody(Body):
    index: int
    type: str
    memory_bytes: int
    job_id: str | None
    in_use_by_others: bool


class NodeBody(Body):
    name: str
    address: str
    cpus: float
    memory_bytes: int
    gpus: list[GpuBody]
    is_schedulable: bool
    enforced: list[str]
    unenforced: Told | None = Field(description="Which limits are not enforced there, and why.")
    free: Amount


class Nodes(Body):
    items: list[NodeBody]


class NodeChange(Body):
    is_schedulable: bool


class ReasonBody(Told):
    code: ReasonCode
    details: dict[str, Any]


class JobSummary(Body):
    """A job as a list shows it."""

    id: str
    name: str
    description: str
    owner: str
    queue: str
    state: JobState
    reason: ReasonBody
    priority: int
    attempt: int
    retries_used: int
    retry: int
    n_tasks: int
    resources: Amount
    tags: list[str]
    submitted_at: str
    queued_at: str
    started_at: str | None
    running_at: str | None
    finished_at: str | None
    run_time_s: float | None
    position: int | None = Field(description="How many jobs are ahead, while it waits.")
    is_deleting: bool
    kept_until: str | None = Field(description="Until when a failed environment is kept.")
    deleted_at: str | None = Field(description="Since when the job is in the trash.")


class TaskBody(Body):
    role: str
    index: int
    name: str
    state: TaskState
    node: str
    address: str
    gpus: list[int]
    ports: dict[str, list[int]]
    exit_code: int | None
    detail: Told | None = Field(description="How it ended or waits, where that is more than its state.")
    cause: str = Field(description="What ended it besides itself: oom, lost, tampered, stopped, or empty.")
    run: int = Field(description="How often the task was started again by itself.")
    started_at: str | None
    finished_at: str | None


class Allowed(Body):
    """What the caller may do with the job now."""

    stop: bool
    halt: bool
    preempt: bool
    release: bool
    edit: bool
    delete: bool
    restore: bool


class EstimateBody(Body):
    expected_at: str | None = Field(description="By usual run times; null when nobody can tell.")
    latest_at: str | None = Field(description="By time limits; null when some job ahead has none.")
    basis: Told


class WaitingBody(JobSummary):
    estimate: EstimateBody | None


class Waiting(Body):
    """Jobs that wait, first to start first."""

    items: list[WaitingBody]
    n_waiting: int = Field(description="How many wait in all, also those that the caller may not see.")


class JobDetail(JobSummary):
    """A job with its tasks and the configuration that can be submitted again unchanged."""

    tasks: list[TaskBody]
    config: dict[str, Any]
    can: Allowed
    estimate: EstimateBody | None = Field(description="When it is expected to start, while it waits.")
    warnings: list[Told] = Field(description="What of the configuration has no effect.")


class Jobs(Body):
    items: list[JobSummary]
    next_page_token: str | None


class JobChange(Body):
    name: Text | None = Field(None, max_length=255)
    description: Text | None = Field(None, max_length=4096)
    priority: int | None = Field(None, ge=-1000, le=1000)


class DryRun(Body):
    """What a submit would do."""

    config: dict[str, Any]
    would_start: bool
    reason: ReasonBody
    request: dict[str, Any] | None = Field(description="The engine's request, when the job would start now.")
    warnings: list[Told] = Field(description="What of the configuration has no effect.")


class UsagePoint(Body):
    at: str
    cpus: float
    memory_bytes: int
    read_bytes_s: float | None
    written_bytes_s: float | None
    n_processes: int | None
    gpu_utilisation: float | None = Field(description="Mean of the task's cards, 0 to 1.")
    gpu_memory_bytes: int | None


class UsageBody(Body):
    """What one task has used over time."""

    task: str
    asked: Amount
    points: list[UsagePoint]


class AuditBody(Body):
    seq: int
    at: str
    actor: str
    action: str
    subject: str
    detail: dict[str, Any]


class Audit(Body):
    items: list[AuditBody]


class SettingsBody(Body):
    """How the server is set up."""

    version: str
    home: str
    url: str
    database: str
    log_cap_bytes: int
    trash_kept_s: float
    idle_limit_s: float | None
    limits: bool
    container_socket: str | None = Field(description="As set; null when it is looked for.")
    file: str = Field(description="Where these can be changed; the server reads it at start.")


class StrategyBody(Body):
    name: str
    description: str


class Strategies(Body):
    items: list[StrategyBody]


class Tasks(Body):
    items: list[TaskBody]


class AttemptBody(Body):
    number: int
    state: JobState
    reason: ReasonBody
    started_at: str | None
    running_at: str | None
    finished_at: str | None
    tasks: list[TaskBody]


class Attempts(Body):
    items: list[AttemptBody]


class EventBody(Told):
    seq: int
    at: str
    job_id: str
    kind: str
    attempt: int
    actor: str
    data: dict[str, Any]
    cause: int | None = Field(
        description="The number of the event that led to this one; null where a person or the world did."
    )


class Events(Body):
    items: list[EventBody]
    next_after: int


class LogMatches(Body):
    items: list[int] = Field(description="Offsets at which the lines begin.")
    next_offset: int | None = Field(description="Where the search goes on; null when it reached the end.")


class Upload(Body):
    upload: str
    size_bytes: int


class ResourceUse(Body):
    total: Amount
    used: Amount


class Summary(Body):
    """The platform at a glance, as far as the caller may see it."""

    jobs: dict[str, int]
    finished_today: dict[str, int]
    resources: ResourceUse
    queues: list[QueueBody]


class Version(Body):
    version: str
    api: str


class Health(Body):
    status: str = Field(description="ok, or disk_low while nothing new is taken.")
    message: str = Field("", description="What is not well; left out when all is.")
    message_code: str = ""
    params: dict[str, Any] = {}
