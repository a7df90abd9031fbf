"""The jobs that go through a run with faults: what each asks for, what is done to it, how it must end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from footplate.testing.faults_evidence import GUARD
from footplate.testing.faults_users import Shown, Users

N_LOG_LINES = 100_000
# A real environment variable table, checked by the task itself.
CHECKS_ITS_ENVIRONMENT = """
[ "$WORLD_SIZE" = 2 ] && [ "$FOOTPLATE_TASK_COUNT" = 2 ] && [ "$RANK" = "$FOOTPLATE_TASK_INDEX" ]
[ -n "$MASTER_ADDR" ] && [ -n "$MASTER_PORT" ] && [ -d "$FOOTPLATE_OUTPUT_DIR" ]
echo rank $RANK of $WORLD_SIZE
"""

Play = Callable[[Users, str], None]


@dataclass(frozen=True)
class Kind:
    """A kind of job. Ends are those of a job that nobody's kill has hit."""

    name: str
    document: Mapping[str, Any]
    states: tuple[str, ...]
    n_attempts: int = 1
    codes: Mapping[str, int] = field(default_factory=lambda: {"main-0": 0})
    reason: str = ""
    log: str | None = None
    play: Play = lambda _users, _job_id: None
    code: Mapping[str, str] = field(default_factory=dict)
    is_removed: bool = False
    needs_limits: bool = False

    def submit(self, users: Users, number: int, image: str = "") -> str:
        document = {"name": f"{self.name}-{number}", "grace": "3s", **self.document}
        if "roles" not in document:
            document = {"cpus": 1, "memory": "64MB", **document}
        if image:
            document["image"] = image
        if self.code:
            document["code"] = {"upload": users.upload(dict(self.code))}
        return users.submit(document, f"{self.name}-{number}")

    def faults_of(self, shown: Shown, was_hit: bool, n_unlaunched: int = 0) -> list[str]:
        """Say what is wrong with how a job ended; one whose processes were killed may fail.

        Attempts that could not be launched may come on top of those that the kind needs.
        """
        story = f"{shown['name']} ({shown['id']}) is {shown['state']}, {shown['reason']}, {shown['tasks']}"
        if was_hit:
            is_right = shown["state"] in {*self.states, "FAILED"}
            return [] if is_right else [f"{story}, and must be {self.states} or FAILED"]
        codes = {task["name"]: task["exit_code"] for task in shown["tasks"]}
        wrong = {name: codes.get(name) for name, code in self.codes.items() if codes.get(name) != code}
        return [
            *([f"{story}, and must be {self.states}"] if shown["state"] not in self.states else []),
            *([f"{story}: wrong exit codes {wrong}"] if wrong else []),
            *(
                [f"{story}: it must have had {self.n_attempts} attempts"]
                if not 0 <= shown["attempt"] + 1 - self.n_attempts <= n_unlaunched
                else []
            ),
            *(
                [f"{story}: the reason must be {self.reason}"]
                if self.reason not in ("", shown["reason"]["code"])
                else []
            ),
        ]


def kinds(pause_s: float, roles: Mapping[str, Any] | None = None) -> list[Kind]:
    """All kinds, with a moment of work in each; `roles` is added to what every role asks for."""
    return [*_ends(f"sleep {pause_s:.2f}"), *_told_to_end(), *_gangs(f"sleep {pause_s:.2f}", roles or {})]


def _ends(work: str) -> list[Kind]:
    """Jobs that end by themselves."""
    return [
        Kind("succeeds", _runs(f"{work}\necho fine"), ("SUCCEEDED",), log="fine\n"),
        Kind("fails", _runs(f"echo no\n{work}\nexit 3"), ("FAILED",), codes={"main-0": 3}, log="no\n"),
        Kind(
            "retried",
            {**_runs(f"{work}\necho try $FOOTPLATE_ATTEMPT\n[ $FOOTPLATE_ATTEMPT -ge 2 ]"), "retry": 5},
            ("SUCCEEDED",),
            n_attempts=3,
            log="try 2\n",
        ),
        Kind(
            "out-of-memory",
            # When head alone is struck, tail ends well: the job must not.
            _runs("head -c 300000000 /dev/zero | tail >/dev/null\nexit 4"),
            ("FAILED",),
            codes={},
            reason="out_of_memory",
            needs_limits=True,
        ),
        Kind(
            "over-time",
            {**_runs("sleep 1000"), "time_limit": "2s"},
            ("STOPPED",),
            codes={},
            reason="time_limit",
        ),
        Kind(
            "leaves-a-daemon",
            # The lock goes with the daemon: a second attempt would find it taken if the daemon lived on.
            {**_runs("setsid sleep 1000 &\n[ $FOOTPLATE_ATTEMPT -ge 1 ]"), "retry": 1},
            ("SUCCEEDED",),
            n_attempts=2,
        ),
        Kind(
            "big-log",
            _runs(f"{work}\nseq 1 {N_LOG_LINES}"),
            ("SUCCEEDED",),
            log="".join(f"{number}\n" for number in range(1, N_LOG_LINES + 1)),
        ),
        Kind(
            "has-code",
            _runs(f"{work}\nsh run.sh\ncat data/words"),
            ("SUCCEEDED",),
            log="from the code\nsome words\n",
            code={"run.sh": "echo from the code\n", "data/words": "some words\n"},
        ),
    ]


