"""A job of a typed command: its name, the code that goes along, the packages that the code asks for."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from footplate.domain.errors import InvalidInput
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
    text = text_of(command)
    if code is None and with_code and (file := file_named_in(text)):
        raise InvalidInput("file_not_sent", "command", file=file)
    submission = prepare({"name": _name_for(command), "command": text}, code, **overrides)
    document, sent = submission.document, submission.code
    found = packages_in(sent.names) if sent is not None and with_requirements else None
    # A lock would install once more what the image has.
    is_for_image = found is not None and "requirements" in found
    if found is None or "environment" in document or (document.get("image") and not is_for_image):
        return submission
    return Submission({**document, "environment": found}, sent, uses_found_packages=True)


def text_of(command: Sequence[str]) -> str:
    """A command as shell text: one word is a whole shell command, several are words to keep apart."""
    return command[0] if len(command) == 1 else shlex.join(command)


def packages_in(names: Set[str]) -> dict[str, str] | None:
    """What the files of a folder say about the packages that its code needs."""
    if REQUIREMENTS in names:
        return {"requirements": REQUIREMENTS}
    return {"pyproject": PROJECT} if {PROJECT, LOCK} <= names else None


def file_named_in(command: str, folder: Path = Path()) -> str:
    """Find a file of a folder that a command names; its path must be relative to be meant."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return next((word for word in words if _lies_in(folder, word)), "")


def _lies_in(folder: Path, word: str) -> bool:
    try:
        return not Path(word).is_absolute() and (folder / word).is_file()
    except (OSError, ValueError):
        # Too long for a name, or a zero byte in it.
        return False


def _name_for(command: Sequence[str]) -> str:
    said = command[0].split() if len(command) == 1 else command
    words = [Path(word).stem for word in said if not word.startswith("-")]
    scripts = [Path(word).stem for word in said if word.endswith((".py", ".sh"))]
    name = "".join(char if char.isalnum() else "-" for char in (scripts or words or ["job"])[0]).strip("-")
    return name[:60] or "job"
