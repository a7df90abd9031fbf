"""Models that runs of MLflow's clients have logged: artifacts of the run, and what is said of them.

What is said is kept with the run, as a tag that nobody is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from footplate.domain.errors import InvalidInput, NotFound
from footplate.services import tracking
from footplate.services.access import Caller
from footplate.services.platform import Platform
from footplate.store.trackedruns import TrackedRun

TAG = "footplate.model."
_ID = re.compile(r"m-(?P<run>[0-9a-z]+-[0-9]+)-(?P<number>[0-9]{1,6})")
_NAME = re.compile(r"[^/:.%\"'\0][^/:%\"'\0]{0,199}")
_BY_NAME = re.compile(r"\s*(?:attributes\.)?name\s*=\s*'(?P<name>[^']*)'\s*")
READY = "LOGGED_MODEL_READY"
STATUSES = {0: "LOGGED_MODEL_STATUS_UNSPECIFIED", 1: "LOGGED_MODEL_PENDING", 2: READY}


@dataclass(frozen=True, slots=True)
class LoggedModel:
    """A model as a run has logged it; `folder` is where it lies among the artifacts of the run."""

    number: int
    name: str
    folder: str
    at: float
    kind: str = ""
    status: str = "LOGGED_MODEL_PENDING"
    params: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)


Found = tuple[TrackedRun, LoggedModel]


def id_of(run: TrackedRun, model: LoggedModel) -> str:
    return f"m-{run.id}-{model.number}"


def models_of(run: TrackedRun) -> list[LoggedModel]:
    """The models of a run, oldest first."""
    found = [LoggedModel(**json.loads(text)) for key, text in run.tags.items() if key.startswith(TAG)]
    return sorted(found, key=lambda one: one.number)


def shown_tags(run: TrackedRun) -> dict[str, str]:
    """The tags of a run without those that keep its models."""
    return {key: value for key, value in run.tags.items() if not key.startswith(TAG)}


async def create(platform: Platform, caller: Caller, asked: Mapping[str, Any]) -> Found:
    seen = await tracking.see(platform, caller, str(asked.get("source_run_id") or ""))
    known = models_of(seen.run)
    number = known[-1].number + 1 if known else 1
    name = str(asked.get("name") or f"model-{number}")
    if not _NAME.fullmatch(name):
        raise InvalidInput("not_logged_name", "name", given=name[:80])
    folder = f"{name}-{number}" if any(one.name == name for one in known) else name
    made = LoggedModel(
        number,
        name,
        folder,
        platform.clock.now(),
        str(asked.get("model_type") or ""),
        params=_pairs(asked.get("params")),
        tags=_pairs(asked.get("tags")),
    )
    return await _keep(platform, caller, seen.run, made)


def _pairs(asked: Any) -> dict[str, str]:
    return {str(one["key"]): str(one.get("value", "")) for one in asked or ()}


async def _keep(platform: Platform, caller: Caller, run: TrackedRun, model: LoggedModel) -> Found:
    tag = {"key": f"{TAG}{model.number}", "value": json.dumps(asdict(model))}
    await tracking.note(platform, caller, run.id, {"tags": [tag]})
    seen = await tracking.see(platform, caller, run.id)
    return seen.run, model


async def find(platform: Platform, caller: Caller, model_id: str) -> Found:
    read = _ID.fullmatch(model_id)
    if read is None:
        raise NotFound("model_unknown", model=model_id[:128])
    seen = await tracking.see(platform, caller, read["run"])
    for one in models_of(seen.run):
        if one.number == int(read["number"]):
            return seen.run, one
    raise NotFound("model_unknown", model=model_id[:128])


async def finish(platform: Platform, caller: Caller, model_id: str, status: Any) -> Found:
    run, model = await find(platform, caller, model_id)
    named = STATUSES.get(status, READY) if isinstance(status, int) else str(status)[:64]
    return await _keep(platform, caller, run, replace(model, status=named))


async def describe(
    platform: Platform,
    caller: Caller,
    model_id: str,
    params: Any = (),
    tags: Any = (),
    without: Sequence[str] = (),
) -> Found:
    """Add params and tags, and take tags away."""
    run, model = await find(platform, caller, model_id)
    kept = {key: value for key, value in {**model.tags, **_pairs(tags)}.items() if key not in without}
    changed = replace(model, params={**model.params, **_pairs(params)}, tags=kept)
    return await _keep(platform, caller, run, changed)


async def remove(platform: Platform, caller: Caller, model_id: str) -> None:
    """Forget a model; its files stay among the artifacts of the run."""
    run, model = await find(platform, caller, model_id)
    await tracking.note(platform, caller, run.id, {"tags": [{"key": f"{TAG}{model.number}", "value": None}]})


async def search(platform: Platform, caller: Caller, experiments: Sequence[str], wanted: str) -> list[Found]:
    """The models of some experiments that the caller may see, of one name or of all."""
    read = _BY_NAME.fullmatch(wanted) if wanted.strip() else None
    if wanted.strip() and read is None:
        raise InvalidInput("not_model_filter", "filter", given=wanted[:80])
    runs = await tracking.runs_in(platform, caller, experiments)
    found = [(seen.run, one) for seen in runs for one in models_of(seen.run)]
    return [one for one in found if read is None or one[1].name == read["name"]]
