"""Which of a job's results were saved, and how its files looked then; no task can write there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from footplate.storages.saving import Saved


def read(record: Path) -> Mapping[str, Saved]:
    """What was saved, by path; a record that is missing or spoilt counts as none."""
    try:
        return {one["path"]: Saved(**one) for one in json.loads(record.read_text())}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def write(record: Path, saved: Iterable[Saved]) -> None:
    """Replace the record as a whole."""
    draft = record.with_name(f"{record.name}.part")
    record.parent.mkdir(parents=True, exist_ok=True)
    draft.write_text(json.dumps([asdict(one) for one in saved]))
    draft.replace(record)
