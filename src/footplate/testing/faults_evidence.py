"""Gathers what the checker looks at: the database, the notes of tasks, and what is left on the machine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import sqlalchemy as sa

from footplate.store import tables
from footplate.store.database import open_engine, sqlite_url
from footplate.store.rows import event_from, read_said
from footplate.testing.checker import Evidence, JobRow, Line, Note, TaskRow
from footplate.testing.container_engine import ContainerEngine
from footplate.testing.process import processes_of

# Put before a command: notes the start, holds a lock while anything of the task lives, notes the end. The
# lock is one for all attempts and runs of a task, so that whoever comes too early finds it taken. That it
# could not be asked for, because that very process was killed, is no finding.
GUARD = """
note=$FOOTPLATE_CHECKPOINT_DIR/$FOOTPLATE_TASK.$FOOTPLATE_ATTEMPT.$FOOTPLATE_TASK_RUN.note
echo start >>"$note"
exec 9>"$FOOTPLATE_CHECKPOINT_DIR/$FOOTPLATE_TASK.lock"
flock -n 9 || [ $? -gt 1 ] || echo twice >>"$note"
trap 'echo end >>"$note"' EXIT
"""


def read_database(home: Path, database_url: str = "") -> Evidence:
    """Read the event log and the tables."""
    engine = open_engine(database_url or sqlite_url(home))
    try:
        with engine.connect() as connection:
            return Evidence(
                lines=[_line(row) for row in _rows(connection, tables.events, "seq")],
                jobs=[_job(row) for row in _rows(connection, tables.jobs, "id")],
                tasks=[_task(row) for row in _rows(connection, tables.tasks, "job_id")],
            )
    finally:
        engine.dispose()


def _rows(connection: sa.Connection, table: sa.Table, order: str) -> Iterator[Mapping[str, Any]]:
    for row in connection.execute(sa.select(table).order_by(table.c[order])).mappings():
        yield dict(row)


def _line(row: Mapping[str, Any]) -> Line:
    event = event_from(row)
    return Line(event.seq, event.job_id, event.kind, event.attempt, event.at, event.data)


def _job(row: Mapping[str, Any]) -> JobRow:
    return JobRow(row["id"], row["state"], row["attempt"], row["placement"] is not None, row["is_deleting"])


def _task(row: Mapping[str, Any]) -> TaskRow:
    name = f"{row['role']}-{row['task_index']}"
    detail = str(read_said(row["detail"])) if row["detail"] else ""
    return TaskRow(row["job_id"], row["attempt"], name, row["state"], row["exit_code"], detail, row["run"])


def read_notes(home: Path) -> list[Note]:
    """Read what the tasks of all jobs below a home folder noted."""
    notes = []
    for path in home.glob("jobs/*/*/checkpoints/*.note"):
        task, attempt, run, _ = path.name.rsplit(".", 3)
        words = path.read_text().split()
        notes += [Note(path.parent.parent.name, int(attempt), task, int(run), word) for word in words]
    return notes


def leftovers(home: Path, engine: ContainerEngine | None = None) -> list[str]:
    """Name what is left on the machine; a server that runs has a control group or two of its own."""
    return [
        *(f"process {pid} ({_command(pid)})" for pid in processes_of(home)),
        *(f"control group {group}" for group in groups_of(home)),
        *(f"mount {mount}" for mount in mounts_below(home)),
        *(f"container {name}" for name in _containers_of(home, engine)),
    ]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
    except OSError:
        return "gone by now"


def groups_of(home: Path) -> list[str]:
    """The control groups that servers of a home folder have made and not removed, their own included."""
    file = home / "control-groups.json"
    trees = json.loads(file.read_text()) if file.exists() else []
    places = {Path(place) for tree in trees for place in tree["folders"].values()}
    return [
        str(path) for place in places if place.is_dir() for path in (place, *place.iterdir()) if path.is_dir()
    ]


def mounts_below(folder: Path) -> list[str]:
    """The mounts below a folder, not counting one at the folder's own parents."""
    mounted = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [path for path in mounted if Path(path).is_relative_to(folder)]


def _containers_of(home: Path, engine: ContainerEngine | None) -> list[str]:
    if engine is None:
        return []
    try:
        listed = engine.containers()
    except httpx.HTTPStatusError:
        # Podman that was killed during a removal may be unable to list ever after, so that nobody can sweep;
        # it still knows single ones, and none of them may run.
        return [name for name in _names(home) if _runs(engine, name)]
    ours = [one for one in listed if (one["Labels"] or {}).get("footplate.home") == str(home)]
    return [f"{one['Names'][0]}, {one['State']}" for one in ours]


def _names(home: Path) -> Iterator[str]:
    """Every name that a container of a task below a home folder can have had."""
    for folder in home.glob("jobs/*/*/attempt-*/*"):
        attempt_id = f"{folder.parent.parent.name}.{folder.parent.name.removeprefix('attempt-')}"
        for run in range(1 + sum(1 for _ in folder.glob("run-*"))):
            yield f"footplate-{attempt_id}-{folder.name}-{run}"


def _runs(engine: ContainerEngine, name: str) -> bool:
    with engine.client() as client:
        answer = client.get(f"/containers/{name}/json")
    pid = answer.json()["State"].get("Pid") if answer.is_success else 0
    return bool(pid) and Path(f"/proc/{pid}").exists()
