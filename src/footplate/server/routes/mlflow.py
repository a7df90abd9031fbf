"""The calls of MLflow's clients, as its REST API has them; runs are begun in jobs, and belong to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse

from footplate.domain.errors import FootplateError, NotFound
from footplate.domain.metrics import Point
from footplate.server.parts import Parts, parts_of
from footplate.server.routes import mlflowmodels
from footplate.server.routes.mlflowcalls import Calls, Data, refused, who
from footplate.services import trackedartifacts, tracking
from footplate.services.access import Caller
from footplate.services.trackedmodels import shown_tags
from footplate.services.tracking import SeenRun
from footplate.services.trackingsearch import search
from footplate.store.trackedruns import Experiment

router = APIRouter(include_in_schema=False)
ARTIFACTS = "/api/2.0/mlflow-artifacts/artifacts"
_VIEWS = {1: "ACTIVE_ONLY", 2: "DELETED_ONLY", 3: "ALL"}
_route = Calls(router)


# Experiments


def _experiment(one: Experiment) -> Data:
    at = round(one.created_at * 1000)
    return {
        "experiment_id": one.id,
        "name": one.name,
        "artifact_location": "mlflow-artifacts:/",
        "lifecycle_stage": "active",
        "creation_time": at,
        "last_update_time": at,
        "tags": [],
    }


@_route("experiments/create")
async def create_experiment(parts: Parts, _caller: Caller, _task: str, asked: Data) -> Data:
    made = await tracking.add_experiment(parts.platform, str(asked.get("name", "")))
    return {"experiment_id": made.id}


@_route("experiments/get", "GET")
async def get_experiment(parts: Parts, _caller: Caller, _task: str, asked: Data) -> Data:
    found = await tracking.experiment(parts.platform, str(asked.get("experiment_id", "")))
    return {"experiment": _experiment(found)}


@_route("experiments/get-by-name", "GET")
async def experiment_by_name(parts: Parts, _caller: Caller, _task: str, asked: Data) -> Data:
    found = await tracking.experiment_named(parts.platform, str(asked.get("experiment_name", "")))
    return {"experiment": _experiment(found)}


@_route("experiments/search", "GET", "POST")
async def search_experiments(parts: Parts, _caller: Caller, _task: str, _asked: Data) -> Data:
    every = parts.platform.runs.experiments().values()
    return {"experiments": [_experiment(one) for one in every]}


@_route("experiments/set-experiment-tag")
async def tag_experiment(_parts: Parts, _caller: Caller, _task: str, _asked: Data) -> Data:
    return {}


# Runs


def _run(seen: SeenRun) -> Data:
    run = seen.run
    info = {
        "run_id": run.id,
        "run_uuid": run.id,
        "run_name": run.name,
        "experiment_id": run.experiment,
        "user_id": seen.owner,
        "status": run.status,
        "start_time": round(run.started_at * 1000),
        "artifact_uri": f"mlflow-artifacts:/{run.id}/artifacts",
        "lifecycle_stage": "deleted" if run.is_deleted else "active",
    }
    if run.ended_at is not None:
        info["end_time"] = round(run.ended_at * 1000)
    data = {
        "metrics": [_metric(name, point) for name, point in seen.metrics.items()],
        "params": [{"key": name, "value": value} for name, value in run.params.items()],
        "tags": [{"key": name, "value": value} for name, value in shown_tags(run).items()],
    }
    return {"info": info, "data": data, "inputs": {}}


def _metric(name: str, point: Point) -> Data:
    value: float | str = point.value
    if value != value or value in (float("inf"), float("-inf")):
        value = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    return {"key": name, "value": value, "timestamp": round(point.at * 1000), "step": point.step or 0}


def _id(asked: Mapping[str, Any]) -> str:
    return str(asked.get("run_id") or asked.get("run_uuid") or "")


@_route("runs/create")
async def create_run(parts: Parts, caller: Caller, task: str, asked: Data) -> Data:
    return {"run": _run(await tracking.begin(parts.platform, caller, task, asked))}


@_route("runs/get", "GET")
async def get_run(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    return {"run": _run(await tracking.see(parts.platform, caller, _id(asked)))}


@_route("runs/update")
async def update_run(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    return {"run_info": _run(await tracking.update(parts.platform, caller, asked))["info"]}


@_route("runs/delete")
async def delete_run(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await tracking.mark_deleted(parts.platform, caller, _id(asked), True)
    return {}


@_route("runs/restore")
async def restore_run(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await tracking.mark_deleted(parts.platform, caller, _id(asked), False)
    return {}


@_route("runs/log-metric")
async def log_metric(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await tracking.note(parts.platform, caller, _id(asked), {"metrics": [asked]})
    return {}


@_route("runs/log-parameter")
async def log_parameter(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await tracking.note(parts.platform, caller, _id(asked), {"params": [asked]})
    return {}


@_route("runs/set-tag")
async def set_tag(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await tracking.note(parts.platform, caller, _id(asked), {"tags": [asked]})
    return {}


@_route("runs/delete-tag")
async def delete_tag(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await tracking.note(parts.platform, caller, _id(asked), {"tags": [{"key": asked["key"], "value": None}]})
    return {}


@_route("runs/log-batch")
async def log_batch(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    await tracking.note(parts.platform, caller, _id(asked), asked)
    return {}


@_route("runs/log-inputs")
async def log_inputs(_parts: Parts, _caller: Caller, _task: str, _asked: Data) -> Data:
    return {}


@_route("runs/search")
async def search_runs(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    ids = [str(one) for one in asked.get("experiment_ids", [])]
    runs = await tracking.runs_in(parts.platform, caller, ids)
    view = asked.get("run_view_type", "ACTIVE_ONLY")
    view = _VIEWS.get(view, "ACTIVE_ONLY") if isinstance(view, int) else str(view)
    found = search(runs, str(asked.get("filter") or ""), asked.get("order_by") or [], view)
    begin, most = int(asked.get("page_token") or 0), min(int(asked.get("max_results") or 1000), 50_000)
    page: Data = {"runs": [_run(one) for one in found[begin : begin + most]]}
    if begin + most < len(found):
        page["next_page_token"] = str(begin + most)
    return page


@_route("metrics/get-history", "GET")
async def metric_history(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    key = str(asked.get("metric_key", ""))
    points = await tracking.history(parts.platform, caller, _id(asked), key)
    begin, most = int(asked.get("page_token") or 0), int(asked.get("max_results") or 25_000)
    page: Data = {"metrics": [_metric(key, point) for point in points[begin : begin + most]]}
    if begin + most < len(points):
        page["next_page_token"] = str(begin + most)
    return page


# Artifacts


@_route("artifacts/list", "GET")
async def list_artifacts(parts: Parts, caller: Caller, _task: str, asked: Data) -> Data:
    run_id = _id(asked)
    files = await trackedartifacts.entries(parts.platform, caller, run_id, str(asked.get("path", "")))
    return {"root_uri": f"mlflow-artifacts:/{run_id}/artifacts", "files": files}


@router.get(ARTIFACTS)
async def list_by_path(request: Request, path: str = "") -> Response:
    try:
        caller, _ = await who(request)
        if mlflowmodels.is_model(path):
            return JSONResponse({"files": await mlflowmodels.entries(parts_of(request), caller, path)})
        run_id, inner = _place(path)
        files = await trackedartifacts.entries(parts_of(request).platform, caller, run_id, inner)
    except FootplateError as error:
        return refused(error)
    # Below the path that was asked for.
    named = [{**one, "path": one["path"].rpartition("/")[2]} for one in files]
    return JSONResponse({"files": named})


@router.put(ARTIFACTS + "/{path:path}")
async def upload(request: Request, path: str) -> Response:
    try:
        caller, _ = await who(request)
        run_id, inner = _place(path)
        await trackedartifacts.write(parts_of(request).platform, caller, run_id, inner, request.stream())
    except FootplateError as error:
        return refused(error)
    return JSONResponse({})


@router.get(ARTIFACTS + "/{path:path}")
async def download(request: Request, path: str) -> Response:
    try:
        caller, _ = await who(request)
        if mlflowmodels.is_model(path):
            return FileResponse(await mlflowmodels.locate_file(parts_of(request), caller, path))
        run_id, inner = _place(path)
        content = await trackedartifacts.read(parts_of(request).platform, caller, run_id, inner)
    except FootplateError as error:
        return refused(error)
    return StreamingResponse(content, media_type="application/octet-stream")


def _place(path: str) -> tuple[str, str]:
    run_id, _, rest = path.strip("/").partition("/")
    folder, _, inner = rest.partition("/")
    if folder != "artifacts":
        raise NotFound("no_run", run=run_id[:80])
    return run_id, inner
