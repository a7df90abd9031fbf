"""Runs and experiments of MLflow's clients: lines appended to small files, read once into memory.

Runs lie with the job that made them, and go with it. An experiment is a name, and the jobs with runs in it.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from footplate.home.layout import experiments_file, metrics_folder
from footplate.machine.taskfiles import unfollowed

DEFAULT = "0"
MOST_HELD = 1000


@dataclass(frozen=True, slots=True)
class Experiment:
    id: str
    name: str
    created_at: float
    jobs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """A run that a task of a job has begun; its metrics have the prefix before their names."""

    id: str
    job_id: str
    attempt: int
    task: str
    experiment: str
    name: str
    prefix: str
    started_at: float
    ended_at: float | None = None
    status: str = "RUNNING"
    is_deleted: bool = False
    params: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)


class TrackedRuns:
    """Keeps runs and experiments; safe to call from several threads."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.RLock()
        self._runs: OrderedDict[str, dict[str, TrackedRun]] = OrderedDict()
        self._experiments: dict[str, Experiment] | None = None

    # Experiments

    def experiments(self) -> dict[str, Experiment]:
        with self._lock:
            if self._experiments is None:
                found = {DEFAULT: Experiment(DEFAULT, "Default", 0.0)}
                for line in _lines(self._experiment_file()):
                    known = found.get(line["id"])
                    if "job" in line and known is not None:
                        if line["job"] not in known.jobs:
                            found[known.id] = replace(known, jobs=(*known.jobs, line["job"]))
                    elif "name" in line:
                        found[line["id"]] = Experiment(line["id"], line["name"], line["at"])
                self._experiments = found
            return dict(self._experiments)

    def add_experiment(self, name: str, now: float) -> Experiment | None:
        """Make an experiment; None when there is one of that name."""
        with self._lock:
            known = self.experiments()
            if any(one.name == name for one in known.values()):
                return None
            made = Experiment(str(max(map(int, known)) + 1), name, now)
            self._list({"id": made.id, "name": name, "at": now})
            assert self._experiments is not None
            self._experiments[made.id] = made
            return made

    # Runs

    def of_job(self, job_id: str) -> dict[str, TrackedRun]:
        """The runs of a job, by their ids, oldest first."""
        with self._lock:
            runs = self._runs.get(job_id)
            if runs is None:
                runs = {}
                for line in _lines(self._run_file(job_id)):
                    _apply(runs, line)
                self._runs[job_id] = runs
            self._runs.move_to_end(job_id)
            while len(self._runs) > MOST_HELD:
                self._runs.popitem(last=False)
            return dict(runs)

    def add(self, job_id: str, attempt: int, task: str, experiment: str, name: str, at: float) -> TrackedRun:
        with self._lock:
            known = self.of_job(job_id)
            number = len(known) + 1
            is_first = not any(run.attempt == attempt and run.task == task for run in known.values())
            name = name or f"run-{number}"
            prefix = "" if is_first else f"{name}/"
            run = TrackedRun(f"{job_id}-{number}", job_id, attempt, task, experiment, name, prefix, at)
            self._note(job_id, {"run": run.id, "made": [attempt, task, experiment, name, run.prefix, at]})
            found = self.experiments()[experiment]
            if job_id not in found.jobs:
                self._list({"id": experiment, "job": job_id})
                assert self._experiments is not None
                self._experiments[experiment] = replace(found, jobs=(*found.jobs, job_id))
            return run

    def change(self, run: TrackedRun, **changes: Any) -> TrackedRun:
        """Change a run; params and tags are merged, and a tag that is None goes."""
        with self._lock:
            self._note(run.job_id, {"run": run.id, **changes})
            return self._runs[run.job_id][run.id]

    def forget(self, job_id: str) -> None:
        with self._lock:
            self._runs.pop(job_id, None)

    def _note(self, job_id: str, line: dict[str, Any]) -> None:
        self.of_job(job_id)
        _append(self._run_file(job_id), line)
        _apply(self._runs[job_id], line)

    def _run_file(self, job_id: str) -> Path:
        return metrics_folder(self._home, job_id) / "runs"

    def _experiment_file(self) -> Path:
        return experiments_file(self._home)

    def _list(self, line: dict[str, Any]) -> None:
        # Beside folders that are closed, it is closed itself.
        self._experiment_file().touch(mode=0o600)
        _append(self._experiment_file(), line)


def _apply(runs: dict[str, TrackedRun], line: dict[str, Any]) -> None:
    run_id = line["run"]
    if "made" in line:
        attempt, task, experiment, name, prefix, at = line["made"]
        job_id = run_id.rpartition("-")[0]
        runs[run_id] = TrackedRun(run_id, job_id, attempt, task, experiment, name, prefix, at)
        return
    run = runs.get(run_id)
    if run is None:
        return
    plain = {name: line[name] for name in ("status", "ended_at", "name", "is_deleted") if name in line}
    params = {**run.params, **line.get("params", {})}
    tags = {**run.tags, **line.get("tags", {})}
    kept = {name: value for name, value in tags.items() if value is not None}
    runs[run_id] = replace(run, params=params, tags=kept, **plain)


def _lines(path: Path) -> list[dict[str, Any]]:
    """Read whole lines; one that a crash has cut off is left out."""
    try:
        with open(path, "rb", opener=unfollowed) as file:
            data = file.read()
    except OSError:
        return []
    found = []
    for line in data[: data.rfind(b"\n") + 1].splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def _append(path: Path, line: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab", opener=unfollowed) as file:
        # A line that was cut off ends here, and is passed over.
        begun = b"\n" if file.tell() else b""
        file.write(begun + json.dumps(line).encode() + b"\n")
