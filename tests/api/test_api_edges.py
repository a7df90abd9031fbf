"""What dialects stand on: jobs as values, and callers by their signatures."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import replace

import pytest
import sqlalchemy as sa
from apiclient import Api, Hire, fresh

from footplate.domain.errors import (
    Conflict,
    Denied,
    InvalidInput,
    NotFound,
    SecretUnreadable,
    Unauthenticated,
)
from footplate.domain.spec import JobSpec, RoleSpec
from footplate.services import access_keys, jobs
from footplate.services.access import Caller
from footplate.services.platform import Platform
from footplate.store import tables
from footplate.store.access_key_queries import AccessKey
from footplate.testing.server import Served

TEXT = b"GET /jobs 2026-11-16T12:00:00Z"


@pytest.fixture
def platform(server: Served) -> Platform:
    return server.parts.platform


def caller(api: Api, **roles: str) -> Caller:
    name: str = api.ok("GET", "/me")["name"]
    return Caller(name, False, roles or {"default": "member"})


def signature(secret: str, text: bytes = TEXT) -> bytes:
    return hmac.digest(secret.encode(), text, hashlib.sha256)


def checks(given: bytes) -> Callable[[str], bool]:
    return lambda secret: hmac.compare_digest(given, signature(secret))


# Jobs as values


def test_a_job_that_a_dialect_describes_is_the_same(server: Served, platform: Platform, hire: Hire) -> None:
    ann = hire(default="member")
    spec = JobSpec(fresh("value"), (RoleSpec("wait", "worker", 2),))
    made = server.run(jobs.submit_spec(platform, caller(ann), spec, "once"))
    assert made.is_new
    assert ann.job(made.job.id)["name"] == spec.name
    assert made.job.spec == spec
    again = server.run(jobs.submit_spec(platform, caller(ann), spec, "once"))
    assert (again.job.id, again.is_new) == (made.job.id, False)
    document = {"name": spec.name, "roles": [{"name": "worker", "command": "wait", "count": 2}]}
    same = server.run(jobs.submit(platform, caller(ann), document, "once"))
    assert same.job.id == made.job.id


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        (JobSpec("bad name", (RoleSpec("wait"),)), "name"),
        (JobSpec("x", (RoleSpec("wait", count=0),)), "roles[0].count"),
        (JobSpec("x", ()), "roles"),
        (JobSpec("x", (RoleSpec("wait"),), priority=10**9), "priority"),
    ],
)
def test_a_value_is_held_to_the_bounds_of_a_document(
    server: Served, platform: Platform, hire: Hire, spec: JobSpec, path: str
) -> None:
    ann = hire(default="member")
    with pytest.raises(InvalidInput) as refused:
        server.run(jobs.submit_spec(platform, caller(ann), spec))
    assert [problem.path for problem in refused.value.problems] == [path]


def test_a_value_is_held_to_the_rights_of_its_caller(server: Served, platform: Platform, hire: Hire) -> None:
    viewer = caller(hire(default="viewer"), default="viewer")
    with pytest.raises(Denied):
        server.run(jobs.submit_spec(platform, viewer, JobSpec(fresh("value"), (RoleSpec("wait"),))))


# Access keys


def made(server: Served, platform: Platform, who: Caller) -> tuple[AccessKey, str]:
    return server.run(access_keys.create(platform, who, "laptop"))


def test_a_request_that_is_signed_with_a_key_comes_from_its_owner(
    server: Served, platform: Platform, hire: Hire
) -> None:
    ann = caller(hire(default="member"))
    key, secret = made(server, platform, ann)
    found = server.run(access_keys.identify(platform, key.id, checks(signature(secret))))
    assert (found.name, found.is_admin, dict(found.roles)) == (ann.name, False, {"default": "member"})
    assert found.job_id is None
    (listed,) = server.run(access_keys.all_of(platform, ann))
    assert listed.last_used_at == server.clock.now()


def test_what_another_secret_has_signed_is_refused_as_what_no_key_has(
    server: Served, platform: Platform, hire: Hire
) -> None:
    ann = caller(hire(default="member"))
    key, secret = made(server, platform, ann)
    other_key, other_secret = made(server, platform, ann)
    wrong = [
        (key.id, signature(other_secret)),
        (other_key.id, signature(secret)),
        (key.id, signature(secret, b"another text")),
        (key.id, b""),
        ("FPAKNOBODYHASTHIS", signature(secret)),
        ("", signature("")),
    ]
    told = set()
    for key_id, given in wrong:
        with pytest.raises(Unauthenticated) as refused:
            server.run(access_keys.identify(platform, key_id, checks(given)))
        told.add(refused.value.message)
    assert len(told) == 1


def test_the_secret_of_a_key_is_sealed_and_told_once(server: Served, platform: Platform, hire: Hire) -> None:
    ann = caller(hire(default="member"))
    key, secret = made(server, platform, ann)
    row = server.run(
        platform.store.read(
            lambda connection: connection.execute(
                sa.select(tables.access_keys).where(tables.access_keys.c.id == key.id)
            ).one()
        )
    )
    assert secret not in repr(tuple(row))
    assert secret.encode() not in bytes(row.sealed)
    assert secret not in repr(key)


def test_a_sealed_secret_opens_for_no_other_key(server: Served, platform: Platform, hire: Hire) -> None:
    ann, bob = caller(hire(default="member")), caller(hire(default="member"))
    key, secret = made(server, platform, ann)
    other, _ = made(server, platform, bob)
    table = tables.access_keys
    swap = sa.update(table).where(table.c.id == other.id).values(sealed=key.sealed)
    server.run(platform.store.write(lambda tx: tx.connection.execute(swap).rowcount))
    with pytest.raises(SecretUnreadable):
        server.run(access_keys.identify(platform, other.id, checks(signature(secret))))


def test_a_key_that_was_deleted_signs_no_more_and_only_its_owner_deletes_it(
    server: Served, platform: Platform, hire: Hire
) -> None:
    ann, bob = caller(hire(default="member")), caller(hire(default="member"))
    key, secret = made(server, platform, ann)
    with pytest.raises(NotFound):
        server.run(access_keys.remove(platform, bob, key.id))
    server.run(access_keys.remove(platform, ann, key.id))
    with pytest.raises(Unauthenticated):
        server.run(access_keys.identify(platform, key.id, checks(signature(secret))))
    assert server.run(access_keys.all_of(platform, ann)) == []


@pytest.mark.parametrize("change", [{"is_enabled": False}, {"password": "another-password"}, None])
def test_keys_end_with_the_account_and_with_its_password(
    server: Served, platform: Platform, hire: Hire, admin: Api, change: dict[str, object] | None
) -> None:
    ann = caller(hire(default="member"))
    key, secret = made(server, platform, ann)
    if change is None:
        admin.ok("DELETE", f"/users/{ann.name}", status=204)
    else:
        admin.ok("PATCH", f"/users/{ann.name}", json=change)
    with pytest.raises(Unauthenticated):
        server.run(access_keys.identify(platform, key.id, checks(signature(secret))))


def test_a_job_makes_no_keys_and_a_person_not_without_end(
    server: Served, platform: Platform, hire: Hire, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = caller(hire(default="member"))
    with pytest.raises(Denied):
        server.run(access_keys.create(platform, replace(ann, job_id="j"), "x"))
    monkeypatch.setattr(access_keys, "MOST_OF_A_PERSON", 1)
    made(server, platform, ann)
    with pytest.raises(Conflict, match="delete some"):
        made(server, platform, ann)
