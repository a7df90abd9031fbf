"""The cluster of OpenPAI: its version, virtual clusters, storages, nodes and pods."""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from footplate.dialects.pai import views
from footplate.domain.job import Job, Task
from footplate.domain.kinds import show_instant
from footplate.domain.messages import say
from footplate.domain.resources import MIB, UNLIMITED, Resources, total
from footplate.domain.storage import Access, Storage, StorageKind
from footplate.server.auth import Wired
from footplate.server.parts import Parts
from footplate.server.routes.compat.paiedge import Admin, AdminPerson, Anyone, PaiRoute, Reader, Refused
from footplate.services import queues, storages
from footplate.services.alerts.holding import holding
from footplate.services.queues import QueueUse

router = APIRouter(route_class=PaiRoute)
INFO = {"name": "PAI RESTful API", "version": "v1.8.0", "launcherType": "k8s", "authnMethod": "basic"}
ANY = ["GET", "POST", "PUT", "DELETE"]
_KINDS = {StorageKind.FOLDER: "other", StorageKind.S3: "other", StorageKind.HTTP: "other"}


@router.api_route("/v1", methods=ANY)
@router.api_route("/v1/", methods=ANY)
@router.get("/v2/info")
async def info() -> dict[str, str]:
    return INFO


@router.api_route("/v2", methods=ANY)
@router.api_route("/v2/", methods=ANY)
async def greeting() -> Response:
    return PlainTextResponse("PAI RESTful API v2\n")


# Virtual clusters


def _amount(held: Resources) -> dict[str, Any]:
    cpus = held.milli_cpus / 1000
    cpu = int(cpus) if cpus == int(cpus) else cpus
    memory = held.memory_bytes // MIB
    return {"cpu": cpu, "vCores": cpu, "memory": memory, "gpu": held.gpus, "GPUs": held.gpus}


def _percent(part: Resources, whole: Resources) -> float:
    if whole.gpus:
        return round(100 * part.gpus / whole.gpus, 2)
    return round(100 * part.milli_cpus / whole.milli_cpus, 2) if whole.milli_cpus else 0.0


def _whole(parts: Parts, use: QueueUse) -> tuple[Resources, Resources]:
    """What the machines have, and what a queue may have of it."""
    whole = total(node.capacity for node in parts.platform.cluster.nodes)
    allowed = total(node.capacity for node in queues.nodes_of(parts.platform, use.queue))
    most = use.queue.maximum
    if most is None:
        return whole, allowed

    def least(one: int, bound: int) -> int:
        return one if bound == UNLIMITED else min(one, bound)

    bounded = Resources(
        least(allowed.milli_cpus, most.milli_cpus),
        least(allowed.memory_bytes, most.memory_bytes),
        least(allowed.gpus, most.gpus),
    )
    return whole, bounded


def _show_queue(parts: Parts, use: QueueUse, is_v1: bool) -> dict[str, Any]:
    whole, most = _whole(parts, use)
    view: dict[str, Any] = {
        "capacity": _percent(use.queue.share, whole),
        "usedCapacity": _percent(use.used, whole),
        "maxCapacity": _percent(most, whole),
        "dedicated": bool(use.queue.nodes),
        "resourcesUsed": _amount(use.used),
        "resourcesGuaranteed": _amount(use.queue.share),
        "resourcesTotal": _amount(most),
    }
    if not is_v1:
        return view
    return view | {
        "numJobs": use.n_running + use.n_waiting,
        "numActiveJobs": use.n_running,
        "numPendingJobs": use.n_waiting,
        "nodeList": list(use.queue.nodes),
        "status": "RUNNING" if use.queue.is_open else "STOPPED",
    }


@router.get("/v2/virtual-clusters")
async def clusters(request: Request, parts: Wired, who: Anyone) -> dict[str, Any]:
    if "nodes" in request.query_params:
        return {use.node.name: _cards(use) for use in queues.node_uses(parts.platform)}
    uses = queues.all_visible(parts.platform, who.caller)
    return {use.queue.name: _show_queue(parts, use, is_v1=False) for use in uses}


def _cards(use: queues.NodeUse) -> dict[str, int]:
    n_all, n_used = len(use.node.gpus), use.used.gpus
    return {"gpuUsed": n_used, "gpuAvailable": n_all - n_used, "gpuTotal": n_all}


@router.get("/v1/virtual-clusters")
async def clusters_v1(parts: Wired, who: Reader) -> dict[str, Any]:
    uses = queues.all_visible(parts.platform, who.caller)
    return {use.queue.name: _show_queue(parts, use, is_v1=True) for use in uses}


def _checked(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,63}", name):
        raise Refused(400, "InvalidParametersError", f"{name[:64]} is not a name of a virtual cluster")
    return name


@router.get("/v2/virtual-clusters/{name}")
async def cluster(parts: Wired, who: Anyone, name: str) -> dict[str, Any]:
    return _show_queue(parts, queues.find(parts.platform, who.caller, _checked(name)), is_v1=False)


@router.get("/v1/virtual-clusters/{name}")
async def cluster_v1(parts: Wired, who: Reader, name: str) -> dict[str, Any]:
    return _show_queue(parts, queues.find(parts.platform, who.caller, _checked(name)), is_v1=True)


