"""Models and their versions, stored."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass

import sqlalchemy as sa

from footplate.domain.model import About, InferenceEnvironment, Model, ModelFile, Origin, Version
from footplate.store.modeltables import (
    inference_environments,
    model_dues,
    model_files,
    model_uploads,
    model_versions,
    models,
)
from footplate.store.rows import dumps
from footplate.store.tables import jobs


@dataclass(frozen=True, slots=True)
class ModelFilter:
    """Which models are wanted, and what the caller may see: of `queues` all, None being everywhere."""

    reader: str
    queues: Collection[str] | None = None
    search: str = ""
    owner: str = ""
    tag: str = ""
    job_id: str = ""
    trash: bool = False

    def condition(self) -> sa.ColumnElement[bool]:
        m = models.c
        parts: list[sa.ColumnElement[bool]] = [
            m.deleted_at.is_not(None) if self.trash else m.deleted_at.is_(None)
        ]
        if self.queues is not None:
            shared = sa.false() if self.trash else m.is_shared
            parts.append(sa.or_(m.owner == self.reader, m.queue.in_(self.queues), shared))
        if self.search:
            word = self.search.lower()
            parts.append(sa.or_(_has(m.name, word), _has(m.description, word), _has(m.tags, word)))
        if self.owner:
            parts.append(m.owner == self.owner)
        if self.tag:
            parts.append(m.tags.contains(dumps(self.tag), autoescape=True))
        if self.job_id:
            v = model_versions.c
            of_job = sa.select(v.model_id).where(v.job_id == self.job_id, v.deleted_at.is_(None))
            parts.append(m.id.in_(of_job))
        return sa.and_(*parts)


def _has(column: sa.ColumnElement[str], word: str) -> sa.ColumnElement[bool]:
    return sa.func.lower(column).contains(word, autoescape=True)


def page(
    connection: sa.Connection, wanted: ModelFilter, after: tuple[float, str] | None, limit: int
) -> list[Model]:
    """One page of models, the last that changed first."""
    m = models.c
    query = sa.select(models).where(wanted.condition())
    if after is not None:
        query = query.where(
            sa.or_(m.updated_at < after[0], sa.and_(m.updated_at == after[0], m.id > after[1]))
        )
    query = query.order_by(m.updated_at.desc(), m.id).limit(limit)
    return [_model(row) for row in connection.execute(query).mappings()]


def by_id(connection: sa.Connection, model_id: str) -> Model | None:
    row = connection.execute(sa.select(models).where(models.c.id == model_id)).mappings().first()
    return None if row is None else _model(row)


def named(connection: sa.Connection, name: str, owner: str = "") -> list[Model]:
    """Models of a name that are not in the trash: somebody's, or everybody's."""
    query = sa.select(models).where(models.c.name == name, models.c.deleted_at.is_(None))
    if owner:
        query = query.where(models.c.owner == owner)
    return [_model(row) for row in connection.execute(query.order_by(models.c.id)).mappings()]


def put(connection: sa.Connection, model: Model) -> None:
    """Store a model in place of the one of its id."""
    connection.execute(sa.delete(models).where(models.c.id == model.id))
    row = {**asdict(model), "tags": dumps(model.tags), "aliases": dumps(dict(model.aliases))}
    connection.execute(sa.insert(models), row)


def _model(row: sa.RowMapping) -> Model:
    return Model(
        **{
            **row,
            "is_shared": bool(row["is_shared"]),
            "tags": tuple(json.loads(row["tags"])),
            "aliases": json.loads(row["aliases"]),
        }
    )


# Versions


def add_version(connection: sa.Connection, version: Version) -> None:
    """Store a new version with its files."""
    row = {
        "model_id": version.model_id,
        "number": version.number,
        "about": dumps(asdict(version.about)),
        "origin": dumps(asdict(version.origin)),
        "job_id": version.origin.job_id,
        "created_by": version.created_by,
        "created_at": version.created_at,
        "n_files": version.n_files,
        "size_bytes": version.size_bytes,
        "deleted_at": version.deleted_at,
    }
    connection.execute(sa.insert(model_versions), row)
    key = {"model_id": version.model_id, "number": version.number}
    if version.files:
        connection.execute(sa.insert(model_files), [{**key, **asdict(one)} for one in version.files])


def versions_of(connection: sa.Connection, model_id: str, trash: bool = False) -> list[Version]:
    """The versions of a model without their files, the highest first; with `trash` also those in it."""
    v = model_versions.c
    query = sa.select(model_versions).where(v.model_id == model_id).order_by(v.number.desc())
    if not trash:
        query = query.where(v.deleted_at.is_(None))
    return [_version(row) for row in connection.execute(query).mappings()]


def latest_of(connection: sa.Connection, ids: Collection[str]) -> dict[str, tuple[Version, int, int]]:
    """Of each model its highest version, and how many versions and bytes all have, by its id."""
    v = model_versions.c
    alive = sa.and_(v.model_id.in_(ids), v.deleted_at.is_(None))
    sums = sa.select(
        v.model_id,
        sa.func.max(v.number).label("number"),
        sa.func.count().label("n"),
        sa.func.sum(v.size_bytes).label("total"),
    )
    grouped = sums.where(alive).group_by(v.model_id).subquery()
    query = sa.select(model_versions, grouped.c.n, grouped.c.total).join(
        grouped, sa.and_(v.model_id == grouped.c.model_id, v.number == grouped.c.number)
    )
    found = connection.execute(query).mappings()
    return {row["model_id"]: (_version(row), int(row["n"]), int(row["total"] or 0)) for row in found}


def version(connection: sa.Connection, model_id: str, number: int) -> Version | None:
    """One version with its files, also from the trash."""
    which = sa.and_(model_versions.c.model_id == model_id, model_versions.c.number == number)
    row = connection.execute(sa.select(model_versions).where(which)).mappings().first()
    return None if row is None else _version(row, files_of(connection, model_id, number))


def files_of(connection: sa.Connection, model_id: str, number: int) -> tuple[ModelFile, ...]:
    f = model_files.c
    query = sa.select(f.path, f.sha256, f.size_bytes).where(f.model_id == model_id, f.number == number)
    return tuple(ModelFile(*row) for row in connection.execute(query.order_by(f.path)))


def _version(row: sa.RowMapping, files: tuple[ModelFile, ...] = ()) -> Version:
    about, origin = json.loads(row["about"]), json.loads(row["origin"])
    return Version(
        row["model_id"],
        row["number"],
        About(**{**about, "tags": tuple(about["tags"])}),
        Origin(**{**origin, "data": tuple(origin["data"])}),
        row["created_by"],
        row["created_at"],
        files,
        row["n_files"],
        row["size_bytes"],
        row["deleted_at"],
    )


def change_version(connection: sa.Connection, changed: Version) -> None:
    """Store what may change of a version: what people say of it, and whether it is in the trash."""
    v = model_versions.c
    which = sa.and_(v.model_id == changed.model_id, v.number == changed.number)
    values = {"about": dumps(asdict(changed.about)), "deleted_at": changed.deleted_at}
    connection.execute(sa.update(model_versions).where(which).values(**values))


def remove_model(connection: sa.Connection, model_id: str) -> None:
    """Forget a model for good; the contents that nobody else has go with the next sweep."""
    for table in (model_files, model_versions):
        connection.execute(sa.delete(table).where(table.c.model_id == model_id))
    connection.execute(sa.delete(models).where(models.c.id == model_id))


def remove_version(connection: sa.Connection, model_id: str, number: int) -> None:
    for table in (model_files, model_versions):
        which = sa.and_(table.c.model_id == model_id, table.c.number == number)
        connection.execute(sa.delete(table).where(which))


def in_trash_since(connection: sa.Connection, before: float) -> tuple[list[str], list[tuple[str, int]]]:
    """Models, and single versions, that went into the trash before a moment."""
    v = model_versions.c
    whole = connection.scalars(sa.select(models.c.id).where(models.c.deleted_at < before)).all()
    single = connection.execute(sa.select(v.model_id, v.number).where(v.deleted_at < before)).all()
    return list(whole), [(row[0], row[1]) for row in single]


# Contents


def note_upload(connection: sa.Connection, sha256: str, user: str, at: float) -> None:
    which = sa.and_(model_uploads.c.sha256 == sha256, model_uploads.c.user == user)
    connection.execute(sa.delete(model_uploads).where(which))
    connection.execute(sa.insert(model_uploads).values(sha256=sha256, user=user, at=at))


def has_upload(connection: sa.Connection, sha256: str, user: str) -> bool:
    """Tell whether somebody has sent a content, or it is in a model of theirs."""
    u, f = model_uploads.c, model_files.c
    sent = sa.select(u.at).where(u.sha256 == sha256, u.user == user)
    own = sa.select(f.path).join(models, models.c.id == f.model_id)
    own = own.where(f.sha256 == sha256, models.c.owner == user)
    return any(connection.execute(query.limit(1)).first() is not None for query in (sent, own))


def forget_uploads_before(connection: sa.Connection, before: float) -> int:
    return connection.execute(sa.delete(model_uploads).where(model_uploads.c.at < before)).rowcount


def contents_in_use(connection: sa.Connection) -> set[str]:
    """Every content that a version has, or that somebody has sent to register it."""
    return {
        *connection.scalars(sa.select(model_files.c.sha256).distinct()),
        *connection.scalars(sa.select(model_uploads.c.sha256)),
    }


def sizes_by_owner(connection: sa.Connection) -> dict[str, int]:
    """How much the versions of each person's models hold, those in the trash included."""
    total = sa.func.sum(model_versions.c.size_bytes)
    query = sa.select(models.c.owner, total).join(models, models.c.id == model_versions.c.model_id)
    return {owner: int(size or 0) for owner, size in connection.execute(query.group_by(models.c.owner))}


