"""A job of a typed command: its name, the code that goes along, the packages that the code asks for."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from footplate.domain.errors import InvalidInput
from footplate.sdk.packing import Selection
from footplate.sdk.submission import Submission, prepare

REQUIREMENTS = "requirements.txt"
PROJECT, LOCK = "pyproject.toml", "uv.lock"


def prepare_command(
    command: Sequence[str],
    code: str | None,
    overrides: Mapping[str, Any],
    *,
    with_requirements: bool = True,
    with_code: bool = True,
) -> Submission:
    """Make a job of a command; one word is a whole shell command, several are words to keep apart.

    Raises `InvalidInput` for a command that names a file which lies here and is not sent.
    """
    text = command[0] if len(command) == 1 else shlex.join(command)
    if code is None and with_code and (file := _file_named_in(text)):
        raise InvalidInput("file_not_sent", "command", file=file)
    submission = prepare({"name": _name_for(command), "command": text}, code, **overrides)
    document, sent = submission.document, submission.code
    found = _packages_of(sent) if sent is not None and with_requirements else None
    if found is None or document.get("image") or "environment" in document:
        return submission
    return Submission({**document, "environment": found}, sent, uses_found_packages=True)


def _packages_of(code: Selection) -> dict[str, str] | None:
    if REQUIREMENTS in code.names:
        return {"requirements": REQUIREMENTS}
    return {"pyproject": PROJECT} if {PROJECT, LOCK} <= code.names else None


def _file_named_in(command: str) -> str:
    """Find a file of this folder that a command names; its path must be relative to be meant."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return next((word for word in words if _lies_here(word)), "")


def _lies_here(word: str) -> bool:
    try:
        return not Path(word).is_absolute() and Path(word).is_file()
    except (OSError, ValueError):
        # Too long for a name, or a zero byte in it.
        return False


def _name_for(command: Sequence[str]) -> str:
    said = command[0].split() if len(command) == 1 else command
    words = [Path(word).stem for word in said if not word.startswith("-")]
    scripts = [Path(word).stem for word in said if word.endswith((".py", ".sh"))]
    name = "".join(char if char.isalnum() else "-" for char in (scripts or words or ["job"])[0]).strip("-")
    return name[:60] or "job"