@router.api_route("/v2/virtual-clusters/{name}", methods=["PUT", "DELETE"])
@router.api_route("/v1/virtual-clusters/{name}", methods=["PUT", "DELETE"])
@router.put("/v2/virtual-clusters/{name}/status")
@router.put("/v1/virtual-clusters/{name}/status")
async def change_cluster(_who: AdminPerson, name: str) -> Response:
    """Refuse, as a cluster of that kind does: shares are set by the platform's own means."""
    if _checked(name) == "default":
        raise Refused(403, "ForbiddenUserError", "Update operation to default vc isn't allowed")
    raise Refused(400, "NotImplementedError", str(say("clusters_are_queues")))


@router.get("/v2/cluster/sku-types")
@router.get("/v2/virtual-clusters/{name}/sku-types")
async def sku_types(parts: Wired, _who: Anyone, name: str = "") -> dict[str, Any]:  # noqa: ARG001
    return {
        one.name: {"gpu": one.gpus, "cpu": one.milli_cpus / 1000, "memory": f"{one.memory_bytes // MIB}Mi"}
        for one in parts.platform.choices.types.values()
    }


# Storages


def _data_of(storage: Storage) -> dict[str, Any]:
    if storage.kind is StorageKind.S3:
        return {"endpoint": storage.endpoint, "bucket": storage.bucket, "prefix": storage.prefix}
    return {"endpoint": storage.endpoint} if storage.kind is StorageKind.HTTP else {}


@router.get("/v2/storages")
async def all_storages(request: Request, parts: Wired, who: Anyone) -> dict[str, Any]:
    only_default = request.query_params.get("default") == "true"
    found = [] if only_default else storages.all_usable(parts.platform, who.caller)
    listed = [
        {"name": one.name, "share": not one.per_user, "volumeName": one.name, "default": False}
        for one, _ in found
    ]
    return {"storages": listed}


@router.get("/v2/storages/{name}")
async def one_storage(parts: Wired, who: Anyone, name: str) -> dict[str, Any]:
    storage, access = storages.one_usable(parts.platform, who.caller, name)
    return {
        "name": storage.name,
        "share": not storage.per_user,
        "volumeName": storage.name,
        "type": _KINDS[storage.kind],
        "data": _data_of(storage),
        "readOnly": access is Access.READ,
    }


# Kubernetes


@router.get("/v2/kubernetes/nodes")
@router.get("/v1/kubernetes/nodes")
async def nodes(parts: Wired, _who: Admin) -> dict[str, Any]:
    return _list("Node", [_node(use) for use in queues.node_uses(parts.platform)])


def _list(kind: str, items: list[Any]) -> dict[str, Any]:
    return {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {"resourceVersion": "0"}, "items": items}


def _node(use: queues.NodeUse) -> dict[str, Any]:
    node = use.node
    amounts = {
        "cpu": f"{node.milli_cpus}m",
        "memory": f"{node.memory_bytes // 1024}Ki",
        "nvidia.com/gpu": str(len(node.gpus)),
    }
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    return {
        "metadata": {"name": node.name, "labels": {"kubernetes.io/hostname": node.name}},
        "spec": {} if node.is_schedulable else {"unschedulable": True},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [ready],
            "addresses": [
                {"type": "InternalIP", "address": node.address},
                {"type": "Hostname", "address": node.name},
            ],
        },
    }


@router.get("/v2/kubernetes/pods")
@router.get("/v1/kubernetes/pods")
async def pods(request: Request, parts: Wired, _who: Admin) -> dict[str, Any]:
    wanted = request.query_params.get("namespace", "default")
    living = list(parts.platform.store.board.values()) if wanted == "default" else []
    return _list("Pod", [_pod(job, task) for job in living for task in job.tasks if task.node])


def _pod(job: Job, task: Task) -> dict[str, Any]:
    role = job.spec.role(task.role)
    asked = {
        "cpu": f"{role.milli_cpus}m",
        "memory": f"{role.memory_bytes // MIB}Mi",
        "nvidia.com/gpu": str(role.gpus),
    }
    labels = {"userName": job.owner, "jobName": job.spec.name, "virtualCluster": job.spec.queue}
    return {
        "metadata": {
            "name": f"{job.id}-{task.name}",
            "namespace": "default",
            "labels": {**labels, "FC_TASKROLE_NAME": task.role, "FC_TASK_INDEX": str(task.index)},
        },
        "spec": {
            "nodeName": task.node,
            "containers": [
                {"name": "app", "image": role.image or job.spec.image, "resources": {"limits": asked}}
            ],
        },
        "status": {"phase": "Running" if task.started_at else "Pending", "podIP": task.address},
    }


@router.get("/v2/alerts")
async def alerts(parts: Wired, who: Anyone) -> Response:
    """What is wrong just now: admins see all of it, others what is wrong with their jobs."""
    root, now = parts.settings.url, parts.platform.clock.now()
    found = await holding(parts.platform, who.caller)
    listed = [
        views.alert_view(
            one.on,
            one.level,
            str(one.said),
            one.subject,
            show_instant(one.since or now),
            one.job,
            f"{root}/jobs/{one.job.id}" if one.job else root,
        )
        for one in found
    ]
    return JSONResponse(listed)