def codes_in_use(connection: sa.Connection) -> set[str]:
    """The code that versions link to, by its digest."""
    found = (
        json.loads(origin).get("code", "")
        for origin in connection.scalars(sa.select(model_versions.c.origin))
    )
    return {code for code in found if code}


# Jobs whose model is due


def expect(connection: sa.Connection, job_id: str) -> None:
    connection.execute(sa.insert(model_dues).values(job_id=job_id))


def settle(connection: sa.Connection, job_id: str) -> bool:
    return connection.execute(sa.delete(model_dues).where(model_dues.c.job_id == job_id)).rowcount > 0


def due(connection: sa.Connection) -> list[tuple[str, str | None]]:
    """The jobs whose model is due, with their states; None for one that is gone."""
    query = sa.select(model_dues.c.job_id, jobs.c.state).join(
        jobs, jobs.c.id == model_dues.c.job_id, isouter=True
    )
    return [(row[0], row[1]) for row in connection.execute(query.order_by(model_dues.c.job_id))]


# Inference environments


def environments(connection: sa.Connection) -> list[InferenceEnvironment]:
    """The catalogue, as it is listed."""
    e = inference_environments.c
    query = sa.select(inference_environments).order_by(e.position, e.name)
    return [InferenceEnvironment(**row) for row in connection.execute(query).mappings()]


def put_environment(connection: sa.Connection, one: InferenceEnvironment) -> None:
    remove_environment(connection, one.name)
    connection.execute(sa.insert(inference_environments), asdict(one))


def remove_environment(connection: sa.Connection, name: str) -> bool:
    which = inference_environments.c.name == name
    return connection.execute(sa.delete(inference_environments).where(which)).rowcount > 0
