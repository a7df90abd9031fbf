"""What UAI-Train offers by number: ways to train, nodes, places for data, frameworks and packages."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from footplate.dialects.prices import Prices
from footplate.domain.choices import InstanceType
from footplate.domain.resources import GIB

ALONE, DISTRIBUTED = 101, 102
MODES = {ALONE: "StandAlone", DISTRIBUTED: "Distributed"}
UFILE, UFS = 201, 202
BACKENDS = {
    UFILE: ("UFile", r"^https?://[a-z0-9-]+\.[a-z0-9.-]*(ufile\.ucloud\.(com\.)?cn|ufileos\.com)/.*/?$"),
    UFS: ("UFS", r"^[0-9.]+:/[A-Za-z0-9-]+/.*$"),
}
FRAMEWORKS = {301: "tensorflow", 302: "pytorch", 303: "mxnet", 304: "caffe", 305: "keras"}
# Those whose programs read a master and parameter servers from TF_CONFIG.
WITH_SERVERS = frozenset({301, 305})
EXAMPLE_TYPES = tuple(
    InstanceType(f"{count}-{card}", 4000 * count, 32 * GIB * count, count, card)
    for card in ("P40", "K80")
    for count in (1, 2, 4)
)
PACKAGES: Mapping[str, tuple[tuple[int, str, str], ...]] = {
    "OS": ((401, "ubuntu", "14.04.05"), (402, "ubuntu", "16.04")),
    "Python": ((411, "python", "2.7.6"), (412, "python", "3.6.2")),
    "AIFrame": (
        (421, "tensorflow", "1.1.0"),
        (422, "tensorflow", "1.6.0"),
        (423, "pytorch", "0.2.0"),
        (424, "mxnet", "1.0.0"),
        (425, "keras", "2.0.8"),
        (426, "caffe", "1.0.0"),
    ),
    "Accelerator": ((431, "gpu", ""), (432, "cpu", "")),
}


def types_of(known: Mapping[str, InstanceType], has_examples: bool) -> dict[int, InstanceType]:
    """The nodes by their numbers: those of the catalogue, and examples that it has not."""
    every = dict(known)
    if has_examples:
        every |= {one.name: one for one in EXAMPLE_TYPES if one.name not in known}
    return {number_of(name): one for name, one in every.items()}


def number_of(name: str) -> int:
    """A number that stays the same whatever else is added to the catalogue."""
    return 1_000_000 + zlib.crc32(name.encode()) % 1_000_000_000


def node_view(number: int, one: InstanceType, prices: Prices) -> dict[str, Any]:
    return {
        "NodeId": number,
        "NodeName": one.name,
        "NodeType": "Work",
        "CPU": max(1, one.milli_cpus // 1000),
        "Memory": max(1, one.memory_bytes // GIB),
        "DiskSize": 0,
        "AcceleratorName": "gpu" if one.gpus else "cpu",
        # What the tools compare with the `1-P40` that somebody typed.
        "AcceleratorVersion": one.gpu_type or ("GPU" if one.gpus else "CPU"),
        "AcceleratorAmount": one.gpus or 1,
        "UnitPrice": prices.per_hour(one.resources),
    }


def modes() -> list[dict[str, Any]]:
    return [{"TrainModeId": number, "TrainModeName": name} for number, name in MODES.items()]


def backends() -> list[dict[str, Any]]:
    return [
        {"DataBackendId": number, "DataBackendName": name, "DataBackendRegexp": form}
        for number, (name, form) in BACKENDS.items()
    ]


def frameworks() -> list[dict[str, Any]]:
    return [{"DistAIFrameId": number, "DistAIFrameName": name} for number, name in FRAMEWORKS.items()]


def packages(kind: str) -> list[dict[str, Any]]:
    found = PACKAGES.get(kind, ())
    return [{"PkgId": number, "PkgName": name, "PkgVersion": version} for number, name, version in found]


def base_image(numbers: Mapping[str, int]) -> str | None:
    """The name of the image with these packages, by the numbers of their kinds; None where one is unknown."""
    parts = []
    for kind, number in numbers.items():
        found = next((one for one in PACKAGES[kind] if one[0] == number), None)
        if found is None:
            return None
        parts.append("-".join(filter(None, found[1:])))
    return f"uaitrain/{'_'.join(parts)}:v1.0"
