"""Access keys over REST: made, shown once, used, and gone."""

from __future__ import annotations

from apiclient import Api, Sign
from cloudclients import Key, Tione

from footplate.wire.accesskeys import AccessKeys, IssuedAccessKey


def test_a_key_signs_until_it_is_deleted(ann: Api) -> None:
    made = ann.ok("POST", "/access-keys", IssuedAccessKey, 201, json={"name": "tikit"})
    tione = Tione(ann, Key(made["id"], made["secret"]))
    tione.ok("DescribeTrainingFrameworks")
    [listed] = ann.ok("GET", "/access-keys", AccessKeys)["items"]
    assert (listed["id"], listed["name"]) == (made["id"], "tikit")
    assert listed["last_used_at"] is not None
    assert "secret" not in listed
    ann.ok("DELETE", f"/access-keys/{made['id']}", status=204)
    assert tione.refused("DescribeTrainingFrameworks")[0] == "AuthFailure.SignatureFailure"
    ann.refused("DELETE", f"/access-keys/{made['id']}", 404)


def test_nobody_sees_or_deletes_the_keys_of_others(ann: Api, admin: Api) -> None:
    made = ann.ok("POST", "/access-keys", IssuedAccessKey, 201, json={"name": "mine"})
    admin.refused("DELETE", f"/access-keys/{made['id']}", 404)
    assert made["id"] not in [one["id"] for one in admin.ok("GET", "/access-keys", AccessKeys)["items"]]


def test_a_job_makes_no_keys(ann: Api, sign: Sign) -> None:
    task = sign(ann.served.parts.tokens.issue(ann.running()["id"], 0))
    task.refused("POST", "/access-keys", 403, json={"name": "stolen"})
