"""What a container tells of a task that is gone without having recorded its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from footplate.domain.resources import show_bytes
from footplate.domain.states import TaskState
from footplate.engines.local.containers.api import Document
from footplate.engines.local.records import STOPPED_BY_KILL
from footplate.engines.local.sighting import Sight


def explain(sight: Sight, container: Document, has_begun: bool) -> Sight:
    """Say more of a lost task; one whose first process was killed for its memory has ended by that."""
    state: Mapping[str, Any] = container["State"]
    code = state.get("ExitCode")
    if state.get("OOMKilled"):
        limit_bytes = int(container["HostConfig"].get("Memory") or 0) or None
        limit = f": its limit is {show_bytes(limit_bytes)}" if limit_bytes else ""
        return replace(
            sight,
            state=TaskState.EXITED,
            exit_code=STOPPED_BY_KILL,
            cause="oom",
            limit_bytes=limit_bytes,
            detail=f"out of memory{limit}",
        )
    if not has_begun:
        detail = f"the container ended with exit code {code} before its command began"
        return replace(sight, detail=f"{detail}: it could not write to the task's folder")
    return replace(sight, detail=f"{sight.detail}; the container's exit code was {code}")
