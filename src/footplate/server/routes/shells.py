"""Shells in tasks over REST, and over WebSockets to talk with them."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect
from fastapi.responses import JSONResponse, Response

from footplate.domain.errors import Conflict, Denied, InvalidInput, NotFound, Unauthenticated
from footplate.server.auth import Signed, Wired
from footplate.server.parts import Parts
from footplate.server.together import until_first
from footplate.services.access import Caller
from footplate.services.entering import find_enterable
from footplate.services.shells import Shell
from footplate.wire import shells as w
from footplate.wire.convert import instant

router = APIRouter(prefix="/jobs/{job_id}/shells", tags=["jobs"])

# By the numbers of the WebSocket protocol.
ENDED, NO_LONGER, REPLACED = 1000, 1008, 4001
# How soon somebody is out who may no longer be in.
WATCH_EVERY_S = 2.0
# So many bytes a reason may have.
MOST_REASON = 100


@router.post("", status_code=201, response_model=w.ShellBody)
async def open_shell(parts: Wired, caller: Signed, job_id: str, body: w.NewShell) -> Response:
    """Start a shell in a task. Whoever does not connect to its `stream` for five minutes loses it."""
    shell = await parts.shells.open(caller, job_id, body.task, (body.rows, body.columns))
    return JSONResponse(_shown(shell), 201)


@router.get("", response_model=w.Shells)
async def list_shells(parts: Wired, caller: Signed, job_id: str) -> Response:
    """One's own shells in a job."""
    job = await find_enterable(parts.platform, caller, job_id, "shell")
    return JSONResponse({"items": [_shown(shell) for shell in parts.shells.of(caller, job)]})


@router.delete("/{shell_id}", status_code=204)
async def end_shell(parts: Wired, caller: Signed, job_id: str, shell_id: str) -> Response:
    """End a shell, and what it runs."""
    await parts.shells.end(await parts.shells.find(caller, job_id, shell_id))
    return Response(status_code=204)


@router.websocket("/{shell_id}/stream")
async def talk(
    websocket: WebSocket,
    parts: Wired,
    caller: Signed,
    job_id: str,
    shell_id: str,
    seen: Annotated[int, Query(ge=0)] = 0,
) -> None:
    """Bytes are what is typed and what is shown; texts are JSON.

    The server says first from which offset of the output it goes on, and last the exit code. Whoever comes
    back says with `seen` how many bytes they have. A text such as `{"rows": 24, "columns": 80}` changes the
    size.
    """
    shell = await parts.shells.find(caller, job_id, shell_id)
    await websocket.accept()
    await websocket.send_text(json.dumps({"shell": shell.id, "offset": shell.first_offset(seen)}))
    results = await until_first(
        _hear(websocket, parts, shell),
        _tell(websocket, parts, shell, seen),
        _watch(websocket, parts, caller, shell),
    )
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect | RuntimeError):
            raise result


async def _watch(websocket: WebSocket, parts: Parts, caller: Caller, shell: Shell) -> None:
    """Close the connection once the caller may no longer be here: rights, tokens and jobs go."""
    while True:
        await asyncio.sleep(WATCH_EVERY_S)
        try:
            await parts.shells.find(await parts.accounts.renew(caller), shell.job.id, shell.id)
        except (Unauthenticated, Denied, NotFound) as error:
            await websocket.close(NO_LONGER, str(error)[:MOST_REASON])
            return
        except Conflict:
            # The job ends, and the shell with it: how, it is told.
            continue


async def _tell(websocket: WebSocket, parts: Parts, shell: Shell, seen: int) -> None:
    async with contextlib.aclosing(parts.shells.attached(shell, seen)) as chunks:
        async for chunk in chunks:
            await websocket.send_bytes(chunk)
    if shell.is_attached:
        await websocket.close(REPLACED, "somebody else is connected to this shell")
        return
    await websocket.send_text(json.dumps({"exit_code": shell.exit_code}))
    await websocket.close(ENDED)


async def _hear(websocket: WebSocket, parts: Parts, shell: Shell) -> None:
    while True:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return
        if (data := message.get("bytes")) is not None:
            await parts.shells.write(shell, data)
        else:
            await shell.resize(*_size(message.get("text") or ""))


def _size(text: str) -> tuple[int, int]:
    try:
        given: Any = json.loads(text)
        size = w.NewShell(rows=given["rows"], columns=given["columns"])
    except (ValueError, TypeError, KeyError):
        raise InvalidInput("not_a_size", "rows", most=w.MOST_LINES) from None
    return size.rows, size.columns


def _shown(shell: Shell) -> dict[str, Any]:
    return {
        "id": shell.id,
        "job_id": shell.job.id,
        "task": shell.task,
        "started_at": instant(shell.started_at),
        "offset": shell.offset,
    }
