"""What the parts of the local engine exchange, as JSON: requests, orders for the spawner, and its answers."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict, cast, final

from footplate.domain.messages import Message
from footplate.engines.base import Request


class Mount(TypedDict):
    """`is_fixed` says that no task can change what lies on the way to `inner` meanwhile.

    One with `staged` is a copy of what `inner` names on that storage; its source is known once it is here.
    `kept_for` says of a folder that the server keeps whether it is one person's, or everybody's.
    """

    source: str
    inner: str
    is_fixed: bool
    target: str
    read_only: bool
    staged: NotRequired[str]
    kept_for: NotRequired[Literal["one", "all"]]


class Code(TypedDict):
    """Uploaded code, and where it is unpacked."""

    digest: str
    folder: str


class Wish(TypedDict):
    """The Python environment that a job asks for."""

    kind: str
    file: str
    listed: list[str]
    python: str


class Packages(Wish):
    """What is to be installed, where the code lies that may say so, and the link that will lead to it."""

    code: tuple[str, str] | None
    digest: str
    link: str


class ChosenRuntime(TypedDict):
    """What a task runs in, and what only its container needs to know."""

    image: str
    environment: str | None
    in_container: bool
    image_credentials: str
    keep: bool
    address: str
    ports: list[int]


class ProcessTask(TypedDict):
    """One task, or one errand of the platform, as a confined process."""

    role: str
    index: int
    run: int
    command: str
    env: dict[str, str]
    environment: str | None
    folder: str
    work_folder: str
    log: str
    milli_cpus: int
    memory_bytes: int
    shm_bytes: int
    gpus: list[int]


class LocalTask(ProcessTask):
    """One task of a request.

    `image_credentials` is the name of a secret: its value is asked for when the image is pulled.
    """

    node: str
    image: str
    in_container: bool
    image_credentials: str
    keep: bool
    address: str
    ports: list[int]


class ProcessRequest(TypedDict):
    """What confined processes have in common; `env` is for all of them."""

    attempt_id: str
    home_id: str
    owner: str
    owner_number: int
    person_folder: str
    folder: str
    folders: list[str]
    writable: list[str]
    code_is_read_only: bool
    mounts: list[Mount]
    env: dict[str, str]


class LocalRequest(ProcessRequest):
    """One attempt as this engine starts it.

    Containers are not given the variables in `inherited`, which are true of this machine only. `code_folder`
    is copied for every task; code that they may only read is mounted for all.
    """

    files: dict[str, str]
    code: Code | None
    code_folder: str | None
    inherited: list[str]
    packages: Packages | None
    environment_path: str
    tasks: list[LocalTask]


def own(request: Request) -> LocalRequest:
    """Take a request for what it is: only this engine's own requests come back to it."""
    return cast("LocalRequest", request)


@final
class AccountRange(TypedDict):
    """Host accounts that are a person's alone: `n` of them, from `first` on."""

    first: int
    n: int


@final
class SiteAccount(TypedDict):
    """An account of the machine that a person's tasks have."""

    uid: int
    gid: int
    groups: list[int]
    folder: str


Account = AccountRange | SiteAccount
# A folder of control groups, and what is written into files of the task's own group there.
Group = tuple[str, list[tuple[str, str]]]


@final
class View(TypedDict):
    """Which files a task sees, as `mounting.enter_view` reads it."""

    tmp: str
    covers: list[str]
    uncovers: list[str]
    keeps: list[str]
    unwritable: list[str]
    writable: list[str]
    mounts: list[tuple[str, str, str, bool]]
    hidden: list[str]
    own: list[str]
    free: list[str]
    masks: list[str]
    devices: list[str]
    account: Account | None
    shm_bytes: int


@final
class ViewOf(TypedDict):
    """The view of a process that runs already."""

    of: int


class Confined(TypedDict):
    """How the spawner confines one task; `joins` names the groups of a running task to enter."""

    groups: list[list[Any]]
    counters: list[tuple[str, str]]
    joins: str
    data_bytes: int | None
    view: View | ViewOf | None
    account: Account | None


class SpawnOrder(Confined):
    """One task as the spawner starts it.

    `given` are the folders that become the person's own, `passages` those of ours that lead there. `words`
    are those of a plain command, which needs no shell.
    """

    folder: str
    folders: list[str]
    given: list[str]
    passages: list[str]
    work_folder: str
    log: str
    argv: list[str]
    words: list[str]
    env: dict[str, str]


class Streams(TypedDict):
    """The pipes, or else the terminal, that a command talks through, by name."""

    input: str
    output: str
    errors: str
    terminal: str


class CommandOrder(SpawnOrder):
    """One command inside a task."""

    streams: Streams


class TaskOrder(SpawnOrder):
    """An order, or that of a command, with what the spawner adds to it on the way."""

    streams: NotRequired[Streams]
    filter: NotRequired[bytes]
    people_fd: NotRequired[int]
    mounts_fd: NotRequired[int]
    groups_fd: NotRequired[int]
    exit_fd: NotRequired[int]


@final
class SpawnRequest(TypedDict):
    """Tasks that the spawner is asked to start; `env` is for all of them."""

    id: int
    env: dict[str, str]
    tasks: list[TaskOrder]


@final
class Ping(TypedDict):
    """Asks the spawner whether it still answers."""

    id: int
    ping: Literal[True]


class Ground(TypedDict):
    """What the spawner prepares for all tasks."""

    mounted_within_s: float
    places: list[str]
    view: Literal["root", "user"] | None
    sealed: list[str]
    covers: list[str]
    keeps: list[str]
    accounts: bool
    pids: bool
    filter: bool
    native: NotRequired[str]
    ends_fd: NotRequired[int]


@final
class Started(TypedDict):
    """The process that a task has become."""

    pid: int
    start_ticks: int
    at: float


@final
class Exists(TypedDict):
    """The task was started or stopped before."""

    exists: Literal[True]


class Said(TypedDict):
    """A message as JSON: what a process says that has no tables of sentences."""

    code: str
    params: dict[str, Any]


@final
class NotStarted(TypedDict):
    """Why a task was not started; `is_final` when it will be so the next time."""

    error: str | Said | Message
    is_final: NotRequired[bool]
    is_stuck: NotRequired[bool]


Answer = Started | Exists | NotStarted


@final
class GoesOnAs(TypedDict):
    """Said on the way by a process that another one takes the place of."""

    child: int


class SpawnAnswer(TypedDict):
    """What became of the tasks of one request, in their order."""

    id: int
    tasks: list[Answer]


# What a process says through its pipe while it becomes a task.
News = Started | Exists | NotStarted | GoesOnAs
