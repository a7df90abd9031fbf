"""Running commands in a task on behalf of a caller (`exec`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from footplate.domain.errors import InvalidInput
from footplate.domain.resources import MIB
from footplate.engines.base import Ran
from footplate.services.access import Caller
from footplate.services.entering import enter
from footplate.services.platform import Platform

MOST_WORDS = 1000
MOST_BYTES = 64 * 1024
MOST_INPUT_BYTES = 16 * MIB


async def exec_in_task(
    platform: Platform,
    caller: Caller,
    id_or_name: str,
    task: str | None,
    command: Sequence[str],
    timeout_s: float,
    stdin: bytes = b"",
) -> Ran:
    """Run a command in the environment of a task; its owner and admins may."""
    job, role, index = await enter(platform, caller, id_or_name, task, "exec")
    if len(command) > MOST_WORDS or sum(len(word.encode()) for word in command) > MOST_BYTES:
        raise InvalidInput("command_too_long", "command", most=MOST_WORDS, most_bytes=MOST_BYTES)
    ran = await platform.streams.exec(job, role, index, command, timeout_s, stdin)
    # Asked only now: the command may have been given values that no task had before.
    mask = await platform.mask_of(job)
    return replace(ran, output=mask.cover(ran.output, cut_after=ran.is_cut or ran.timed_out))
