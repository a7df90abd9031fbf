"""Every operation of the published description: its good path, and who is refused how."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from apiclient import PASSWORD, Api, Data, Hire, Sign, check_refusal, fresh
from pydantic import BaseModel

from footplate.domain.jobfile import job_schema
from footplate.server.app import API, make_app
from footplate.server.settings import Settings
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served
from footplate.wire import alerts as wire_alerts
from footplate.wire import choices as wire_choices
from footplate.wire import environments as wire_environments
from footplate.wire import files as wire_files
from footplate.wire import images as wire_images
from footplate.wire import invites as wire_invites
from footplate.wire import metrics as wire_metrics
from footplate.wire import models as wire_models
from footplate.wire import openings as wire_openings
from footplate.wire import retention as wire_retention
from footplate.wire import secrets as wire_secrets
from footplate.wire import shells as wire_shells
from footplate.wire import ssh as wire_ssh
from footplate.wire import storagefiles as wire_storagefiles
from footplate.wire import storages as wire_storages
from footplate.wire.accesskeys import AccessKeys, IssuedAccessKey
from footplate.wire.accounting import AccountingReport, JobUse
from footplate.wire.accounts import (
    IssuedToken,
    Me,
    NewSession,
    RevokedTokens,
    Session,
    SignInLink,
    Tokens,
    UserBody,
    Users,
)
from footplate.wire.audit import Audit
from footplate.wire.body import ErrorBody
from footplate.wire.engines import Engines
from footplate.wire.events import Events
from footplate.wire.exec import RanBody
from footplate.wire.jobs import (
    Attempts,
    DryRun,
    JobCheck,
    JobDetail,
    Jobs,
    LogMatches,
    LogTimes,
    Tasks,
    Translated,
    UsageBody,
    Waiting,
)
from footplate.wire.nodes import NodeBody, NodeDetail, Nodes, NodeUsageBody
from footplate.wire.notebooks import Samples
from footplate.wire.platform import Health, HistoryBody, SettingsBody, Strategies, Summary, Upload, Version
from footplate.wire.queues import Members, QueueBody, Queues

PUBLIC = frozenset(
    {
        "GET /health",
        "GET /version",
        "GET /schema/job",
        "POST /login",
        "GET /session",
        "POST /session",
        "DELETE /session",
        "POST /session/links/follow",
        "POST /invites/lookup",
        "POST /invites/accept",
        "GET /client/{file}",
    }
)
NOTHING_SUCH = {
    "job_id": "000000000000",
    "name": "nothing-such",
    "user": "nothing-such",
    "token_id": "000000000000",
    "key_id": "FPAK0000000000000000",
    "digest": "sha256:" + "0" * 64,
    "what": "output",
    "file": "nothing-such.whl",
    "version": "none",
    "upload_id": "0" * 32,
    "channel_id": "000000000000",
    "rule_id": "000000000000",
    "delivery_id": "0" * 20,
    "model": "nothing-such",
    "alias": "none",
    "sha256": "0" * 64,
    "shell_id": "0" * 16,
    "service": "1",
}
VERSION = "1.0"
TEXT = {"Content-Type": "text/plain"}
WEB = {"kind": "http", "endpoint": "http://127.0.0.1:1"}
NO_FILE = {"params": {"path": "none"}}
ELSEWHERE = {"json": {"source": "none", "target": {"storage": "home", "path": "x"}}}


@dataclass(frozen=True)
class Scene:
    """What there is when a call comes in."""

    job: Data
    queue: str
    user: str
    token_id: str
    digest: str
    model: str

    def fill(self, path: str) -> str:
        """Put real names into a path."""
        name = {"/users": self.user, "/nodes": "fake"}.get(path[:6], self.queue)
        if path.startswith("/storages/{name}/"):
            name = "home"
        return path.format(
            job_id=self.job["id"],
            name=name,
            user=self.user,
            token_id=self.token_id,
            key_id=NOTHING_SUCH["key_id"],
            digest=self.digest,
            what="output",
            file="none.whl",
            version="1" if path.startswith("/models/") else VERSION,
            upload_id=NOTHING_SUCH["upload_id"],
            channel_id=NOTHING_SUCH["channel_id"],
            rule_id=NOTHING_SUCH["rule_id"],
            delivery_id=NOTHING_SUCH["delivery_id"],
            model=self.model,
            alias="production",
            sha256=hashlib.sha256(b"x").hexdigest(),
            shell_id=NOTHING_SUCH["shell_id"],
            service=NOTHING_SUCH["service"],
        )


@dataclass(frozen=True)
class Operation:
    """One operation: what it answers, and how it refuses somebody without any role."""

    model: type[BaseModel] | None = None
    status: int = 200
    request: Mapping[str, Any] = field(default_factory=dict)
    to_stranger: int | None = None
    is_stream: bool = False


def archive() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as packed:
        entry = tarfile.TarInfo("train.py")
        packed.addfile(entry, io.BytesIO())
    return out.getvalue()


JOB = {"name": "routes", "command": "wait"}
OPERATIONS: dict[str, Operation] = {
    "GET /health": Operation(Health),
    "GET /version": Operation(Version),
    "GET /schema/job": Operation(),
    "GET /summary": Operation(Summary),
    "GET /summary/history": Operation(HistoryBody),
    "GET /strategies": Operation(Strategies),
    "GET /settings": Operation(SettingsBody, to_stranger=403),
    "GET /audit": Operation(Audit, to_stranger=403),
    "GET /audit/export": Operation(to_stranger=403),
    "GET /accounting": Operation(AccountingReport),
    "GET /accounting/export": Operation(),
    "GET /waiting": Operation(Waiting),
    "POST /code": Operation(Upload, 201, {"content": archive()}),
    "GET /code/{digest}": Operation(),
    "HEAD /code/{digest}": Operation(),
    "POST /login": Operation(IssuedToken, 200, {"json": {"user": "routes-login", "password": PASSWORD}}),
    "GET /session": Operation(Session),
    "POST /session": Operation(NewSession, 200, {"json": {"user": "routes-login", "password": PASSWORD}}),
    "DELETE /session": Operation(None, 204),
    "POST /session/links": Operation(SignInLink, 201, {"json": {}}),
    "POST /session/links/follow": Operation(ErrorBody, 404, {"json": {"code": "fpl_nobody-made-this"}}),
    # What a browser's session may do is in test_api_session.py; without one it is a conflict.
    "POST /session/tickets": Operation(ErrorBody, 409, {"json": {"path": "/api/v1/jobs"}}),
    "GET /me": Operation(Me),
    "POST /me/password": Operation(None, 204, {"json": {"old_password": PASSWORD, "new_password": PASSWORD}}),
    "GET /access-keys": Operation(AccessKeys),
    "POST /access-keys": Operation(IssuedAccessKey, 201, {"json": {"name": "tikit"}}),
    "DELETE /access-keys/{key_id}": Operation(None, 404, to_stranger=404),
    "GET /tokens": Operation(Tokens),
    "POST /tokens": Operation(IssuedToken, 201, {"json": {"name": "another"}}),
    "DELETE /tokens": Operation(RevokedTokens),
    "DELETE /tokens/{token_id}": Operation(None, 204, to_stranger=404),
    "GET /users": Operation(Users, to_stranger=403),
    "POST /users": Operation(UserBody, 201, {"json": {"name": "routes-new", "password": PASSWORD}}, 403),
    "GET /users/{name}": Operation(UserBody, to_stranger=403),
    "PATCH /users/{name}": Operation(UserBody, request={"json": {"is_enabled": True}}, to_stranger=403),
    "DELETE /users/{name}": Operation(None, 204, to_stranger=403),
    "GET /invites": Operation(wire_invites.Invites, to_stranger=403),
    "POST /invites": Operation(wire_invites.MadeInvite, 201, {"json": {"user": "routes-guest"}}, 403),
    # Codes are followed in test_api_invites.py; here nobody has one.
    "POST /invites/lookup": Operation(ErrorBody, 404, {"json": {"code": "fpi_x"}}),
    "POST /invites/accept": Operation(ErrorBody, 404, {"json": {"code": "fpi_x", "password": PASSWORD}}),
    "DELETE /invites/{user}": Operation(None, 404, to_stranger=403),
    "GET /client/{file}": Operation(None, 404),
    "GET /queues": Operation(Queues),
    "POST /queues": Operation(QueueBody, 201, {"json": {"name": "routes-new"}}, 403),
    "GET /queues/{name}": Operation(QueueBody, to_stranger=404),
    "PATCH /queues/{name}": Operation(QueueBody, request={"json": {"description": "x"}}, to_stranger=403),
    "DELETE /queues/{name}": Operation(None, 204, to_stranger=403),
    "GET /queues/{name}/members": Operation(Members, to_stranger=404),
    "PUT /queues/{name}/members/{user}": Operation(None, 204, {"json": {"role": "viewer"}}, 404),
    "DELETE /queues/{name}/members/{user}": Operation(None, 204, to_stranger=404),
    "GET /nodes": Operation(Nodes),
    "GET /nodes/{name}": Operation(NodeDetail),
    "GET /nodes/{name}/usage": Operation(NodeUsageBody),
    "POST /notebooks": Operation(JobDetail, 201, {"json": {"name": "routes-notebook"}}, 404),
    "GET /notebooks/samples": Operation(Samples),
    "GET /notebooks/samples/{file}": Operation(ErrorBody, 404),
    "GET /engines": Operation(Engines),
    "PATCH /nodes/{name}": Operation(NodeBody, request={"json": {"is_schedulable": True}}, to_stranger=403),
    "GET /jobs": Operation(Jobs),
    "POST /jobs": Operation(JobDetail, 201, {"json": JOB}, 404),
    "POST /jobs/dry-run": Operation(DryRun, request={"json": JOB}, to_stranger=404),
    "POST /jobs/check": Operation(JobCheck, request={"json": JOB}),
    "GET /jobs/{job_id}": Operation(JobDetail, to_stranger=404),
    "PATCH /jobs/{job_id}": Operation(JobDetail, request={"json": {"description": "x"}}, to_stranger=404),
    "DELETE /jobs/{job_id}": Operation(None, 202, to_stranger=404),
    "POST /jobs/translate": Operation(
        Translated, request={"content": "#!/bin/sh\n#SBATCH --mem=1G\ntrue", "headers": TEXT}
    ),
    "GET /jobs/{job_id}/original": Operation(ErrorBody, 404, to_stranger=404),
    "GET /jobs/{job_id}/config": Operation(to_stranger=404),
    "POST /jobs/{job_id}/stop": Operation(JobDetail, to_stranger=404),
    "POST /jobs/{job_id}/halt": Operation(JobDetail, to_stranger=404),
    "POST /jobs/{job_id}/preempt": Operation(JobDetail, to_stranger=404),
    "POST /jobs/{job_id}/exec": Operation(RanBody, request={"json": {"command": ["ls"]}}, to_stranger=404),
    "GET /jobs/{job_id}/shells": Operation(wire_shells.Shells, to_stranger=404),
    "POST /jobs/{job_id}/shells": Operation(
        wire_shells.ShellBody, 201, request={"json": {}}, to_stranger=404
    ),
    "DELETE /jobs/{job_id}/shells/{shell_id}": Operation(ErrorBody, 404, to_stranger=404),
    "GET /jobs/{job_id}/services": Operation(wire_openings.OpeningsBody, to_stranger=404),
    "POST /jobs/{job_id}/services": Operation(ErrorBody, 409, {"json": {"service": "80"}}, 404),
    "DELETE /jobs/{job_id}/services/{service}": Operation(ErrorBody, 404, to_stranger=404),
    "GET /jobs/{job_id}/ssh": Operation(wire_ssh.SshAddressBody, to_stranger=404),
    "POST /jobs/{job_id}/ssh-key": Operation(wire_ssh.HandedOutKey, 201, to_stranger=404),
    "GET /me/ssh-keys": Operation(wire_ssh.SshKeys),
    "POST /me/ssh-keys": Operation(ErrorBody, 422, {"json": {"public_key": "none"}}),
    "DELETE /me/ssh-keys/{key_id}": Operation(ErrorBody, 404),
    # What these need is brought about in test_api_life.py; here they are conflicts.
    "POST /jobs/{job_id}/release": Operation(ErrorBody, 409, to_stranger=404),
    "POST /jobs/{job_id}/restore": Operation(ErrorBody, 409, to_stranger=404),
    "GET /jobs/{job_id}/files": Operation(wire_files.JobFiles, to_stranger=404),
    "GET /jobs/{job_id}/files/{what}": Operation(ErrorBody, 404, to_stranger=404),
    "GET /jobs/{job_id}/files/{what}/preview": Operation(
        ErrorBody, 404, {"params": {"path": "x"}}, to_stranger=404
    ),
    "GET /jobs/{job_id}/download": Operation(ErrorBody, 404, to_stranger=404),
    "POST /jobs/{job_id}/clone": Operation(JobDetail, 201, to_stranger=404),
    "GET /jobs/{job_id}/usage": Operation(UsageBody, to_stranger=404),
    "POST /jobs/{job_id}/metrics": Operation(
        wire_metrics.Pushed, request={"json": {"points": [{"values": {"loss": 1}}]}}, to_stranger=404
    ),
    "GET /jobs/{job_id}/metrics": Operation(wire_metrics.MetricsBody, to_stranger=404),
    "GET /jobs/{job_id}/metrics/export": Operation(to_stranger=404),
    "GET /jobs/{job_id}/metrics/stream": Operation(to_stranger=404, is_stream=True),
    "GET /metrics/latest": Operation(wire_metrics.LatestValues, request={"params": {"job": "none"}}),
    "GET /jobs/{job_id}/tasks": Operation(Tasks, to_stranger=404),
    "GET /jobs/{job_id}/attempts": Operation(Attempts, to_stranger=404),
    "GET /jobs/{job_id}/events": Operation(Events, to_stranger=404),
    "GET /jobs/{job_id}/logs": Operation(to_stranger=404),
    "GET /jobs/{job_id}/logs/search": Operation(
        LogMatches, request={"params": {"text": "x"}}, to_stranger=404
    ),
    "GET /jobs/{job_id}/logs/download": Operation(to_stranger=404),
    "GET /jobs/{job_id}/logs/merged": Operation(to_stranger=404),
    "GET /jobs/{job_id}/logs/times": Operation(LogTimes, request={"params": {"end": "1"}}, to_stranger=404),
    "GET /jobs/{job_id}/logs/stream": Operation(to_stranger=404, is_stream=True),
    "PUT /settings/{name}": Operation(ErrorBody, 404, {"json": {"value": "2h"}}, to_stranger=403),
    "DELETE /settings/{name}": Operation(ErrorBody, 404, to_stranger=403),
    "GET /secrets": Operation(wire_secrets.Secrets),
    "PUT /secrets/{name}": Operation(wire_secrets.SecretBody, request={"json": {"value": "x"}}),
    "DELETE /secrets/{name}": Operation(None, 204, to_stranger=404),
    "GET /images": Operation(wire_images.Images),
    "GET /storages": Operation(wire_storages.Storages),
    "POST /storages": Operation(
        wire_storages.StorageBody, 201, {"json": {**WEB, "name": "routes"}}, to_stranger=403
    ),
    "GET /storages/{name}": Operation(wire_storages.StorageBody),
    "PATCH /storages/{name}": Operation(
        wire_storages.StorageBody, request={"json": {"description": "x"}}, to_stranger=403
    ),
    "DELETE /storages/{name}": Operation(None, 204, to_stranger=403),
    "POST /storages/{name}/check": Operation(None, 204, to_stranger=403),
    "GET /storages/{name}/entries": Operation(wire_storagefiles.Entries),
    "DELETE /storages/{name}/entries": Operation(ErrorBody, 404, NO_FILE),
    "GET /storages/{name}/entry": Operation(wire_storagefiles.EntryBody),
    "GET /storages/{name}/usage": Operation(wire_storagefiles.FolderUse),
    "GET /storages/{name}/preview": Operation(ErrorBody, 404, NO_FILE),
    "GET /storages/{name}/content": Operation(ErrorBody, 404, NO_FILE),
    "PUT /storages/{name}/content": Operation(
        wire_storagefiles.EntryBody, request={"params": {"path": "x"}, "content": b"x"}
    ),
    "GET /storages/{name}/archive": Operation(),
    "POST /storages/{name}/batch": Operation(
        wire_storagefiles.Unpacked, request={"content": bytes(tarfile.RECORDSIZE)}
    ),
    "POST /storages/{name}/folders": Operation(
        wire_storagefiles.EntryBody, 201, {"json": {"path": "folder"}}
    ),
    "POST /storages/{name}/move": Operation(ErrorBody, 404, ELSEWHERE),
    "POST /storages/{name}/copy": Operation(ErrorBody, 404, ELSEWHERE),
    "GET /storages/{name}/uploads": Operation(wire_storagefiles.Uploads),
    "POST /storages/{name}/uploads": Operation(
        wire_storagefiles.UploadBody, 201, {"json": {"path": "x", "size_bytes": 1}}
    ),
    "GET /storages/{name}/uploads/{upload_id}": Operation(ErrorBody, 404),
    "PATCH /storages/{name}/uploads/{upload_id}": Operation(ErrorBody, 404, {"params": {"offset": 0}}),
    "POST /storages/{name}/uploads/{upload_id}/finish": Operation(ErrorBody, 404),
    "DELETE /storages/{name}/uploads/{upload_id}": Operation(ErrorBody, 404),
    "PUT /images/{name}": Operation(
        wire_images.ImageBody, request={"json": {"reference": "python:3.12"}}, to_stranger=403
    ),
    "DELETE /images/{name}": Operation(None, 204, to_stranger=403),
    "GET /instance-types": Operation(wire_choices.Types),
    "PUT /instance-types/{name}": Operation(
        wire_choices.TypeBody, request={"json": {"cpus": 1, "memory_bytes": 2**30}}, to_stranger=403
    ),
    "DELETE /instance-types/{name}": Operation(None, 204, to_stranger=403),
    "GET /frameworks": Operation(wire_choices.Frameworks),
    "PUT /frameworks/{name}/{version}": Operation(
        wire_choices.FrameworkBody, request={"json": {}}, to_stranger=403
    ),
    "DELETE /frameworks/{name}/{version}": Operation(None, 204, to_stranger=403),
    "GET /jobs/{job_id}/cost": Operation(JobUse, to_stranger=404),
    "GET /jobs/{job_id}/sizes": Operation(wire_retention.JobSizes, to_stranger=404),
    "GET /sizes": Operation(wire_retention.SizesByUser),
    "POST /sweep": Operation(wire_retention.Sweep, to_stranger=403),
    "GET /models": Operation(wire_models.Models),
    "POST /models": Operation(
        wire_models.VersionBody,
        201,
        {"json": {"name": "routes", "storage": {"storage": "home", "path": "routes.bin"}}},
        to_stranger=404,
    ),
    "GET /models/{model}": Operation(wire_models.ModelDetail, to_stranger=404),
    "PATCH /models/{model}": Operation(
        wire_models.ModelDetail, request={"json": {"description": "x"}}, to_stranger=404
    ),
    "DELETE /models/{model}": Operation(None, 204, to_stranger=404),
    "POST /models/{model}/restore": Operation(ErrorBody, 409, to_stranger=404),
    "PUT /models/{model}/aliases/{alias}": Operation(
        wire_models.ModelDetail, request={"json": {"version": "1"}}, to_stranger=404
    ),
    "DELETE /models/{model}/aliases/{alias}": Operation(wire_models.ModelDetail, to_stranger=404),
    "GET /models/{model}/compare": Operation(
        wire_models.ComparisonBody, request={"params": {"first": "1"}}, to_stranger=404
    ),
    "GET /models/{model}/versions/{version}": Operation(wire_models.VersionBody, to_stranger=404),
    "PATCH /models/{model}/versions/{version}": Operation(
        wire_models.VersionBody, request={"json": {"metrics": {"loss": 0.1}}}, to_stranger=404
    ),
    "DELETE /models/{model}/versions/{version}": Operation(None, 204, to_stranger=404),
    "POST /models/{model}/versions/{version}/restore": Operation(ErrorBody, 409, to_stranger=404),
    "GET /models/{model}/versions/{version}/content": Operation(to_stranger=404),
    "GET /models/{model}/versions/{version}/archive": Operation(to_stranger=404),
    "PUT /model-contents/{sha256}": Operation(wire_models.ContentBody, 201, {"content": b"x"}),
    "POST /model-contents/{sha256}": Operation(
        ErrorBody, 404, {"json": {"storage": "home", "upload": "0" * 32}}
    ),
    "HEAD /model-contents/{sha256}": Operation(),
    "GET /inference-environments": Operation(wire_models.InferenceEnvironments),
    "PUT /inference-environments/{name}": Operation(
        wire_models.InferenceBody, request={"json": {"image": "serve:1"}}, to_stranger=403
    ),
    "DELETE /inference-environments/{name}": Operation(None, 204, to_stranger=403),
    "GET /environments": Operation(wire_environments.Environments),
    # The fake engine builds none.
    "GET /environments/{name}/log": Operation(None, 404, to_stranger=404),
    "DELETE /environments/{name}": Operation(None, 404, to_stranger=404),
    # What is there is tried in test_api_alerts.py.
    "GET /alerts/channels": Operation(wire_alerts.Channels),
    "POST /alerts/channels": Operation(
        wire_alerts.ChannelBody, 201, {"json": {"name": "r", "kind": "mail", "address": "r@example.org"}}
    ),
    "PATCH /alerts/channels/{channel_id}": Operation(ErrorBody, 404, {"json": {"name": "x"}}, 404),
    "DELETE /alerts/channels/{channel_id}": Operation(None, 404, to_stranger=404),
    "POST /alerts/channels/{channel_id}/test": Operation(ErrorBody, 404, to_stranger=404),
    "GET /alerts/rules": Operation(wire_alerts.Rules),
    "POST /alerts/rules": Operation(wire_alerts.RuleBody, 201, {"json": {"on": ["failed"]}}),
    "PUT /alerts/rules/{rule_id}": Operation(ErrorBody, 404, {"json": {"on": ["failed"]}}, 404),
    "DELETE /alerts/rules/{rule_id}": Operation(None, 404, to_stranger=404),
    "GET /alerts/deliveries": Operation(wire_alerts.Deliveries),
    "POST /alerts/deliveries/{delivery_id}/retry": Operation(ErrorBody, 404, to_stranger=404),
    "GET /alerts/settings": Operation(wire_alerts.AlertSettingsBody, to_stranger=403),
    "PUT /alerts/settings": Operation(wire_alerts.AlertSettingsBody, request={"json": {}}, to_stranger=403),
    "GET /events": Operation(Events),
    "GET /events/stream": Operation(is_stream=True),
    "POST /stream": Operation(request={"json": {}}, is_stream=True),
}
# A first call makes what it names.
MAKING = (
    "PUT /secrets/{name}",
    "PUT /images/{name}",
    "PUT /instance-types/{name}",
    "PUT /frameworks/{name}/{version}",
    "PUT /inference-environments/{name}",
    "PUT /model-contents/{sha256}",
)
NAMED = [name for name in OPERATIONS if "{" in name and name not in MAKING]


def test_every_operation_of_the_description_is_tried_here(tmp_path: Path) -> None:
    clock = FakeClock()
    described = make_app(Settings(tmp_path), FakeEngine(clock), clock).openapi()["paths"]
    operations = {
        f"{method.upper()} {path.removeprefix(API)}"
        for path, methods in described.items()
        for method in methods
    }
    assert operations == set(OPERATIONS)


@pytest.fixture
def scene(admin: Api, hire: Hire) -> Scene:
    """A running job in a queue of its own, an account with a role there, a token and an upload."""
    queue = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    user = hire(**{queue: "member"}).name
    token = admin.ok("POST", "/tokens", status=201, json={"name": "scene"})
    upload = admin.ok("POST", "/code", status=201, content=archive())["upload"]
    admin.ok("PUT", f"/secrets/{queue}", json={"value": "x"})
    admin.ok("PUT", f"/images/{queue}", json={"reference": "python:3.12"})
    admin.ok("PUT", f"/instance-types/{queue}", json={"cpus": 1, "memory_bytes": 2**30})
    admin.ok("PUT", f"/frameworks/{queue}/{VERSION}", json={})
    admin.ok("POST", "/storages", status=201, json={**WEB, "name": queue})
    admin.ok("PUT", f"/inference-environments/{queue}", json={"image": "serve:1"})
    admin.ok("PUT", "/storages/home/content", params={"path": "routes.bin"}, content=b"weights")
    admin.ok("PUT", f"/model-contents/{hashlib.sha256(b'x').hexdigest()}", status=201, content=b"x")
    stored = {"storage": "home", "path": "routes.bin"}
    model = admin.ok("POST", "/models", status=201, json={"name": queue, "storage": stored})["model_id"]
    return Scene(admin.running(queue=queue), queue, user, token["id"], upload, model)


def test_a_stranger_is_told_nothing_that_is_not_theirs(scene: Scene, hire: Hire) -> None:
    stranger = hire()
    for name, operation in OPERATIONS.items():
        if operation.to_stranger is None:
            continue
        method, path = name.split()
        answer = stranger.call(method, scene.fill(path), **operation.request)
        assert answer.status_code == operation.to_stranger, (name, answer.text)
        assert check_refusal(answer)["code"] == {403: "denied", 404: "not_found"}[operation.to_stranger]
        assert scene.job["name"] not in answer.text


def test_nobody_gets_anywhere_without_signing_in(scene: Scene, nobody: Api) -> None:
    for name, operation in OPERATIONS.items():
        method, path = name.split()
        if name in PUBLIC:
            continue
        answer = nobody.call(method, scene.fill(path), **operation.request)
        assert answer.status_code == 401, (name, answer.text)
        assert answer.headers["www-authenticate"] == "Bearer"
        if method != "HEAD":
            assert check_refusal(answer)["code"] == "unauthenticated"


def test_what_is_not_there_is_not_found(admin: Api) -> None:
    for name in NAMED:
        method, path = name.split()
        answer = admin.call(method, path.format(**NOTHING_SUCH), **OPERATIONS[name].request)
        assert answer.status_code == 404, (name, answer.text)
        if method != "HEAD":
            assert check_refusal(answer)["code"] == "not_found"


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_good_path_answers_as_described(
    scene: Scene, admin: Api, server: Served, sign: Sign, name: str
) -> None:
    operation = OPERATIONS[name]
    method, path = name.split()
    caller = admin
    if name in ("POST /login", "POST /session", "POST /me/password"):
        admin.call("POST", "/users", json={"name": "routes-login", "password": PASSWORD})
        caller = sign(server.sign_in("routes-login", PASSWORD))
    if name == "DELETE /queues/{name}":
        admin.ok("DELETE", f"/jobs/{scene.job['id']}?for_good=true", status=202)
        admin.until_gone(scene.job)
    if operation.is_stream:
        with caller.stream(scene.fill(path), method=method, **operation.request) as events:
            admin.submit()
            assert next(events).data
        return
    answer = caller.call(method, scene.fill(path), **operation.request)
    assert answer.status_code == operation.status, answer.text
    if operation.model is not None:
        operation.model.model_validate_json(answer.content, strict=True)


def test_every_answer_carries_a_request_id_and_takes_over_a_sane_one(nobody: Api) -> None:
    assert len(nobody.call("GET", "/health").headers["x-request-id"]) == 16
    given = {"X-Request-Id": "trace-1.2_3"}
    assert nobody.call("GET", "/health", headers=given).headers["x-request-id"] == "trace-1.2_3"
    hostile = {"X-Request-Id": "<script>"}
    assert nobody.call("GET", "/health", headers=hostile).headers["x-request-id"] != "<script>"


@pytest.mark.parametrize(
    "path", ["/nowhere", "/jobs/a/b/c", "/jobs/x/../y", "/%00", "/jobs/%2e%2e%2f/config"]
)
def test_a_path_that_is_not_there_is_not_found_in_our_words(admin: Api, path: str) -> None:
    admin.refused("GET", path, 404)


def test_a_method_that_is_not_possible_is_refused_in_our_words(admin: Api) -> None:
    body = admin.refused("PUT", "/jobs", 405, says="PUT is not possible")
    assert body["code"] == "method_not_allowed"


def test_the_schema_of_job_files_is_served_to_anybody(nobody: Api) -> None:
    assert nobody.ok("GET", "/schema/job") == job_schema()


@pytest.mark.parametrize("path", ["/v1/x", "/di/x", "/cc/x", "/compat/x", "/?Action=X"])
def test_the_paths_of_foreign_clients_are_free(server: Served, nobody: Api, path: str) -> None:
    answer = nobody.http.get(f"{server.url}{path}")
    assert answer.status_code == (200 if path.startswith("/?") else 404)
    if path.startswith(("/v1", "/di")):
        # In the shape that those clients know.
        assert answer.json().keys() == {"code", "error", "description" if path.startswith("/v1") else "msg"}
    elif answer.status_code == 404:
        check_refusal(answer)


def test_the_front_page_is_there_for_browsers(server: Served, nobody: Api) -> None:
    answer = nobody.http.get(f"{server.url}/")
    assert answer.status_code == 200
    assert "<title>Footplate</title>" in answer.text
