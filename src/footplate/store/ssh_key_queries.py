"""Public keys by which people come in over SSH."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import sqlalchemy as sa

from footplate.store.tables import ssh_keys


@dataclass(frozen=True, slots=True)
class SshKey:
    """A public key; the id is the digest of the key itself. With a job it opens that job alone.

    One that stands in the file of its job has no id, and is not kept here.
    """

    id: str
    user: str
    name: str
    kind: str
    fingerprint: str
    created_at: float
    job_id: str = ""
    last_used_at: float | None = None

    @property
    def is_of_file(self) -> bool:
        return not self.id


def add(connection: sa.Connection, new: SshKey) -> None:
    connection.execute(sa.insert(ssh_keys), asdict(new))


def find(connection: sa.Connection, key_id: str) -> SshKey | None:
    row = connection.execute(sa.select(ssh_keys).where(ssh_keys.c.id == key_id)).mappings().first()
    return None if row is None else SshKey(**row)


def own_of(connection: sa.Connection, user: str) -> list[SshKey]:
    """Somebody's own keys, oldest first, without those that were handed out for jobs."""
    query = sa.select(ssh_keys).where(ssh_keys.c.user == user, ssh_keys.c.job_id == "")
    rows = connection.execute(query.order_by(ssh_keys.c.created_at)).mappings()
    return [SshKey(**row) for row in rows]


def touch(connection: sa.Connection, key_id: str, at: float) -> None:
    connection.execute(sa.update(ssh_keys).where(ssh_keys.c.id == key_id).values(last_used_at=at))


def remove(connection: sa.Connection, user: str, key_id: str) -> bool:
    gone = sa.delete(ssh_keys).where(ssh_keys.c.user == user, ssh_keys.c.id == key_id)
    return connection.execute(gone).rowcount > 0


def keep_newest_of_job(connection: sa.Connection, user: str, job_id: str, most: int) -> None:
    """Remove all but so many of the keys that were handed out to somebody for a job."""
    its = (ssh_keys.c.user == user, ssh_keys.c.job_id == job_id)
    newest_first = sa.select(ssh_keys.c.id).where(*its).order_by(ssh_keys.c.created_at.desc(), ssh_keys.c.id)
    old = connection.execute(newest_first.offset(most)).scalars().all()
    connection.execute(sa.delete(ssh_keys).where(ssh_keys.c.id.in_(old)))


def remove_all_of(connection: sa.Connection, user: str) -> None:
    connection.execute(sa.delete(ssh_keys).where(ssh_keys.c.user == user))
