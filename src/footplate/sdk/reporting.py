"""`footplate.log`: points of metrics from inside a job, sent in the background.

The standard library alone, and quick to import: it runs in the user's training. Nothing here raises, waits or
prints more than a warning; a training must not fail because nobody could be told of it.

Batches are numbered, and the server keeps each once. What the server does not answer for is sent again; when
it is away for long, or the training ends meanwhile, batches lie in a file, from which the next process of
the same task sends them.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

MOST_WAITING = 200_000
BATCH = 2000
EVERY_S = 1.0
TIMEOUT_S = 10.0
LONGEST_PAUSE_S = 10.0
# For how long the end of a training waits for its last points.
GOODBYE_S = 5.0
_WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
Entry = dict[str, Any]


class Reporter:
    """Collects points, and sends them to the server of the job that this process is a part of."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._url = environment.get("FOOTPLATE_URL", "")
        self._token = environment.get("FOOTPLATE_TOKEN", "")
        self._job = environment.get("FOOTPLATE_JOB_ID", "")
        self._task = environment.get("FOOTPLATE_TASK", "")
        self._attempt = environment.get("FOOTPLATE_ATTEMPT", "")
        self._folder = environment.get("FOOTPLATE_CHECKPOINT_DIR") or tempfile.gettempdir()
        self._source, self._number = secrets.token_hex(8), 0
        self._waiting: list[Entry] = []
        self._totals: dict[str, float] = {}
        self._batches: list[bytes] = []
        self._step = 0
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._thread: threading.Thread | None = None
        self._connection: HTTPConnection | None = None
        self._is_over = False
        self._told: set[str] = set()

    @property
    def is_in_job(self) -> bool:
        return bool(self._url and self._token and self._job)

    def log(
        self,
        values: Mapping[str, Any],
        step: int | None = None,
        epoch: float | None = None,
        at: float | None = None,
        group: str = "",
        total_steps: float | None = None,
        total_epochs: float | None = None,
    ) -> None:
        """Take points; they are on their way within a second or so."""
        if not self.is_in_job:
            self._warn("metrics are not kept: this is not a job of Footplate")
            return
        numbers = {
            str(name): number for name, value in values.items() if (number := _number(value)) is not None
        }
        with self._lock:
            self._step = self._step if step is None else int(step)
            entry: Entry = {"values": numbers, "at": time.time() if at is None else at, "step": self._step}
            if epoch is not None:
                entry["epoch"] = float(epoch)
            if group:
                entry["group"] = group
            self._step += 1
            for name, total in (("total_steps", total_steps), ("total_epochs", total_epochs)):
                if total is not None:
                    self._totals[name] = float(total)
            if len(self._waiting) >= MOST_WAITING:
                self._warn("points of metrics are lost: the server has been away for too long")
                del self._waiting[: MOST_WAITING // 10]
            self._waiting.append(entry)
            self._idle.clear()
            self._begin()
        if len(self._waiting) >= BATCH:
            self._wake.set()

    def flush(self, timeout_s: float = GOODBYE_S) -> bool:
        """Wait until all points have arrived; False when that takes too long."""
        self._wake.set()
        return self._idle.wait(timeout_s)

    def close(self) -> None:
        """Send what is left, or else leave it in a file for the next process of this task."""
        if self._thread is None:
            return
        self.flush()
        self._is_over = True
        self._wake.set()
        self._thread.join(TIMEOUT_S)
        with self._lock:
            self._pack()
            if self._batches:
                self._spool()

    def _begin(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            if self._thread is None:
                self._batches = self._unspool()
                atexit.register(self.close)
            self._thread = threading.Thread(target=self._run, name="footplate-metrics", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        pause_s = EVERY_S
        while not self._is_over:
            self._wake.wait(pause_s)
            self._wake.clear()
            pause_s = EVERY_S if self._send_all() else min(pause_s * 2, LONGEST_PAUSE_S)

    def _send_all(self) -> bool:
        """Send batch by batch; False when the server does not answer."""
        while True:
            with self._lock:
                if not self._batches:
                    self._pack()
                if not self._batches:
                    self._idle.set()
                    return True
                batch = self._batches[0]
            if not self._send(batch):
                return False
            with self._lock:
                self._batches.pop(0)

    def _pack(self) -> None:
        """Make a batch of what waits, with the next number."""
        while self._waiting or self._totals:
            entries, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
            self._number += 1
            body: dict[str, Any] = {"source": self._source, "seq": self._number, "points": entries}
            body.update(self._totals)
            self._totals = {}
            if self._task:
                body["task"] = self._task
            if self._attempt.isdecimal():
                body["attempt"] = int(self._attempt)
            self._batches.append(json.dumps(body).encode())
            if not self._is_over:
                return

    def _send(self, body: bytes) -> bool:
        """Send one batch; True when it need not be sent again."""
        try:
            status, answer = self._post(body)
        except (OSError, HTTPException):
            self._disconnect()
            return False
        if status >= 500 or status in (408, 425, 429):
            return False
        if status >= 400:
            self._warn(f"the server has refused points of metrics: {_reason(answer)}")
        return True

    def _post(self, body: bytes) -> tuple[int, bytes]:
        parts = urlsplit(self._url)
        if self._connection is None:
            kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
            self._connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT_S)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        path = f"{parts.path.rstrip('/')}/api/v1/jobs/{self._job}/metrics"
        self._connection.request("POST", path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # What outlives the process

    def _spool_file(self) -> Path:
        return Path(self._folder) / f".footplate-metrics-{self._job}-{self._task}"

    def _spool(self) -> None:
        try:
            with self._spool_file().open("ab") as file:
                file.writelines(batch + b"\n" for batch in self._batches)
        except OSError as error:
            self._warn(f"the last points of metrics are lost: {error}")

    def _unspool(self) -> list[bytes]:
        path = self._spool_file()
        try:
            lines = path.read_bytes().splitlines()
            path.unlink()
        except OSError:
            return []
        return [line for line in lines if line.startswith(b"{") and line.endswith(b"}")]

    def _warn(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            print(f"footplate: {text}", file=sys.stderr)  # noqa: T201


def _number(value: Any) -> float | str | None:
    """Make a number of what trainers have, such as tensors of one element; None of what is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError):
        return None
    return number if math.isfinite(number) else _WORDS[str(number)]


def _reason(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["message"])
    except (ValueError, KeyError, TypeError):
        return answer[:200].decode("utf-8", "replace")


_here = threading.Lock()
_reporters: dict[int, Reporter] = {}


def reporter() -> Reporter:
    """The reporter of this process; a process that was forked has one of its own."""
    with _here:
        if os.getpid() not in _reporters:
            _reporters.clear()
            _reporters[os.getpid()] = Reporter()
        return _reporters[os.getpid()]


def log(
    values: Mapping[str, Any],
    step: int | None = None,
    epoch: float | None = None,
    *,
    at: float | None = None,
    group: str = "",
    total_steps: float | None = None,
    total_epochs: float | None = None,
) -> None:
    """Tell metrics of the training that this process is a part of, such as `log({"loss": 0.5}, step=3)`.

    Returns at once. Without a step, each call is the next one. Names such as `train/loss` and `val/loss` are
    drawn into one chart; `group="train"` puts it before all names. The totals give the job a progress bar.
    """
    reporter().log(values, step, epoch, at, group, total_steps, total_epochs)


def flush(timeout_s: float = GOODBYE_S) -> bool:
    """Wait until all that was told has arrived; False when that takes too long."""
    return reporter().flush(timeout_s)
