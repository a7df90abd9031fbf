"""What TI-ONE offers by name: machines, frameworks and images for inference.

The names of its own walkthrough are here, so that scripts that were written along it find them. A machine of
these is as large as it says where the platform has so much, and smaller where it has not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from footplate.dialects.prices import Prices
from footplate.domain.choices import Framework, InstanceType
from footplate.domain.resources import GIB, Resources

MODES = ("PS_WORKER", "DDP", "MPI", "HOROVOD", "SPARK", "RAY")
# The walkthrough's machine with a V100, one with two of a smaller card, and two without any.
EXAMPLE_TYPES = (
    InstanceType("TI.GN10.2XLARGE40.POST", 8000, 40 * GIB, 1, "V100", description="8C40G V100*1"),
    InstanceType("TI.GN7.5XLARGE80.POST", 20_000, 80 * GIB, 1, "T4", description="20C80G T4*1"),
    InstanceType("TI.S.LARGE.POST", 4000, 8 * GIB, description="4C8G"),
    InstanceType("TI.S.MEDIUM.POST", 2000, 4 * GIB, description="2C4G"),
)
EXAMPLE_FRAMEWORKS = (
    Framework("PYTORCH", "torch1.9-py3.8-cuda11.1-gpu"),
    Framework("TENSORFLOW", "tf2.4-py3.8-cuda11.1-gpu"),
)
_MODES_OF = {"PYTORCH": ("DDP", "MPI", "HOROVOD"), "TENSORFLOW": ("PS_WORKER", "MPI", "HOROVOD")}
BY_HOUR = "POSTPAID_BY_HOUR"


@dataclass(frozen=True, slots=True)
class Image:
    """An image that models are served in."""

    name: str
    url: str
    framework: str
    version: str

    @property
    def id(self) -> str:
        return f"img-{self.name}"


EXAMPLE_IMAGES = (
    Image("torch1.9.0-py38-cu111", "footplate.local/infer/torch:1.9.0-py38-cu111", "PYTORCH", "1.9.0"),
    Image("tf2.4.0-py38-cu111", "footplate.local/infer/tensorflow:2.4.0-py38-cu111", "TENSORFLOW", "2.4.0"),
)


@dataclass(frozen=True, slots=True)
class Offer:
    """What a client can choose from: the platform's own first, then the examples that it has not."""

    types: Mapping[str, InstanceType]
    frameworks: Sequence[Framework]
    images: Sequence[Image]
    prices: Prices
    examples: frozenset[str] = frozenset()


def offer(
    types: Mapping[str, InstanceType],
    frameworks: Iterable[Framework],
    images: Iterable[Image],
    prices: Prices,
    has_examples: bool,
) -> Offer:
    """Gather what there is; examples give way to what admins have named alike."""
    known = dict(types)
    own = list(frameworks)
    served = list(images)
    examples: set[str] = set()
    if has_examples:
        examples = {one.name for one in EXAMPLE_TYPES if one.name not in known}
        known |= {one.name: one for one in EXAMPLE_TYPES if one.name in examples}
        versions = {one.version for one in own}
        own += [one for one in EXAMPLE_FRAMEWORKS if one.version not in versions]
        names = {one.name for one in served}
        served += [one for one in EXAMPLE_IMAGES if one.name not in names]
    return Offer(known, own, served, prices, frozenset(examples))


def framework_infos(frameworks: Iterable[Framework]) -> list[dict[str, Any]]:
    """The frameworks by name, each with its environments."""
    found: dict[str, list[Framework]] = {}
    for one in frameworks:
        found.setdefault(one.name.upper(), []).append(one)
    return [
        {"Name": name, "VersionInfos": [_version(name, one) for one in versions]}
        for name, versions in found.items()
    ]


def _version(name: str, one: Framework) -> dict[str, Any]:
    modes = list(_MODES_OF.get(name, MODES))
    return {"Version": one.version, "Environment": one.version, "TrainingModes": modes}


def spec_view(one: InstanceType, fits: bool) -> dict[str, Any]:
    return {
        "SpecId": one.name,
        "SpecName": one.name,
        "SpecAlias": one.description or size_text(one.resources, one.gpu_type),
        **amounts(one.resources, one.gpu_type),
        "GpuMemory": 0,
        "Available": fits,
        "SpecFeatures": [],
    }


def size_text(size: Resources, gpu_type: str) -> str:
    cards = f" {gpu_type or 'GPU'}*{size.gpus}" if size.gpus else ""
    return f"{size.milli_cpus / 1000:g}C{round(size.memory_bytes / GIB)}G{cards}"


def amounts(size: Resources, gpu_type: str) -> dict[str, Any]:
    """A size in the units of TI-ONE: thousandths of a CPU, MB, hundredths of a card."""
    return {
        "Cpu": size.milli_cpus,
        "Memory": round(size.memory_bytes / 1024**2),
        "Gpu": size.gpus * 100,
        "GpuType": gpu_type if size.gpus else "",
    }


def price_view(one: InstanceType, count: int, prices: Prices) -> dict[str, Any]:
    cost = prices.per_hour(one.resources) * count
    return {"SpecName": one.name, "SpecCount": count, "TotalCost": cost, "RealTotalCost": cost}


def image_view(one: Image) -> dict[str, Any]:
    return {
        "ImageId": one.id,
        "ImageName": one.name,
        "ImageUrl": one.url,
        "ImageType": "SYSTEM",
        "Framework": one.framework,
        "FrameworkVersion": one.version,
        "ImageRange": ["Inference"],
        "SupportGpuList": [],
        "Description": "",
        "ContentUrl": "",
    }


def infer_templates(images: Iterable[Image]) -> list[dict[str, Any]]:
    """The images as older clients ask for them."""
    return [
        {
            "Framework": one.framework,
            "FrameworkVersion": one.version,
            "Groups": [],
            "InferTemplates": [{"InferTemplateId": one.name, "InferTemplateImage": one.url}],
        }
        for one in images
    ]


def fitted(one: InstanceType, room: Resources | None, n_tasks: int) -> InstanceType:
    """Cut an example to what so many tasks find on the machines, all at once; room may be unknown."""
    share = max(1, n_tasks)
    if room is None:
        return replace(one, gpu_type="")
    return replace(
        one,
        milli_cpus=max(100, min(one.milli_cpus, room.milli_cpus // share)),
        memory_bytes=max(64 * 1024**2, min(one.memory_bytes, room.memory_bytes * 3 // 4 // share)),
        gpus=min(one.gpus, room.gpus // share),
        # What stands in for a card need not be of its type.
        gpu_type="",
    )
