"""A submitted job, as its owner handles it."""

from __future__ import annotations

import json
import math
import os
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, unquote

from footplate.domain.errors import EngineUnavailable
from footplate.domain.exitcode import exit_code_of
from footplate.domain.messages import Message
from footplate.domain.states import FINAL_STATES, JobState, Reason, ReasonCode
from footplate.sdk.connection import Connection
from footplate.sdk.errors import TimedOut, Unreachable, message_in
from footplate.sdk.follow import Ended, Followed, LogText, read_followed
from footplate.sdk.lines import Lines
from footplate.sdk.metrics import JobMetrics
from footplate.sdk.steps import steps_of
from footplate.sdk.zones import in_my_zone, with_zone

if TYPE_CHECKING:
    from footplate.sdk.shell import Shell

LOG_PAGE_BYTES = 1 << 20
_FIRST_POLL_S, _LONGEST_POLL_S = 0.05, 1.0
# How long one call lets the server wait for the end of a job.
_LONG_CALL_S = 20.0


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command that was run inside a task ended."""

    exit_code: int
    output: str
    is_cut: bool = False
    timed_out: bool = False
    # What it wrote, byte for byte.
    raw: bytes = b""


def _ignore(_job: Job) -> None:
    """Take no interest in how a job stands."""


class Job(JobMetrics):
    """One job; `data` is what the server last said about it, and `refresh` asks again."""

    def __init__(self, connection: Connection, data: dict[str, Any]) -> None:
        self._connection = connection
        self.data = data

    def __repr__(self) -> str:
        return f"<Job {self.id} {self.name!r} {self.state}>"

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def name(self) -> str:
        return str(self.data["name"])

    @property
    def owner(self) -> str:
        return str(self.data["owner"])

    @property
    def queue(self) -> str:
        return str(self.data["queue"])

    @property
    def attempt(self) -> int:
        return int(self.data["attempt"])

    @property
    def state(self) -> JobState:
        return JobState(self.data["state"])

    @property
    def is_final(self) -> bool:
        return self.state.is_final

    @property
    def reason(self) -> Reason:
        return read_reason(self.data["reason"])

    @property
    def tasks(self) -> list[dict[str, Any]]:
        """The tasks of the current attempt, as of the last refresh."""
        if "tasks" not in self.data:
            self.refresh()
        tasks: list[dict[str, Any]] = self.data["tasks"]
        return tasks

    @property
    def exit_code(self) -> int | None:
        """That of the task which decided how the job ended; 0 for a success; None while that is open."""
        return exit_code_of(self.state, self.reason, [task["exit_code"] for task in self.tasks])

    @property
    def failed_task(self) -> str | None:
        """The task that failed first, if the job has failed."""
        if self.state is not JobState.FAILED and not self.data.get("kept_until"):
            return None
        failed = [task for task in self.tasks if task["exit_code"]]
        failed.sort(key=lambda task: task["finished_at"] or "~")
        return str(failed[0]["name"]) if failed else None

    @property
    def results(self) -> dict[str, Any] | None:
        """Where its results are kept, and how far that is; None where the job file names no `results`."""
        if "results" not in self.data:
            self.refresh()
        results: dict[str, Any] | None = self.data["results"]
        return results

    def refresh(self) -> Job:
        """Ask the server how the job stands."""
        self.data = self._connection.fetch(self._path())
        return self

    def sizes(self) -> dict[str, Any]:
        """Say how much of the disk the job takes, part by part."""
        found: dict[str, Any] = self._connection.fetch(self._path("sizes"))
        return found

    def cost(self) -> dict[str, Any]:
        """Say what the job has used so far, and what that cost by the server's prices."""
        found: dict[str, Any] = self._connection.fetch(self._path("cost"))
        return found

    def wait(
        self,
        timeout: float | None = None,
        until: str | Collection[str] | None = None,
        on_poll: Callable[[Job], None] = _ignore,
        *,
        results: bool = False,
    ) -> Job:
        """Wait until the job is over or in one of the states `until`, at most `timeout` seconds.

        With `results`, wait also until those that it saves on a storage are there.

        `on_poll` is called whenever the server has said how the job stands. A server that goes away
        meanwhile is waited for, as far as the client's patience reaches.
        """
        wanted = {until} if isinstance(until, str) else set(until or ())
        deadline = None if timeout is None else time.monotonic() + timeout
        patience, pause_s = self._connection.patience(), _FIRST_POLL_S
        # The server was there when it told us of the job.
        patience.connect()
        while True:
            asked_at = time.monotonic()
            left_s = math.inf if deadline is None else max(deadline - asked_at, 0)
            try:
                self._poll(min(left_s, _LONG_CALL_S if on_poll is _ignore else _LONGEST_POLL_S), wanted)
                patience.connect()
                on_poll(self)
                if self._has_arrived(wanted, results):
                    return self
            except (Unreachable, EngineUnavailable) as error:
                patience.lose(error)
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                raise TimedOut(
                    "wait_timed_out", name=self.name, job=self.id, state=self.state.value, seconds=timeout
                )
            if now - asked_at < pause_s:
                # The server did not wait for us: an older one, or one that is not there.
                time.sleep(min(pause_s, left_s))
                pause_s = min(pause_s * 1.5, _LONGEST_POLL_S)

    @property
    def saves_results(self) -> bool:
        """Whether results are still to be saved on the storage that the job names, as of the last refresh."""
        results = self.data.get("results") or {"is_complete": True}
        return not results["is_complete"]

    def _has_arrived(self, wanted: Collection[str], results: bool) -> bool:
        return self.state in wanted or (self.is_final and not (results and self.saves_results))

    def _poll(self, within_s: float, states: Collection[str]) -> None:
        """Ask how the job stands once it is over or in one of some states, or after a while."""
        wait_s = round(within_s, 3)
        self.data = self._connection.request(
            "GET",
            self._path(),
            params={"wait": wait_s or None, "until": sorted(states)},
            timeout=self._connection.timeout_s + wait_s,
        ).json()

    def logs(
        self,
        follow: bool = False,
        task: str | None = None,
        attempt: int | None = None,
        tail: int | None = None,
        since: str | None = None,
    ) -> Iterator[str]:
        """Yield the lines that the job printed, of one task (such as `worker-0`) or of all.

        With `follow`, go on until the job is over; otherwise give what there is, task by task.
        """
        if follow:
            tasks = (task,) if task else ()
            yield from _whole_lines(self.follow(tasks, attempt, tail, since))
            return
        for name in [task] if task else [one["name"] for one in self.tasks]:
            lines = Lines()
            for text in self.log_text(name, attempt, tail, since):
                yield from lines.feed(text)
            yield from lines.finish()

    def log_text(
        self,
        task: str | None = None,
        attempt: int | None = None,
        tail: int | None = None,
        since: str | None = None,
        raw: bool = False,
    ) -> Iterator[str]:
        """Yield one task's log up to now in pages; progress bars are folded unless `raw`."""
        same = {"task": task, "attempt": attempt, "raw": raw or None}
        start: dict[str, Any] = (
            {"tail": tail, "since": with_zone(since)} if tail is not None or since else {"offset": 0}
        )
        end = None
        while True:
            response = self._connection.request(
                "GET", self._path("logs"), params={**same, **start, "limit": LOG_PAGE_BYTES}
            )
            yield response.content.decode("utf-8", "replace")
            size = int(response.headers.get("X-Log-Size", 0))
            position = int(response.headers.get("X-Log-Next-Offset", size))
            # What is printed while we read belongs to the next call.
            end = size if end is None else end
            if position >= end or position <= start.get("offset", -1):
                return
            start = {"offset": position}

    def follow(
        self,
        tasks: Sequence[str] = (),
        attempt: int | None = None,
        tail: int | None = None,
        since: str | None = None,
    ) -> Iterator[Followed]:
        """Yield what happens to the job, log text included, until it is over; survives broken connections."""
        events = self._connection.events(
            self._path("logs", "stream"),
            task=list(tasks),
            attempt=attempt,
            tail=tail,
            since=with_zone(since),
        )
        for event in events:
            followed = read_followed(event)
            if followed is not None:
                yield followed
            if isinstance(followed, Ended):
                return

    def download_log(
        self, path: str | os.PathLike[str], task: str | None = None, attempt: int | None = None
    ) -> Path:
        """Store one task's whole log in a file, byte for byte."""
        return self._save(Path(path), self._path("logs", "download"), task=task, attempt=attempt)

    def _save(self, target: Path | None, source: str, **params: Any) -> Path:
        """Store an answer in a file, in this folder under the name that it comes with unless one is given."""
        with self._connection.opened(source, **params) as response:
            chosen = target or Path(_name_in(response.headers["Content-Disposition"]))
            draft = chosen.with_name(f".{chosen.name}.part")
            try:
                with draft.open("wb") as file:
                    for chunk in response.iter_bytes():
                        file.write(chunk)
                return draft.replace(chosen)
            finally:
                draft.unlink(missing_ok=True)

    def events(self, after: int | None = None, follow: bool = False) -> Iterator[dict[str, Any]]:
        """Yield what has happened to the job, oldest first; with `follow`, go on until it is over."""
        if not follow or self.refresh().is_final:
            yield from self._connection.page_events(self._path("events"), after or 0)
            return
        for event in self._connection.events("/events/stream", job=self.id, after=after or 0):
            data: dict[str, Any] = json.loads(event.data)
            yield data
            if str(data["kind"]).upper() in FINAL_STATES:
                return

    def events_of(self, *kinds: str) -> Iterator[dict[str, Any]]:
        """Yield what has happened to the job of these kinds, such as `step`, oldest first."""
        for event in self._connection.page_events(self._path("events"), 0, kind=list(kinds)):
            if event["kind"] in kinds:
                yield event

    def steps(self) -> list[dict[str, Any]]:
        """List the steps in which the current attempt was started, with their times; the last may go on."""
        events = self.events_of("step", "progress")
        return steps_of([event for event in events if event["attempt"] == self.attempt])

    def doing(self) -> Message:
        """Say what the job is at, or why it is not."""
        at = self.steps()[-1:] if self.state is JobState.STARTING else []
        return message_in(at[0]) if at else self.reason.said

    def usage(
        self,
        task: str | None = None,
        attempt: int | None = None,
        since: str | None = None,
        points: int = 300,
    ) -> dict[str, Any]:
        """Return what one task has used over time, the first when none is named, and what it asked for."""
        answer: dict[str, Any] = self._connection.fetch(
            self._path("usage"), task=task, attempt=attempt, since=with_zone(since), points=points
        )
        return answer

    def attempts(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self._connection.fetch(self._path("attempts"))["items"]
        return items

    def config(self) -> dict[str, Any]:
        """Return the job document as the server holds it, defaults included."""
        document: dict[str, Any] = self._connection.fetch(self._path("config"))
        return document

    def original(self) -> dict[str, Any]:
        """Return the file of another system that the job was made from: `dialect` and `text`."""
        found: dict[str, Any] = self._connection.fetch(self._path("original"))
        return found

    def stop(self, now: bool = False) -> Job:
        """Ask the job to end, `now` by force at once; `wait` tells when it has."""
        params = {"now": "true" if now else None}
        self.data = self._connection.send("POST", self._path("stop"), is_repeatable=True, params=params)
        return self

    def halt(self) -> Job:
        """Stop the job and keep its results so far, for `download`."""
        return self._ask("halt")

    def preempt(self) -> Job:
        """Make the job give its place back and wait again, to see that it resumes from its checkpoint."""
        return self._ask("preempt")

    def release(self) -> Job:
        """Give up the environment that was kept after a failure."""
        return self._ask("release")

    def restore(self) -> Job:
        """Take the job out of the trash."""
        return self._ask("restore")

    def _ask(self, verb: str) -> Job:
        self.data = self._connection.send("POST", self._path(verb))
        return self

    def delete(self, for_good: bool = False) -> bool:
        """Put the job into the trash, or remove it with logs and files; False when it has to stop first."""
        params = {"for_good": "true" if for_good else None}
        return self._connection.request("DELETE", self._path(), params=params).status_code != 202

    def exec(
        self, command: Sequence[str], task: str | None = None, timeout_s: int = 60, stdin: bytes = b""
    ) -> Ran:
        """Run a command where one of the job's tasks runs, or ran if it is kept after a failure.

        Of `stdin`, which it reads, at most 16 MiB are taken; of what it writes, the first MiB is returned.
        """
        body = {"command": list(command), "task": task, "timeout_s": timeout_s, "encoding": "base64"}
        if stdin:
            body["input"] = b64encode(stdin).decode()
        answer = self._connection.send("POST", self._path("exec"), body, timeout=timeout_s + 30)
        raw = b64decode(answer["output"])
        text = raw.decode("utf-8", "replace")
        return Ran(answer["exit_code"], text, answer["is_cut"], answer["timed_out"], raw)

    def shell(
        self,
        task: str | None = None,
        size: tuple[int, int] = (24, 80),
        tell: Callable[[str], None] = lambda _what: None,
    ) -> Shell:
        """Start a shell in one of the job's tasks, with a terminal of so many rows and columns."""
        from footplate.sdk.shell import Shell

        return Shell(self._connection, self._path("shells"), task, size, tell)

    def open_service(
        self, service: str, task: str | None = None, others: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Open `jupyter`, `tensorboard`, `desktop` or a port; the answer's `url` lets a browser in, once.

        TensorBoard is there also after the end of the job, and shows `others`, by id or name, as well. What
        the task lacks may be installed first, which takes a while.
        """
        body = {"service": str(service), "task": task, "others": list(others)}
        answer: dict[str, Any] = self._connection.send("POST", self._path("services"), body, timeout=960)
        return answer

    def services(self) -> Any:
        """List what is open in this job for browsers."""
        return self._connection.fetch(self._path("services"))["items"]

    def ssh(self, task: str | None = None) -> dict[str, Any]:
        """Say where and as whom to connect to enter a task by SSH."""
        answer: dict[str, Any] = self._connection.fetch(self._path("ssh"), task=task)
        return answer

    def ssh_key(self) -> str:
        """Take a private key that opens this job alone; an earlier one becomes worthless."""
        return str(self._connection.send("POST", self._path("ssh-key"))["private_key"])

    def files(self, what: str = "output", path: str = "") -> dict[str, Any]:
        """List the files of the job's `output`, `checkpoints`, `code` or `work`, or those below a path."""
        answer: dict[str, Any] = self._connection.fetch(self._path("files", quote(what, safe="")), path=path)
        return answer

    def download(
        self, target: str | os.PathLike[str] | None = None, what: str = "output", path: str = ""
    ) -> Path:
        """Store what the job has made: its `output`, `checkpoints`, `code` or `work`, or a path of these.

        A file is stored as it is, a folder as a .tar.gz archive; without a target, in this folder.
        """
        chosen = None if target is None else Path(target)
        return self._save(chosen, self._path("download"), what=what, path=path)

    def clone(self, name: str | None = None, **overrides: Any) -> Job:
        """Submit the same job again, with some fields changed.

        `parameters`, `env` and `secrets` are merged into the job's own, where None takes one out; `data` is
        added by path. Every other field is replaced. Fields of a role go into the only role that there is.
        """
        body = {**({"name": name} if name else {}), **in_my_zone(overrides)}
        return Job(self._connection, self._connection.send("POST", self._path("clone"), body, key=_key()))

    def edit(
        self,
        name: str | None = None,
        description: str | None = None,
        priority: int | None = None,
        shared: bool | None = None,
    ) -> Job:
        """Change what may change after submit; who is in the queue of a `shared` job may look into it."""
        changes = {"name": name, "description": description, "priority": priority, "shared": shared}
        body = {field: value for field, value in changes.items() if value is not None}
        self.data = self._connection.send("PATCH", self._path(), body)
        return self

    def _path(self, *parts: str) -> str:
        return "/".join(("/jobs", quote(self.id, safe=""), *parts))


def read_reason(data: dict[str, Any]) -> Reason:
    """Read a reason; a code that a newer server knows stays a plain text."""
    code = data["code"]
    known = ReasonCode(code) if code in ReasonCode.__members__.values() else cast("ReasonCode", code)
    return Reason(known, message_in(data), data.get("details") or {})


def _name_in(disposition: str) -> str:
    """The name of a file that an answer brings, without any folder."""
    _, _, name = disposition.partition("filename*=UTF-8''")
    last = unquote(name).replace("\\", "/").rpartition("/")[2]
    return last if last.strip(".") else "download"


def _key() -> str:
    return os.urandom(16).hex()


def _whole_lines(followed: Iterator[Followed]) -> Iterator[str]:
    by_task: dict[tuple[str, int], Lines] = {}
    for event in followed:
        if isinstance(event, LogText):
            yield from by_task.setdefault((event.task, event.attempt), Lines()).feed(event.text)
    for lines in by_task.values():
        yield from lines.finish()
