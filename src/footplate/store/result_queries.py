"""Where the results of jobs are kept, and what is still to be saved."""

from __future__ import annotations

import json

import sqlalchemy as sa

from footplate.domain.messages import as_json, from_json
from footplate.domain.results import ResultState, SavedResults
from footplate.domain.states import FINAL_STATES
from footplate.store import statements
from footplate.store.tables import jobs, results

_PUT = statements.upsert(results)


def put(connection: sa.Connection, job_id: str, saved: SavedResults) -> None:
    row = {
        "job_id": job_id,
        "storage": saved.storage,
        "path": saved.path,
        "state": saved.state.value,
        "saved_at": saved.saved_at,
        "is_complete": saved.is_complete,
        "n_files": saved.n_files,
        "size_bytes": saved.size_bytes,
        "n_left_out": saved.n_left_out,
        "n_tries": saved.n_tries,
        "error": "" if saved.error is None else json.dumps(as_json(saved.error)),
    }
    _PUT.run(connection, [row])


def find(connection: sa.Connection, job_id: str) -> SavedResults | None:
    row = connection.execute(sa.select(results).where(results.c.job_id == job_id)).mappings().first()
    if row is None:
        return None
    values = {name: value for name, value in row.items() if name not in ("job_id", "state", "error")}
    error = from_json(json.loads(row["error"])) if row["error"] else None
    return SavedResults(**values, state=ResultState(row["state"]), error=error)


def to_save(connection: sa.Connection) -> list[str]:
    """Name the jobs that are over and whose results are not all saved."""
    is_over = jobs.c.state.in_([state.value for state in FINAL_STATES])
    is_behind = results.c.is_complete.is_(False)
    wanted = (
        sa.select(jobs.c.id)
        .join(results, results.c.job_id == jobs.c.id)
        .where(is_over, is_behind, jobs.c.is_deleting.is_(False))
    )
    return list(connection.scalars(wanted))


def latest_in(connection: sa.Connection, owner: str, storage: str, folder: str) -> str | None:
    """Where the newest of somebody's jobs that keep their results in a folder has kept some."""
    wanted = (
        sa.select(results.c.path)
        .join(jobs, results.c.job_id == jobs.c.id)
        .where(jobs.c.owner == owner, results.c.storage == storage, results.c.n_files > 0)
        .where(results.c.path == sa.literal(f"{folder}/") + results.c.job_id)
        .order_by(results.c.job_id.desc())
        .limit(1)
    )
    return connection.scalar(wanted)
