"""SSH over REST: one's own keys, where to connect to, and a key for one job."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from footplate.domain.errors import Conflict
from footplate.server.auth import Signed, Wired
from footplate.services import sshkeys
from footplate.services.entering import enter
from footplate.store.ssh_key_queries import SshKey
from footplate.wire import ssh as w
from footplate.wire.body import Text
from footplate.wire.convert import instant

router = APIRouter(tags=["accounts"])


@router.get("/me/ssh-keys", response_model=w.SshKeys)
async def list_keys(parts: Wired, caller: Signed) -> Response:
    """The public keys with which the caller can come in over SSH."""
    return JSONResponse({"items": [_shown(key) for key in await sshkeys.own_of(parts.platform, caller)]})


@router.post("/me/ssh-keys", status_code=201, response_model=w.SshKeyBody)
async def add_key(parts: Wired, caller: Signed, body: w.NewSshKey) -> Response:
    """Add a public key."""
    return JSONResponse(_shown(await sshkeys.add(parts.platform, caller, body.public_key, body.name)), 201)


@router.delete("/me/ssh-keys/{key_id}", status_code=204)
async def remove_key(parts: Wired, caller: Signed, key_id: str) -> Response:
    """Remove a public key."""
    await sshkeys.remove(parts.platform, caller, key_id)
    return Response(status_code=204)


@router.get("/jobs/{job_id}/ssh", response_model=w.SshAddressBody)
async def address(
    parts: Wired, caller: Signed, job_id: str, task: Annotated[Text | None, Query(max_length=80)] = None
) -> Response:
    """Where and as whom to connect to enter a task by SSH."""
    job, role, index = await enter(parts.platform, caller, job_id, task, "ssh")
    if parts.ssh is None:
        raise Conflict("ssh_is_off")
    at, user = parts.ssh, f"{job.id}.{role}-{index}"
    command = f"ssh -p {at.port} {user}@{at.host}"
    told = {"host": at.host, "port": at.port, "user": user, "host_key": at.host_key, "command": command}
    return JSONResponse(told)


@router.post("/jobs/{job_id}/ssh-key", status_code=201, response_model=w.HandedOutKey)
async def hand_out(parts: Wired, caller: Signed, job_id: str) -> Response:
    """A private key that opens this job alone, for the caller; ten of theirs are good at a time."""
    return JSONResponse({"private_key": await sshkeys.hand_out(parts.platform, caller, job_id)}, 201)


def _shown(key: SshKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "kind": key.kind,
        "fingerprint": key.fingerprint,
        "created_at": instant(key.created_at),
        "last_used_at": instant(key.last_used_at),
    }
