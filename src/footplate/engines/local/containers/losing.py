"""Explains, from the state of its container, how a task ended that did not record its own end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from footplate.domain.messages import say
from footplate.engines.local.containers.api import Document
from footplate.engines.local.containers.claiming import has_begun
from footplate.engines.local.observe.records import STOPPED_BY_KILL, write_record
from footplate.engines.local.observe.task import Observed, read_end


def explain(observed: Observed, container: Document, folder: Path) -> Observed:
    """Say more of a lost task; one whose first process was killed for its memory has ended by that."""
    state: Mapping[str, Any] = container["State"]
    code = state.get("ExitCode")
    if state.get("OOMKilled"):
        limit_bytes = int(container["HostConfig"].get("Memory") or 0)
        record = f"{STOPPED_BY_KILL}\nmemory.max {limit_bytes}\nmemory.events oom_kill 1\n"
        write_record(folder, record)
        return read_end(folder) or observed
    if not has_begun(folder):
        return replace(observed, detail=say("container_ended_early", exit_code_of_container=code))
    return replace(observed, detail=say("container_ended", why=observed.detail, exit_code_of_container=code))
