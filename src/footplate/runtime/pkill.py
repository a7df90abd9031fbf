"""A `pkill` that stays inside its task: on a shared machine the real one would end other people's ranks too.

DeepSpeed's launcher calls it in every task when it is stopped, with a pattern that fits all its jobs.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from .hosts import say

FOUND, NONE_FOUND, CANNOT_RUN = 0, 1, 126
# What makes a process one of this task: both are in the environment of everything that it starts.
OF_THIS_TASK = ("FOOTPLATE_ATTEMPT_ID", "FOOTPLATE_TASK")
# Options in one word, up to one of those whose value is the rest of the word.
_LETTERS = re.compile(r"-([^-dFgGOPqrstuU][^dFgGOPqrstuU]*)")
_COUNT = re.compile(r"--cou?n?t?")


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


def take_count(words: list[str]) -> tuple[bool, list[str]]:
    """Take the wish for a count out of a command line: pgrep would tell it in place of the processes."""
    end = words.index("--") if "--" in words else len(words)
    left = [_without_count(word) for word in words[:end]]
    return left != words[:end], [word for word in left if word is not None] + words[end:]


def _without_count(word: str) -> str | None:
    """A word without its wish for a count; None when it says nothing else."""
    letters = _LETTERS.match(word)
    if letters is None or "c" not in letters[1]:
        return None if _COUNT.fullmatch(word) else word
    left = letters[1].replace("c", "") + word[letters.end() :]
    return f"-{left}" if left else None


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
    is_count_wanted, rest = take_count(rest)
    asked = subprocess.run([pgrep, *rest], stdout=subprocess.PIPE, text=True, check=False)
    if asked.returncode > NONE_FOUND:
        return asked.returncode
    # Some options add names and command lines, in which other numbers may stand.
    found = [line.split()[0] for line in asked.stdout.splitlines() if line.strip()]
    # With -f this very program has the pattern in its command line.
    others = [int(word) for word in found if word.isdecimal() and int(word) != os.getpid()]
    n_signalled = sum(_signal(pid, number) for pid in others if is_of_this_task(pid))
    if is_count_wanted:
        sys.stdout.write(f"{n_signalled}\n")
    return FOUND if n_signalled else NONE_FOUND


def _signal(pid: int, number: signal.Signals) -> bool:
    """Send a signal; False when the process is gone, or is not ours to end."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
        return True
    return False
