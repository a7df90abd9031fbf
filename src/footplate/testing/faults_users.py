"""People who use a server that keeps dying: they ask again until an answer comes, and expect it to stand."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
from collections.abc import Callable
from typing import Any

import httpx

from footplate.testing.process import await_that

PATIENCE_S = 180
ASK_EVERY_S = 0.1
OVER = ("SUCCEEDED", "FAILED", "STOPPED")
# A server that cannot work now says so; everything else below 500 is an answer.
TRY_LATER = 503
# The answer to an image while the container engine is down.
NO_ENGINE = "cannot run images"

Shown = dict[str, Any]


class Users:
    """Several threads may act at once."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._given_up = threading.Event()
        self.answered: set[str] = set()
        self.removed: set[str] = set()

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request until it is answered."""

        def tried() -> httpx.Response | None:
            try:
                answer = self._client.request(method, path, **options)
            except httpx.TransportError:
                return None
            is_refused = answer.status_code == 422 and NO_ENGINE in answer.text
            if answer.status_code == TRY_LATER or is_refused:
                return None
            assert answer.status_code < 500, f"{method} {path}: {answer.text}"
            return answer

        answer: httpx.Response = self.until(tried, f"{method} {path} is answered")
        return answer

    def until(self, find: Callable[[], Any], what: str) -> Any:
        def looked() -> Any:
            assert not self._given_up.is_set(), f"given up while waiting: {what}"
            return find()

        return await_that(looked, PATIENCE_S, what, every_s=ASK_EVERY_S)

    def give_up(self) -> None:
        """Have nobody wait any longer: the server will not come back."""
        self._given_up.set()

    def submit(self, document: Shown, key: str) -> str:
        """Submit a job, and once more with the same key, which must make no second one."""
        ids = set()
        for _ in range(2):
            answer = self.ask("POST", "/jobs", json=document, headers={"Idempotency-Key": key})
            assert answer.status_code in (200, 201), answer.text
            ids.add(str(answer.json()["id"]))
        assert len(ids) == 1, f"a repeated submit made another job: {ids}"
        with self._lock:
            self.answered |= ids
        return ids.pop()

    def upload(self, files: dict[str, str]) -> str:
        """Send code and say its digest."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as archive:
            for name, text in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(text.encode())
                archive.addfile(entry, io.BytesIO(text.encode()))
        content = out.getvalue()
        answer = self.ask("POST", "/code", content=content)
        assert answer.is_success, answer.text
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert answer.json()["upload"] == digest, answer.text
        return digest

    def show(self, job_id: str) -> Shown:
        answer = self.ask("GET", f"/jobs/{job_id}")
        assert answer.status_code == 200, f"an answered submit was lost: {job_id} {answer.text}"
        shown: Shown = answer.json()
        return shown

    def await_running(self, job_id: str, attempt: int = 0) -> Shown:
        """Wait until a job runs, in this attempt or a later one, or is over."""

        def find() -> Shown | None:
            shown = self.show(job_id)
            runs = shown["state"] == "RUNNING" and shown["attempt"] >= attempt
            return shown if runs or shown["state"] in OVER else None

        shown: Shown = self.until(find, f"{job_id} runs")
        return shown

    def await_second_run(self, job_id: str) -> Shown:
        """Wait until a job's first task was started again by itself and runs."""

        def find() -> Shown | None:
            shown = self.show(job_id)
            task = shown["tasks"][0]
            runs_again = task["run"] >= 1 and task["state"] == "RUNNING"
            return shown if runs_again or shown["state"] in OVER else None

        shown: Shown = self.until(find, f"{job_id} runs a second time")
        return shown

    def await_kept(self, job_id: str) -> Shown:
        def find() -> Shown | None:
            shown = self.show(job_id)
            return shown if shown["reason"]["code"] == "kept" or shown["state"] in OVER else None

        shown: Shown = self.until(find, f"{job_id} is kept")
        return shown

    def await_end(self, job_id: str) -> Shown:
        def find() -> Shown | None:
            shown = self.show(job_id)
            return shown if shown["state"] in OVER else None

        shown: Shown = self.until(find, f"{job_id} ends")
        return shown

    def tell(self, job_id: str, verb: str) -> None:
        """Ask for something that may have happened already."""
        answer = self.ask("POST", f"/jobs/{job_id}/{verb}")
        assert answer.status_code in (200, 409), answer.text

    def put_into_trash(self, job_id: str) -> None:
        answer = self.ask("DELETE", f"/jobs/{job_id}")
        assert answer.status_code in (202, 204, 409), answer.text

    def remove(self, job_id: str) -> None:
        """Delete a job for good and wait until it is gone."""
        with self._lock:
            self.removed.add(job_id)
        answer = self.ask("DELETE", f"/jobs/{job_id}", params={"for_good": "true"})
        assert answer.status_code in (202, 204, 404), answer.text
        self.until(lambda: self.ask("GET", f"/jobs/{job_id}").status_code == 404, f"{job_id} is gone")

    def attempts(self, job_id: str) -> list[Shown]:
        shown: list[Shown] = self.ask("GET", f"/jobs/{job_id}/attempts").json()["items"]
        return shown

    def log(self, job_id: str) -> str:
        return self.ask("GET", f"/jobs/{job_id}/logs/download").text
