"""Invitations: good once, for a while, for what an admin said; and the client that the server gives away."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable

import pytest
import sqlalchemy as sa
from apiclient import PASSWORD, Api, Data, Hire, Sign, fresh

from footplate.services.access import Caller
from footplate.services.audit import page
from footplate.store.audit_queries import AuditFilter
from footplate.store.tables import invites
from footplate.testing.fake_clock import FakeClock
from footplate.testing.server import Served
from footplate.wire import invites as w
from footplate.wire.accounts import IssuedToken, Me

Invite = Callable[..., tuple[str, str]]


@pytest.fixture
def invited(admin: Api) -> Invite:
    """Invite a new name; return it with its code."""

    def make(by: Api | None = None, **fields: object) -> tuple[str, str]:
        user = fresh("guest")
        made = (by or admin).ok("POST", "/invites", w.MadeInvite, 201, json={"user": user, **fields})
        return user, made["link"].partition("#")[2]

    return make


def accept(api: Api, code: str, password: str = PASSWORD, status: int = 201) -> Data:
    return api.ok(
        "POST",
        "/invites/accept",
        IssuedToken,
        status,
        json={"code": code, "password": password},
    )


def test_whoever_follows_the_link_chooses_a_password_and_is_signed_in(
    server: Served, nobody: Api, sign: Sign, invited: Invite
) -> None:
    user, code = invited()
    assert nobody.ok("POST", "/invites/lookup", w.InviteBody, json={"code": code})["user"] == user
    issued = accept(nobody, code, "a password of my own")
    me = sign(issued["token"]).ok("GET", "/me", Me)
    assert me["name"] == issued["user"] == user
    assert me["queues"] == [{"name": "default", "role": "member"}]
    assert not me["is_admin"]
    assert server.sign_in(user, "a password of my own")


def test_an_invitation_is_good_once(nobody: Api, invited: Invite) -> None:
    _, code = invited()
    accept(nobody, code)
    for path, more in (("/invites/lookup", {}), ("/invites/accept", {"password": PASSWORD})):
        nobody.refused(
            "POST", path, 404, says="was used, has expired or does not exist", json={"code": code, **more}
        )


def test_an_invitation_ends_with_its_time(nobody: Api, invited: Invite, clock: FakeClock) -> None:
    _, code = invited(expires_in_s=60)
    clock.advance(59)
    nobody.ok("POST", "/invites/lookup", json={"code": code})
    clock.advance(2)
    nobody.refused("POST", "/invites/accept", 404, json={"code": code, "password": PASSWORD})


def test_a_new_invitation_of_a_name_makes_the_earlier_one_void(
    admin: Api, nobody: Api, invited: Invite
) -> None:
    user, first = invited()
    second = admin.ok("POST", "/invites", w.MadeInvite, 201, json={"user": user})["link"].partition("#")[2]
    nobody.refused("POST", "/invites/lookup", 404, json={"code": first})
    nobody.ok("POST", "/invites/lookup", json={"code": second})


def test_an_invitation_can_be_listed_and_taken_back(admin: Api, nobody: Api, invited: Invite) -> None:
    user, code = invited()
    listed = admin.ok("GET", "/invites", w.Invites)["items"]
    assert user in [one["user"] for one in listed]
    assert code not in str(listed)
    admin.ok("DELETE", f"/invites/{user}", status=204)
    nobody.refused("POST", "/invites/lookup", 404, json={"code": code})
    admin.refused("DELETE", f"/invites/{user}", 404, says=f"there is no invitation for {user}")


def test_only_the_digest_of_a_code_is_stored(server: Served, invited: Invite) -> None:
    user, code = invited()

    def query(connection: sa.Connection) -> Data:
        row = connection.execute(sa.select(invites).where(invites.c.user == user)).mappings().one()
        return dict(row)

    stored = server.run(server.parts.platform.store.read(query))
    assert stored["digest"] == hashlib.sha256(code.encode()).hexdigest()
    assert code not in str(stored)


def test_roles_and_rank_are_those_that_the_admin_said(
    admin: Api, nobody: Api, sign: Sign, invited: Invite
) -> None:
    queue = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    _, code = invited(queues={queue: "viewer"}, is_admin=False)
    me = sign(accept(nobody, code)["token"]).ok("GET", "/me", Me)
    assert me["queues"] == [{"name": queue, "role": "viewer"}]
    _, code = invited(is_admin=True)
    assert sign(accept(nobody, code)["token"]).ok("GET", "/me", Me)["is_admin"]
    admin.refused(
        "POST", "/invites", 422, "queues.nowhere", json={"user": fresh("u"), "queues": {"nowhere": "member"}}
    )


def test_a_queue_that_is_gone_by_then_is_passed_over(admin: Api, nobody: Api, invited: Invite) -> None:
    queue = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    _, code = invited(queues={queue: "member"})
    admin.ok("DELETE", f"/queues/{queue}", status=204)
    accept(nobody, code)


@pytest.mark.parametrize("change", [{"is_admin": False}, {"is_enabled": False}])
def test_an_invitation_by_somebody_who_is_no_admin_any_more_is_worth_nothing(
    admin: Api, nobody: Api, hire: Hire, invited: Invite, change: Data
) -> None:
    boss = hire(is_admin=True)
    _, code = invited(by=boss)
    admin.ok("PATCH", f"/users/{boss.name}", json=change)
    nobody.refused("POST", "/invites/accept", 404, json={"code": code, "password": PASSWORD})


def test_a_name_that_is_taken_is_not_invited_nor_taken_over(
    admin: Api, nobody: Api, ann: Api, invited: Invite
) -> None:
    admin.refused("POST", "/invites", 409, says=f"footplate users edit {ann.name}", json={"user": ann.name})
    user, code = invited()
    admin.ok("POST", "/users", status=201, json={"name": user, "password": PASSWORD})
    nobody.refused("POST", "/invites/accept", 409, json={"code": code, "password": "another password"})


def test_only_admins_invite(ann: Api, admin: Api, invited: Invite) -> None:
    user, _ = invited()
    ann.refused("POST", "/invites", 403, json={"user": fresh("guest")})
    ann.refused("GET", "/invites", 403)
    ann.refused("DELETE", f"/invites/{user}", 403)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"password": PASSWORD}, "code"),
        ({"code": "fpi_x", "password": "short"}, "password"),
        ({"code": "", "password": PASSWORD}, "code"),
        ({"code": "x" * 300, "password": PASSWORD}, "code"),
        ({"code": "fpi_\x00", "password": PASSWORD}, "code"),
    ],
)
def test_bad_answers_are_refused_by_field(nobody: Api, body: Data, field: str) -> None:
    nobody.refused("POST", "/invites/accept", 422, field, json=body)


@pytest.mark.parametrize("code", ["fpi_unknown", "fpi_" + "A" * 43, "☃"])
def test_a_made_up_code_is_worth_nothing(nobody: Api, code: str) -> None:
    nobody.refused("POST", "/invites/accept", 404, json={"code": code, "password": PASSWORD})


def test_every_step_is_in_the_audit_trail_without_the_code(
    server: Served, nobody: Api, admin: Api, invited: Invite
) -> None:
    user, code = invited()
    accept(nobody, code)
    other, _ = invited()
    admin.ok("DELETE", f"/invites/{other}", status=204)
    trail = server.run(page(server.parts.platform, Caller("admin", True), AuditFilter(), None, 4))
    assert [(one.actor, one.action, one.subject) for one in reversed(trail)] == [
        ("admin", "invite.made", user),
        (user, "invite.accepted", user),
        ("admin", "invite.made", other),
        ("admin", "invite.revoked", other),
    ]
    assert code not in str(trail)


def test_the_line_names_the_client_of_this_server_by_its_digest(
    server: Served, admin: Api, nobody: Api
) -> None:
    made = admin.ok("POST", "/invites", w.MadeInvite, 201, json={"user": fresh("guest")})
    url, _, digest = made["line"].partition("pip install -q '")[2].partition("'")[0].partition("#sha256=")
    answer = nobody.call("GET", url.partition("/api/v1")[2])
    assert answer.status_code == 200
    assert hashlib.sha256(answer.content).hexdigest() == digest
    names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
    assert "footplate/sdk/client.py" in names
    assert not [
        name for name in names if "/static/" in name or "__pycache__" in name or "footplate-init" in name
    ]
    nobody.refused("GET", "/client/footplate-9.9-py3-none-any.whl", 404, says="it is called footplate-")
    assert made["line"].endswith(f"footplate join '{made['link']}'")
