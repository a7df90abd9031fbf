"""Creates and starts the container of one task, and continues where an interrupted try stopped."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from footplate.domain.errors import EngineError, EngineRejected, EngineUnavailable
from footplate.engines.local.containers import claiming
from footplate.engines.local.containers.api import (
    BAD_REQUEST,
    CONFLICT,
    TIMEOUT_S,
    ContainerApi,
    Document,
    Refused,
)
from footplate.engines.local.exchange import Answer, Exists
from footplate.engines.local.observe.records import Identity, read_claim, read_exit

EXISTS: Exists = {"exists": True}
SEEN_WITHIN_S = 5
POLL_EVERY_S = 0.02
_NO_SHELL = re.compile(r"/bin/sh.*(no such file|not found|not a directory|permission denied)", re.IGNORECASE)

# What Podman says when the process ends while Podman looks at it.
_JUST_ENDED = re.compile(r"/proc/\d+/\w+: no such process", re.IGNORECASE)


async def begin(
    api: ContainerApi,
    name: str,
    folder: Path,
    body: Document,
    marks: Collection[str],
    within_s: float = TIMEOUT_S,
) -> Answer:
    """Start a task that was never started; repeating this after a crash at any point is safe.

    `within_s` bounds each of the two steps that look at what is mounted.
    """
    if await asyncio.to_thread(read_claim, folder) is not None:
        return EXISTS
    if not await asyncio.to_thread(claiming.has_begun, folder):
        await _bring_up(api, name, folder, body, within_s)
    return await claim(api, name, folder, marks)


async def _bring_up(api: ContainerApi, name: str, folder: Path, body: Document, within_s: float) -> None:
    try:
        await _create(api, name, body, within_s)
        await api.start(name, within_s)
    except NameTaken:
        raise
    except EngineError as error:
        # An engine may stumble over a container that is over before it has said so.
        if await asyncio.to_thread(claiming.has_begun, folder):
            return
        with contextlib.suppress(EngineError):
            await api.remove(name)
        if await asyncio.to_thread(read_claim, folder) is not None:
            # Stopped meanwhile: nobody wants it any more.
            return
        raise _failure(error, body["Image"]) from error


async def claim(api: ContainerApi, name: str, folder: Path, marks: Collection[str]) -> Answer:
    """Write down which process a started container is; a container that was fenced meanwhile is removed."""
    identity = await _identify(api, name, folder, marks)
    at = await asyncio.to_thread(claiming.publish, folder, identity)
    if at is not None:
        return {"pid": identity.pid, "start_ticks": identity.start_ticks, "at": at}
    known = await asyncio.to_thread(read_claim, folder)
    if known is None or known.identity is None:
        await api.remove(name)
    return EXISTS


async def _create(api: ContainerApi, name: str, body: Document, within_s: float) -> None:
    try:
        await api.create(name, body, within_s)
    except Refused as error:
        # Podman calls this an internal error.
        if error.status != CONFLICT and "already in use" not in error.message:
            raise
        await _expect_ours(api, name, body["Labels"])


async def _expect_ours(api: ContainerApi, name: str, labels: Mapping[str, str]) -> None:
    """Accept a container that an earlier try of the same task has created, and no other."""
    found = await api.container(name)
    if found is None:
        raise EngineUnavailable("container_being_removed", container=name)
    has: Mapping[str, Any] = found["Config"].get("Labels") or {}
    if any(has.get(label) != value for label, value in labels.items()):
        raise NameTaken(
            f"there is a container named {name} which this server has not made: remove or rename it"
        )


class NameTaken(EngineUnavailable):
    """A container of that name exists, and it is not ours."""


async def _identify(api: ContainerApi, name: str, folder: Path, marks: Collection[str]) -> Identity:
    """Find the process of a container; a stand-in when the container has ended already."""
    give_up_at = time.monotonic() + SEEN_WITHIN_S
    while pid := await _pid(api, name):
        identity = await asyncio.to_thread(claiming.identify, pid)
        if identity is not None:
            return identity
        # An engine may take a moment to notice an end.
        if await asyncio.to_thread(read_exit, folder) is not None:
            break
        if time.monotonic() > give_up_at:
            with contextlib.suppress(EngineError):
                await api.remove(name)
            raise EngineRejected("container_engine_elsewhere", socket=str(api.socket))
        await asyncio.sleep(POLL_EVERY_S)
    found = await api.container(name)
    container_id = str(found.get("Id", "")) if found else ""
    return await asyncio.to_thread(_find_or_give_up, folder, marks, container_id)


def _find_or_give_up(folder: Path, marks: Collection[str], container_id: str) -> Identity:
    found = claiming.find(marks, container_id) if read_exit(folder) is None else None
    return found or claiming.gone()


async def _pid(api: ContainerApi, name: str) -> int:
    try:
        found = await api.container(name)
    except Refused as error:
        if _JUST_ENDED.search(error.message):
            return 0
        raise
    state: Mapping[str, Any] = found["State"] if found else {}
    return int(state.get("Pid") or 0) if state.get("Running") else 0


def _failure(error: EngineError, image: str) -> EngineError:
    if _NO_SHELL.search(error.message):
        return EngineRejected("image_without_shell", image=image)
    if isinstance(error, Refused) and error.status == BAD_REQUEST:
        return EngineRejected("container_not_created", image=image, why=error.said)
    return error
