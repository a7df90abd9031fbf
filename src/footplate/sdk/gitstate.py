"""Which commit the code of a job is, and how it differs from that: asked of git, where there is one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from footplate.domain.codefields import MOST_DIFF_CHARS
from footplate.sdk.packing import Selection

WITHIN_S = 10.0
MOST_DIFFED = 500
CUT = "\n[… cut]\n"
# Nothing that the repository's own settings name is run.
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false")


def revision_of(selection: Selection) -> dict[str, Any] | None:
    """Tell the commit, the branch and what was changed since; None where git knows nothing of the folder."""
    folder = selection.root if selection.root.is_dir() else selection.root.parent
    if selection.is_archive or (commit := _ask(folder, "rev-parse", "--verify", "-q", "HEAD")) is None:
        return None
    branch = _ask(folder, "symbolic-ref", "--short", "-q", "HEAD")
    status = _ask(folder, "status", "--porcelain", "-z", "--no-renames", "--", ".")
    told: dict[str, Any] = {"commit": commit.strip()}
    if branch and branch.strip():
        told["branch"] = branch.strip()[:255]
    if status:
        told |= {"dirty": True, "diff": _diff(folder, selection)}
    return {name: value for name, value in told.items() if value}


def _diff(folder: Path, selection: Selection) -> str:
    """What has changed in files that are sent: others may hold secrets, for which they stay behind."""
    listed = _ask(folder, "diff", "--name-only", "-z", "--relative", "--no-renames", "HEAD", "--", ".")
    gone = set((_ask(folder, "ls-files", "-z", "--deleted", "--", ".") or "").split("\0"))
    sent = selection.names | gone
    names = [name for name in (listed or "").split("\0") if name and name in sent][:MOST_DIFFED]
    if not names:
        return ""
    options = ("--no-ext-diff", "--no-textconv", "--no-color", "--relative", "--no-renames")
    text = _ask(folder, "diff", *options, "HEAD", "--", *names) or ""
    return text if len(text) <= MOST_DIFF_CHARS else text[: MOST_DIFF_CHARS - len(CUT)] + CUT


def _ask(folder: Path, *words: str) -> str | None:
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C"}
    command: Sequence[str] = (*_GIT, *words)
    try:
        done = subprocess.run(  # noqa: S603  # our own words
            command, cwd=folder, env=env, capture_output=True, timeout=WITHIN_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
