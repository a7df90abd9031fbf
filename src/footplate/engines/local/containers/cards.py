"""How a container gets its GPUs: nvidia runtime, CDI or device files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from footplate.engines.local.containers.api import Document

DEV = Path("/dev")
CDI = (Path("/etc/cdi"), Path("/var/run/cdi"))
NVIDIA = "nvidia"
# What programs need beside the cards themselves.
_SHARED_NODES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset")
_RENUMBERED = ("CUDA_VISIBLE_DEVICES",)


def grant_cards(
    indexes: Sequence[int], info: Document, dev: Path = DEV, cdi: Sequence[Path] = CDI
) -> Mapping[str, Any]:
    """Write the part of a container's settings that gives it these cards and no others.

    In this order: the engine's NVIDIA runtime, a description of the cards in CDI (Podman), bare device
    nodes. Cards that were only declared, and have no node, are not given at all.
    """
    numbers = [str(index) for index in indexes]
    if not numbers or not all((dev / f"nvidia{number}").exists() for number in numbers):
        return {}
    if NVIDIA in (info.get("Runtimes") or {}):
        wanted = {"Driver": NVIDIA, "DeviceIDs": numbers, "Capabilities": [["gpu"]]}
        return {"DeviceRequests": [wanted]}
    if _describes_nvidia(cdi):
        return {"Devices": [_device(f"nvidia.com/gpu={number}") for number in numbers]}
    nodes = [*(f"nvidia{number}" for number in numbers), *_SHARED_NODES]
    return {"Devices": [_device(str(dev / node), f"/dev/{node}") for node in nodes if (dev / node).exists()]}


def renumber(env: Mapping[str, str], granted: Mapping[str, Any]) -> dict[str, str]:
    """Count cards as they are counted inside a container that has no others."""
    if not granted:
        return dict(env)
    return {name: _count_up(value) if name in _RENUMBERED else value for name, value in env.items()}


def _count_up(value: str) -> str:
    return ",".join(map(str, range(len(re.findall(r"\d+", value)))))


def _describes_nvidia(folders: Sequence[Path]) -> bool:
    return any(
        file.name.startswith(NVIDIA) for folder in folders if folder.is_dir() for file in folder.iterdir()
    )


def _device(on_host: str, inside: str = "") -> Mapping[str, str]:
    return {"PathOnHost": on_host, "PathInContainer": inside or on_host, "CgroupPermissions": "rwm"}
