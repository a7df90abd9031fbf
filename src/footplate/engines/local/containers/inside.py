"""Commands run inside a container that is there."""

from __future__ import annotations

import asyncio
import signal
import uuid
from collections.abc import AsyncIterator, Sequence

from footplate.domain.errors import NotFound
from footplate.engines.base import Ran
from footplate.engines.local.containers.api import CONFLICT, NOT_FOUND, ContainerApi, Refused
from footplate.engines.local.processes import descendants, kill_marked, send

TIMED_OUT = 124
CANNOT_EXECUTE = 126
HEADER_BYTES = 8
LOOK_EVERY_S = 0.02
LOOK_FOR_S = 5


async def run_inside(
    api: ContainerApi, name: str, argv: Sequence[str], timeout_s: float, most_bytes: int
) -> Ran:
    """Run a command in a container and gather what it writes; one that takes too long is ended."""
    mark = f"FOOTPLATE_INSIDE={uuid.uuid4().hex}"
    body = {"AttachStdout": True, "AttachStderr": True, "Cmd": list(argv), "Env": [mark]}
    try:
        exec_id = await api.create_exec(name, body)
    except Refused as error:
        if error.status in (NOT_FOUND, CONFLICT):
            raise NotFound("container_not_running", container=name) from error
        raise
    output = Output(most_bytes)
    try:
        async with asyncio.timeout(timeout_s):
            async for chunk in frames(api.start_exec(exec_id)):
                output.add(chunk)
    except TimeoutError:
        pid = int((await api.exec_state(exec_id)).get("Pid") or 0)
        await asyncio.to_thread(_end, pid, mark)
        return Ran(TIMED_OUT, bytes(output.kept), output.is_cut, timed_out=True)
    except Refused as error:
        return Ran(CANNOT_EXECUTE, f"{error.message}\n".encode())
    return Ran(await _exit_code(api, exec_id), bytes(output.kept), output.is_cut)


class Output:
    """The beginning of what a command writes."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self.kept = bytearray()
        self.is_cut = False

    def add(self, chunk: bytes) -> None:
        room = self._most_bytes - len(self.kept)
        self.kept += chunk[:room]
        self.is_cut = self.is_cut or len(chunk) > room


async def frames(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Take the content out of the engine's frames, of which each says how long it is."""
    unread = b""
    async for chunk in stream:
        unread += chunk
        while len(unread) >= HEADER_BYTES:
            end = HEADER_BYTES + int.from_bytes(unread[4:HEADER_BYTES], "big")
            if len(unread) < end:
                break
            yield unread[HEADER_BYTES:end]
            unread = unread[end:]


async def _exit_code(api: ContainerApi, exec_id: str) -> int:
    """Ask for the exit code, which the engine may learn a moment after the output has ended."""
    for _ in range(int(LOOK_FOR_S / LOOK_EVERY_S)):
        state = await api.exec_state(exec_id)
        if not state.get("Running") and state.get("ExitCode") is not None:
            return int(state["ExitCode"])
        await asyncio.sleep(LOOK_EVERY_S)
    return TIMED_OUT


def _end(pid: int, mark: str) -> None:
    """Kill a command and all that it started, where the server may; the engine itself offers no way to."""
    for one in (*descendants(pid), pid) if pid else ():
        send(one, signal.SIGKILL)
    # Whoever has left its parents is known by the mark.
    kill_marked([mark], LOOK_FOR_S)
