"""What a job did before it ran, read from its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from footplate.domain.messages import as_json
from footplate.sdk.errors import message_in


def steps_of(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Gather steps from events: of each its last word, which says whether it is done and how long it took."""
    steps: dict[tuple[str, int], dict[str, Any]] = {}
    n_done: Counter[str] = Counter()
    for event in events:
        name, is_done = str(event["data"].get("step", "")), event["kind"] == "step"
        said = message_in(event)
        # How long a step took is told beside it.
        what = said.params["what"] if said.code == "step_done" else said
        steps[name, n_done[name]] = {
            "step": name,
            "at": event["at"],
            "is_done": is_done,
            "seconds": event["data"].get("seconds"),
            "message": str(what),
            "message_code": what.code,
            "params": as_json(what.params),
        }
        n_done[name] += is_done
    return list(steps.values())
