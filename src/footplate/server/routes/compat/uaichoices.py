"""What UAI-Train's tools ask before they make a job: ways to train, nodes, places for data, packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from footplate.dialects.uai import catalogue
from footplate.dialects.uai.jobs import Offer, whole
from footplate.domain.errors import InvalidInput, NotFound
from footplate.domain.spec import DEFAULT_QUEUE
from footplate.server.parts import Parts
from footplate.services import cloudtasks
from footplate.services.access import Caller

Answer = dict[str, Any]
Parameters = Mapping[str, str]


def offer_of(parts: Parts) -> Offer:
    known, clouds = parts.platform.choices.types, parts.settings.clouds
    types = catalogue.types_of(known, clouds.examples)
    examples = frozenset(one.name for one in types.values() if one.name not in known)
    return Offer(types, examples, cloudtasks.room_of(parts.platform, DEFAULT_QUEUE))


async def modes(_parts: Parts, _caller: Caller, _asked: Parameters) -> Answer:
    return {"DataItem": catalogue.modes()}


async def resources(parts: Parts, _caller: Caller, asked: Parameters) -> Answer:
    if asked.get("NodeType", "Work") not in ("Work", "PS"):
        raise InvalidInput("not_a_choice", "NodeType", options=["Work", "PS"], given=asked["NodeType"][:64])
    prices = parts.settings.clouds.prices
    nodes = [catalogue.node_view(number, one, prices) for number, one in offer_of(parts).types.items()]
    return {"TotalCount": len(nodes), "DataSet": nodes}


async def backends(_parts: Parts, _caller: Caller, _asked: Parameters) -> Answer:
    return {"DataItem": catalogue.backends()}


async def frameworks(_parts: Parts, _caller: Caller, _asked: Parameters) -> Answer:
    return {"DataItem": catalogue.frameworks()}


async def amounts(parts: Parts, _caller: Caller, _asked: Parameters) -> Answer:
    clouds = parts.settings.clouds
    return {"SetName": "DistributeWorkAmount", "Min": clouds.nodes_least, "Max": clouds.nodes_most}


async def hours(parts: Parts, _caller: Caller, _asked: Parameters) -> Answer:
    return {"SetName": "MaxExecTime", "Min": 1, "Max": parts.settings.clouds.hours_most}


async def packages(_parts: Parts, _caller: Caller, asked: Parameters) -> Answer:
    kind = asked.get("PkgType", "")
    if kind not in catalogue.PACKAGES:
        raise InvalidInput("not_a_choice", "PkgType", options=list(catalogue.PACKAGES), given=kind[:64])
    found = catalogue.packages(kind)
    return {"TotalCount": len(found), "DataSet": found}


_NUMBERS = {
    "OS": "OSVersion",
    "Python": "PythonVersion",
    "AIFrame": "AIFrameVersion",
    "Accelerator": "AcceleratorID",
}


async def base_image(_parts: Parts, _caller: Caller, asked: Parameters) -> Answer:
    image = catalogue.base_image({kind: whole(asked, name) for kind, name in _NUMBERS.items()})
    if image is None:
        raise NotFound("image_unknown", image="of these packages")
    return {"TotalCount": 1, "BimgName": [image], "BimgPullCmd": [f"docker pull {image}"]}


ACTIONS = {
    "GetUAITrainAvailableTrainMode": modes,
    "GetUAITrainAvailableResource": resources,
    "GetUAITrainAvailableBackend": backends,
    "GetUAITrainAvailableDistAIFramework": frameworks,
    "GetUAITrainDistributeWorkAmountRange": amounts,
    "GetUAITrainMaxExecTimeRange": hours,
    "GetUAITrainEnvPkg": packages,
    "CheckUAITrainBaseImgExists": base_image,
}