def _told_to_end() -> list[Kind]:
    """Jobs that run until somebody wants something of them."""
    forever = _runs("echo up\nsleep 1000")
    return [
        Kind("stopped", forever, ("STOPPED",), codes={}, reason="stopped_by_user", play=_stop),
        Kind(
            "stopped-after-a-task-retry",
            {**_runs("[ $FOOTPLATE_TASK_RUN -ge 1 ]\nsleep 1000"), "task_retry": 3},
            ("STOPPED",),
            codes={},
            reason="stopped_by_user",
            play=_stop_second_run,
        ),
        Kind("halted", forever, ("STOPPED",), codes={}, reason="halted", play=_halt),
        Kind("trashed", forever, ("STOPPED",), codes={}, reason="deleted", play=_trash),
        Kind("removed", forever, ("STOPPED",), codes={}, play=_remove, is_removed=True),
        Kind(
            "preempted",
            _runs("[ $FOOTPLATE_ATTEMPT -ge 1 ] || sleep 1000\necho again"),
            ("SUCCEEDED",),
            n_attempts=2,
            log="again\n",
            play=_preempt,
        ),
        Kind(
            "kept",
            {**_runs("echo broken\nexit 5"), "keep_on_failure": "1h"},
            ("FAILED",),
            codes={"main-0": 5},
            play=_release,
        ),
    ]


def _gangs(work: str, more: Mapping[str, Any]) -> list[Kind]:
    small = {"cpus": 0.5, "memory": "64MB", **more}
    worker = f"{GUARD}{work}\necho done $RANK"
    return [
        Kind(
            "two-roles",
            {
                "roles": [
                    {"name": "ps", "command": f"{GUARD}sleep 1000", **small},
                    {
                        "name": "worker",
                        "count": 2,
                        "command": worker,
                        "completion": {"min_succeeded": 2},
                        **small,
                    },
                ]
            },
            ("SUCCEEDED",),
            codes={"worker-0": 0, "worker-1": 0},
        ),
        Kind(
            "task-retried",
            {
                "roles": [
                    {
                        "name": "main",
                        "count": 2,
                        "task_retry": 2,
                        "command": f"{GUARD}{work}\n[ $FOOTPLATE_TASK_RUN -ge $RANK ]",
                        **small,
                    }
                ]
            },
            ("SUCCEEDED",),
            codes={"main-0": 0, "main-1": 0},
        ),
        Kind(
            "environment",
            {"roles": [{"name": "main", "count": 2, "command": GUARD + CHECKS_ITS_ENVIRONMENT, **small}]},
            ("SUCCEEDED",),
            codes={"main-0": 0, "main-1": 0},
        ),
    ]


def _runs(command: str) -> dict[str, Any]:
    return {"command": GUARD + command}


def _stop(users: Users, job_id: str) -> None:
    users.await_running(job_id)
    users.tell(job_id, "stop")


def _stop_second_run(users: Users, job_id: str) -> None:
    users.await_second_run(job_id)
    users.tell(job_id, "stop")


def _halt(users: Users, job_id: str) -> None:
    users.await_running(job_id)
    users.tell(job_id, "halt")


def _trash(users: Users, job_id: str) -> None:
    users.await_running(job_id)
    users.put_into_trash(job_id)


def _remove(users: Users, job_id: str) -> None:
    users.await_running(job_id)
    users.remove(job_id)


def _preempt(users: Users, job_id: str) -> None:
    if users.await_running(job_id)["attempt"] == 0:
        users.tell(job_id, "preempt")


def _release(users: Users, job_id: str) -> None:
    users.await_kept(job_id)
    users.tell(job_id, "release")
