"""Code by its digest is for who has sent it, and for who may fetch the files of a job that has it."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile

from apiclient import Api, Hire, fresh

from footplate.testing.server import Served
from footplate.wire.jobs import JobDetail
from footplate.wire.platform import Upload


def upload(api: Api, text: str) -> str:
    """Send code that nobody else has."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        entry = tarfile.TarInfo("train.py")
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text.encode()))
    return str(api.ok("POST", "/code", Upload, 201, content=packed.getvalue())["upload"])


def submits(api: Api, digest: str) -> int:
    document = {"name": fresh("job"), "command": "wait", "code": {"upload": digest}}
    return api.call("POST", "/jobs", json=document).status_code


def test_who_has_sent_code_may_use_it_and_others_are_told_that_it_is_not_there(hire: Hire) -> None:
    ann, bob = hire(default="member"), hire(default="member")
    digest = upload(ann, fresh("code"))
    assert ann.call("HEAD", f"/code/{digest}").status_code == 200
    assert bob.call("HEAD", f"/code/{digest}").status_code == 404
    assert submits(bob, digest) == 422
    assert (
        bob.call(
            "POST", "/jobs/dry-run", json={"name": "x", "command": "y", "code": {"upload": digest}}
        ).status_code
        == 422
    )
    assert submits(ann, digest) == 201


def test_who_sends_the_same_code_may_use_it_too(hire: Hire) -> None:
    ann, bob = hire(default="member"), hire(default="member")
    text = fresh("code")
    digest = upload(ann, text)
    assert upload(bob, text) == digest
    assert submits(bob, digest) == 201


def test_a_member_may_use_the_code_of_a_shared_job_beside_and_a_viewer_may_not(
    hire: Hire, admin: Api
) -> None:
    other = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": other})
    ann, member = hire(default="member"), hire(default="member")
    viewer = hire(default="viewer", **{other: "member"})
    digest = upload(ann, fresh("code"))
    job = ann.submit(code={"upload": digest})
    assert submits(member, digest) == 422
    ann.ok("PATCH", f"/jobs/{job['id']}", json={"shared": True})
    assert submits(member, digest) == 201
    document = {"name": fresh("job"), "command": "wait", "code": {"upload": digest}, "queue": other}
    viewer.refused("POST", "/jobs", 422, "code.upload", json=document)
    viewer.refused(
        "POST", f"/jobs/{job['id']}/clone", 403, says="not download its files", json={"queue": other}
    )
    member.ok("POST", f"/jobs/{job['id']}/clone", JobDetail, 201, json={})
    # Without the code it is only what a viewer sees anyway.
    viewer.ok("POST", f"/jobs/{job['id']}/clone", JobDetail, 201, json={"queue": other, "code": None})


def test_an_admin_may_use_any_code(hire: Hire, admin: Api) -> None:
    ann = hire(default="member")
    digest = upload(ann, fresh("code"))
    ann.submit(code={"upload": digest})
    assert submits(admin, digest) == 201


def test_code_is_fetched_as_it_was_sent(hire: Hire) -> None:
    ann, bob = hire(default="member"), hire(default="member")
    digest = upload(ann, fresh("code"))
    answer = ann.call("GET", f"/code/{digest}")
    assert answer.status_code == 200
    assert f"sha256:{hashlib.sha256(answer.content).hexdigest()}" == digest
    part = ann.call("GET", f"/code/{digest}", headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, answer.content[:4])
    bob.refused("GET", f"/code/{digest}", 404)
    for unknown in (digest[:-1] + "x", "sha256:" + "0" * 64, "..", "sha256:"):
        ann.refused("GET", f"/code/{unknown}", 404)


def test_the_token_of_a_job_fetches_the_code_of_that_job_and_no_other(hire: Hire, server: Served) -> None:
    ann = hire(default="member")
    own, other = upload(ann, fresh("code")), upload(ann, fresh("code"))
    job = ann.running(code={"upload": own})
    with Api(server, server.parts.tokens.issue(job["id"], 0)) as task:
        answer = task.call("GET", f"/code/{own}")
        assert f"sha256:{hashlib.sha256(answer.content).hexdigest()}" == own
        task.refused("GET", f"/code/{other}", 404)
        ann.finish(job)
        ann.until(job, "SUCCEEDED")
        task.refused("GET", f"/code/{own}", 401)


def test_an_archive_on_a_storage_is_the_code_that_is_in_it(ann: Api) -> None:
    folder, packed = fresh("code"), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("train.py", "print(1)\n")
    content = {"params": {"path": f"{folder}/train.zip"}, "content": packed.getvalue()}
    ann.ok("PUT", "/storages/home/content", **content)
    named = {"storage": "home", "path": f"{folder}/train.zip"}
    job = ann.submit(code=named)
    # What comes later in its place changes nothing for the job.
    ann.ok("PUT", "/storages/home/content", params=content["params"], content=b"something else")
    assert job["config"]["code"] == {"upload": f"sha256:{hashlib.sha256(packed.getvalue()).hexdigest()}"}
    assert ann.call("GET", f"/code/{job['config']['code']['upload']}").content == packed.getvalue()

    def refuse(path: str) -> None:
        document = {"name": fresh("job"), "command": "wait", "code": {**named, "path": f"{folder}/{path}"}}
        ann.refused("POST", "/jobs", 422, "code.path", json=document)

    refuse("none.zip")
    ann.ok("POST", "/storages/home/folders", status=201, json={"path": f"{folder}/a-folder.zip"})
    kept = ann.submit(code={**named, "path": f"{folder}/a-folder.zip"})
    assert kept["config"]["code"]["path"] == f"{folder}/a-folder.zip"
