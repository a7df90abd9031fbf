"""Who may do what: every role against every action, as a table."""

from __future__ import annotations

import pytest

from footplate.domain.errors import Denied, NotFound
from footplate.services.access import (
    Caller,
    may_see,
    may_touch,
    require_admin,
    require_person,
    require_submit,
    require_touch,
    visible_queues,
)
from footplate.testing.builders import job

CALLERS = {
    "platform admin": Caller("root", is_admin=True),
    "admin of the queue": Caller("ada", roles={"vision": "admin"}),
    "member": Caller("max", roles={"vision": "member"}),
    "viewer": Caller("vic", roles={"vision": "viewer"}),
    "member elsewhere": Caller("eve", roles={"speech": "member"}),
    "owner and member": Caller("ann", roles={"vision": "member"}),
    "owner and viewer": Caller("ann", roles={"vision": "viewer"}),
    "owner without a role": Caller("ann"),
    "unknown role": Caller("odd", roles={"vision": "king"}),
}
# Sees Ann's job in queue vision, touches it, submits there.
RIGHTS = {
    "platform admin": (True, True, None),
    "admin of the queue": (True, True, None),
    "member": (True, False, None),
    "viewer": (True, False, Denied),
    "member elsewhere": (False, False, NotFound),
    "owner and member": (True, True, None),
    "owner and viewer": (True, False, Denied),
    "owner without a role": (True, False, NotFound),
    "unknown role": (False, False, NotFound),
}
JOB = job(owner="ann", queue="vision")


@pytest.mark.parametrize("who", CALLERS)
def test_a_caller_has_exactly_the_rights_of_the_table(who: str) -> None:
    caller = CALLERS[who]
    sees, touches, refusal = RIGHTS[who]
    assert may_see(caller, "ann", "vision") is sees
    assert may_touch(caller, JOB) is touches
    if refusal is None:
        require_submit(caller, "vision", exists=True)
    else:
        with pytest.raises(refusal, match="vision"):
            require_submit(caller, "vision", exists=True)


def test_a_refused_touch_says_whose_job_it_is_and_who_could() -> None:
    with pytest.raises(
        Denied, match=r"may not stop job .* belongs to ann. Its owner, an admin of queue vision"
    ):
        require_touch(CALLERS["member"], JOB, "stop")
    require_touch(CALLERS["owner and member"], JOB, "stop")


def test_nobody_submits_to_a_queue_that_is_not_there() -> None:
    with pytest.raises(NotFound, match="there is no queue vision"):
        require_submit(CALLERS["platform admin"], "vision", exists=False)


def test_only_platform_admins_pass_where_only_they_may() -> None:
    require_admin(CALLERS["platform admin"], "add_users")
    for who, caller in CALLERS.items():
        if who != "platform admin":
            with pytest.raises(Denied, match="only a platform admin may add users"):
                require_admin(caller, "add_users")


def test_visible_queues_are_those_with_a_role_and_all_for_admins() -> None:
    assert visible_queues(CALLERS["platform admin"]) is None
    assert visible_queues(CALLERS["viewer"]) == ("vision",)
    assert visible_queues(CALLERS["owner without a role"]) == ()


def test_a_job_is_no_person_and_no_admin() -> None:
    require_person(CALLERS["viewer"], "hand_out_roles")
    inside = Caller("root", is_admin=True, job_id=JOB.id)
    with pytest.raises(Denied, match="a job may not grant roles: do it as yourself"):
        require_person(inside, "hand_out_roles")
    with pytest.raises(Denied, match="a job may not add users: do it as yourself"):
        require_admin(inside, "add_users")
