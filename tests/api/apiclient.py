"""A caller of the API whose answers are checked against the published bodies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Self

import httpx
from pydantic import BaseModel

from footplate.domain.cluster import Gpu, Node
from footplate.domain.resources import GIB
from footplate.sdk.sse import ServerEvent, parse
from footplate.store.logfiles import LogFile
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeTasks
from footplate.testing.server import Served, until
from footplate.wire.body import ErrorBody
from footplate.wire.jobs import JobDetail

NODE = Node("fake", 8000, 16 * GIB, (Gpu(0, "H200"), Gpu(1, "H200")))

Data = dict[str, Any]
PASSWORD = "a long enough password"
_numbers = count(1)


def fresh(stem: str) -> str:
    """A name that no other test uses."""
    return f"{stem}-{next(_numbers)}"


@dataclass(frozen=True)
class Streamed:
    """One event of a stream, its data read."""

    kind: str
    data: Data
    cursor: str


class Api:
    """One account's view of the server."""

    def __init__(self, served: Served, token: str = "", name: str = "") -> None:
        self.served = served
        self.token = token
        self.name = name
        self.http = served.client(token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.http.close()

    def call(self, method: str, path: str, **request: Any) -> httpx.Response:
        return self.http.request(method, path, **request)

    def ok(
        self, method: str, path: str, model: type[BaseModel] | None = None, status: int = 200, **request: Any
    ) -> Data:
        """Call, expect success, and check the answer against its payload."""
        answer = self.call(method, path, **request)
        assert answer.status_code == status, (answer.status_code, answer.text)
        if model is not None:
            model.model_validate_json(answer.content, strict=True)
        return dict(answer.json()) if answer.content else {}

    def refused(
        self, method: str, path: str, status: int, field: str | None = None, says: str = "", **request: Any
    ) -> Data:
        """Call, expect a refusal in our one error body, with the field named where there is one."""
        answer = self.call(method, path, **request)
        assert answer.status_code == status, (answer.status_code, answer.text)
        body = check_refusal(answer)
        if field is not None:
            assert field in [problem["path"] for problem in body["problems"]], body
        assert says in body["message"], body
        return body

    def submit(self, **fields: Any) -> Data:
        """Submit a job that runs until it is finished by hand, with whatever else is said."""
        clock = self.served.clock
        assert isinstance(clock, FakeClock)
        clock.advance(0.001)
        document = {"name": fresh("job"), **fields}
        if "roles" not in document:
            document.setdefault("command", "wait")
        return self.ok("POST", "/jobs", JobDetail, 201, json=document)

    def job(self, job_id: str) -> Data:
        return self.ok("GET", f"/jobs/{job_id}", JobDetail)

    def until(self, job: Data, state: str, attempt: int | None = None) -> Data:
        """Wait until a job is in a state."""

        def look() -> Data | None:
            now = self.job(job["id"])
            return now if now["state"] == state and attempt in (None, now["attempt"]) else None

        return until(look)

    def until_gone(self, job: Data) -> None:
        until(lambda: self.call("GET", f"/jobs/{job['id']}").status_code == 404)

    def running(self, **fields: Any) -> Data:
        """A job that runs."""
        return self.until(self.submit(**fields), "RUNNING")

    def finish(self, job: Data, code: int = 0, attempt: int = 0, index: int = 0, role: str = "main") -> None:
        engine = self.served.engine
        assert isinstance(engine, FakeTasks)
        engine.finish(f"{job['id']}.{attempt}", role, index, code)

    def finished(self, code: int = 0, **fields: Any) -> Data:
        """A job that is over."""
        job = self.running(**fields)
        self.finish(job, code)
        return self.until(job, "FAILED" if code else "SUCCEEDED")

    def write_log(
        self, job: Data, content: bytes, attempt: int = 0, role: str = "main", index: int = 0
    ) -> None:
        """Append to a task's log, as the task itself would."""
        attempt_id, engine = f"{job['id']}.{attempt}", self.served.engine
        log = self.log(job, attempt, role, index)
        size = log.size + len(content)
        if isinstance(engine, FakeTasks) and (attempt_id, role, index) in engine.running():
            engine.say(attempt_id, content, role, index)
            until(lambda: log.size >= size)
        else:
            self.served.parts.platform.logs.append(attempt_id, f"{role}-{index}", content)

    def log(self, job: Data, attempt: int = 0, role: str = "main", index: int = 0) -> LogFile:
        return self.served.parts.platform.logs.open(f"{job['id']}.{attempt}", f"{role}-{index}")

    def folder(self, job: Data, what: str = "output") -> Path:
        """A folder of the job's own files."""
        found = self.served.run(self.served.parts.platform.store.job(job["id"]))
        assert found is not None
        folder = self.served.parts.platform.files.folders(found)[what]
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @contextmanager
    def stream(
        self, path: str, cursor: str = "", method: str = "GET", json: Any = None, **params: Any
    ) -> Iterator[Iterator[Streamed]]:
        """Follow a stream of events."""
        headers = {"Last-Event-ID": cursor} if cursor else {}
        with self.http.stream(method, path, params=params, headers=headers, json=json) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield map(_read_event, parse(answer.iter_raw()))


def _read_event(event: ServerEvent) -> Streamed:
    return Streamed(event.kind, json.loads(event.data), event.id)


def check_refusal(answer: httpx.Response) -> Data:
    """Check that an answer is our one error body."""
    ErrorBody.model_validate_json(answer.content, strict=True)
    body: Data = answer.json()
    assert body["message"], body
    assert body["request_id"] == answer.headers["x-request-id"]
    return body


# How fixtures hand out callers: by the name of a new account, or of one that exists.
Hire = Callable[..., Api]
Sign = Callable[[str], Api]
