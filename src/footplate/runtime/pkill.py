"""A `pkill` that stays inside its task: on a shared machine the real one would end other people's ranks too.

DeepSpeed's launcher calls it in every task when it is stopped, with a pattern that fits all its jobs.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

from .hosts import say

FOUND, NONE_FOUND, CANNOT_RUN = 0, 1, 126
# What makes a process one of this task: both are in the environment of everything that it starts.
OF_THIS_TASK = ("FOOTPLATE_ATTEMPT_ID", "FOOTPLATE_TASK")


def split(words: list[str]) -> tuple[signal.Signals, list[str]]:
    """Take the signal out of a command line; the rest is what pgrep understands."""
    rest: list[str] = []
    number, i = signal.SIGTERM, 0
    while i < len(words):
        word = words[i]
        named = _signal_named(word[1:]) if word.startswith("-") and not word.startswith("--") else None
        if named is not None:
            number = named
        elif word.startswith("--signal="):
            number = _signal_or_refuse(word.partition("=")[2])
        elif word == "--signal" and i + 1 < len(words):
            number, i = _signal_or_refuse(words[i + 1]), i + 1
        else:
            rest.append(word)
        i += 1
    return number, rest


def _signal_named(text: str) -> signal.Signals | None:
    with contextlib.suppress(ValueError, KeyError):
        return signal.Signals(int(text)) if text.isdecimal() else _by_name(text)
    return None


def _by_name(text: str) -> signal.Signals:
    name = text.upper()
    return signal.Signals[name if name.startswith("SIG") else f"SIG{name}"]


def _signal_or_refuse(text: str) -> signal.Signals:
    number = _signal_named(text)
    if number is None:
        raise SystemExit(f"footplate: {text} is no signal")
    return number


def is_of_this_task(pid: int) -> bool:
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return all(f"{name}={os.environ[name]}".encode() in variables for name in OF_THIS_TASK)


def main(words: list[str]) -> int:
    pgrep = shutil.which("pgrep")
    if pgrep is None:
        say("pgrep is not installed, without which pkill cannot tell whom to end")
        return CANNOT_RUN
    number, rest = split(words)
    asked = subprocess.run([pgrep, *rest], stdout=subprocess.PIPE, text=True, check=False)
    if asked.returncode > NONE_FOUND:
        return asked.returncode
    found = [int(line) for line in asked.stdout.split() if line.isdecimal()]
    # With -f this very program has the pattern in its command line.
    ours = [pid for pid in found if pid != os.getpid() and is_of_this_task(pid)]
    for pid in ours:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    return FOUND if ours else NONE_FOUND
