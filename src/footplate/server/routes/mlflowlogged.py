"""The models that runs of MLflow's clients log, as its REST API has them."""

from __future__ import annotations

from fastapi import APIRouter

from footplate.server.parts import Parts
from footplate.server.routes.mlflowcalls import Calls, Data
from footplate.services import trackedmodels
from footplate.services.access import Caller
from footplate.services.trackedmodels import Found, id_of

router = APIRouter(include_in_schema=False)
_route = Calls(router)


def _view(found: Found) -> Data:
    run, model = found
    info = {
        "model_id": id_of(run, model),
        "experiment_id": run.experiment,
        "name": model.name,
        "creation_timestamp_ms": round(model.at * 1000),
        "last_updated_timestamp_ms": round(model.at * 1000),
        "artifact_uri": f"mlflow-artifacts:/{run.id}/artifacts/{model.folder}",
        "status": model.status,
        "model_type": model.kind,
        "source_run_id": run.id,
        "tags": [{"key": key, "value": value} for key, value in model.tags.items()],
    }
    params = [{"key": key, "value": value} for key, value in model.params.items()]
    return {"info": info, "data": {"params": params, "metrics": []}}


@_route("logged-models")
async def create(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    return {"model": _view(await trackedmodels.create(parts.platform, caller, asked))}


@_route("logged-models/search")
async def search(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    ids = [str(one) for one in asked.get("experiment_ids", [])]
    found = await trackedmodels.search(parts.platform, caller, ids, str(asked.get("filter") or ""))
    return {"models": [_view(one) for one in found]}


@_route("logged-models/{model_id}", "GET")
async def show(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    return {"model": _view(await trackedmodels.find(parts.platform, caller, asked["model_id"]))}


@_route("logged-models/{model_id}", "PATCH")
async def finish(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    done = await trackedmodels.finish(parts.platform, caller, asked["model_id"], asked.get("status"))
    return {"model": _view(done)}


@_route("logged-models/{model_id}", "DELETE")
async def remove(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await trackedmodels.remove(parts.platform, caller, asked["model_id"])
    return {}


@_route("logged-models/{model_id}/params")
async def add_params(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await trackedmodels.describe(parts.platform, caller, asked["model_id"], params=asked.get("params"))
    return {}


@_route("logged-models/{model_id}/tags", "PATCH")
async def set_tags(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await trackedmodels.describe(parts.platform, caller, asked["model_id"], tags=asked.get("tags"))
    return {}


@_route("logged-models/{model_id}/tags/{key}", "DELETE")
async def remove_tag(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await trackedmodels.describe(parts.platform, caller, asked["model_id"], without=[asked["key"]])
    return {}


@_route("runs/outputs")
async def log_outputs(_parts: Parts, _caller: Caller, _task: str, _asked: Data) -> Data:
    """A model that a run logs names the run itself."""
    return {}
