"""What the home keeps of jobs that are over: sizes by part, and which parts were removed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import sqlalchemy as sa

from footplate.domain.retention import PARTS, Sizes
from footplate.store.modeltables import model_dues
from footplate.store.tables import jobs, kept_files, results, uploads

FINAL = ("SUCCEEDED", "FAILED", "STOPPED")
_UPLOAD = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """One job that is over; `gone` names the parts that were removed."""

    job_id: str
    owner: str
    queue: str
    finished_at: float
    sizes: Sizes
    gone: tuple[str, ...] = ()


def unmeasured(connection: sa.Connection, most: int) -> dict[str, str]:
    """Jobs that are over and were not measured since, with their owners."""
    known = sa.select(kept_files.c.job_id).where(kept_files.c.job_id == jobs.c.id).exists()
    is_over = sa.and_(jobs.c.state.in_(FINAL), jobs.c.finished_at.is_not(None))
    wanted = sa.select(jobs.c.id, jobs.c.owner).where(is_over, ~known).limit(most)
    return {row.id: row.owner for row in connection.execute(wanted)}


def put(connection: sa.Connection, kept: KeptFiles) -> None:
    connection.execute(sa.delete(kept_files).where(kept_files.c.job_id == kept.job_id))
    sizes = {f"{part}_bytes": getattr(kept.sizes, part) for part in PARTS}
    values = {"owner": kept.owner, "queue": kept.queue, "finished_at": kept.finished_at, **sizes}
    row = {"job_id": kept.job_id, "gone": " ".join(kept.gone), **values}
    connection.execute(sa.insert(kept_files), row)


def of_job(connection: sa.Connection, job_id: str) -> KeptFiles | None:
    row = connection.execute(sa.select(kept_files).where(kept_files.c.job_id == job_id)).mappings().first()
    return None if row is None else _kept(row)


def expired(connection: sa.Connection, queue: str, part: str, before: float, most: int) -> list[KeptFiles]:
    """Jobs of a queue that ended before a moment and still have a part, unless somebody needs it."""
    k = kept_files.c
    due = sa.select(model_dues.c.job_id).where(model_dues.c.job_id == k.job_id).exists()
    r = results.c
    unsaved = sa.select(r.job_id).where(r.job_id == k.job_id, r.is_complete.is_(False)).exists()
    wanted = (
        sa.select(kept_files)
        .join(jobs, jobs.c.id == k.job_id)
        .where(
            k.queue == queue,
            k.finished_at < before,
            ~k.gone.contains(part),
            jobs.c.deleted_at.is_(None),
            ~due,
            ~unsaved,
        )
        .order_by(k.finished_at)
        .limit(most)
    )
    return [_kept(row) for row in connection.execute(wanted).mappings()]


def by_owner(connection: sa.Connection, owner: str = "") -> dict[str, tuple[int, Sizes]]:
    """How many jobs of each person are over, and what is kept of them."""
    k = kept_files.c
    sums = [sa.func.sum(k[f"{part}_bytes"]) for part in PARTS]
    wanted = sa.select(k.owner, sa.func.count(), *sums).group_by(k.owner)
    if owner:
        wanted = wanted.where(k.owner == owner)
    found = connection.execute(wanted)
    return {row[0]: (int(row[1]), Sizes(*(int(size or 0) for size in row[2:]))) for row in found}


def largest(connection: sa.Connection, owner: str, most: int) -> list[KeptFiles]:
    """The jobs of which most is kept, of one person or of all."""
    k = kept_files.c
    total = k.logs_bytes + k.outputs_bytes + k.work_bytes + k.code_bytes
    wanted = sa.select(kept_files).order_by(total.desc(), k.job_id).limit(most)
    if owner:
        wanted = wanted.where(k.owner == owner)
    return [_kept(row) for row in connection.execute(wanted).mappings()]


def _kept(row: sa.RowMapping) -> KeptFiles:
    sizes = Sizes(*(int(row[f"{part}_bytes"]) for part in PARTS))
    return KeptFiles(
        row["job_id"], row["owner"], row["queue"], row["finished_at"], sizes, tuple(row["gone"].split())
    )


def codes_of_jobs(connection: sa.Connection) -> set[str]:
    """The uploaded code that jobs have, by its digest; jobs whose code has expired need it no more."""
    gone = sa.select(kept_files.c.job_id).where(
        kept_files.c.job_id == jobs.c.id, kept_files.c.gone.contains("code")
    )
    wanted = sa.select(jobs.c.spec).where(jobs.c.spec.contains("sha256:"), ~gone.exists())
    return {digest for spec in connection.scalars(wanted) for digest in _UPLOAD.findall(spec)}


def uploads_since(connection: sa.Connection, at: float) -> set[str]:
    """The code that somebody has sent since a moment."""
    return set(connection.scalars(sa.select(uploads.c.digest).where(uploads.c.at >= at)))


def forget_uploads(connection: sa.Connection, digests: Iterable[str]) -> None:
    for digest in digests:
        connection.execute(sa.delete(uploads).where(uploads.c.digest == digest))
