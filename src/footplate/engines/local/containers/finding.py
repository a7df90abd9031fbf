"""Where the socket of a container engine is, if there is one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

SCHEME = "unix://"
USUAL = (Path("/run/podman/podman.sock"), Path("/var/run/docker.sock"))
HOW_TO_GET_ONE = (
    "install podman and start its socket (`systemctl enable --now podman.socket`, or "
    "`podman system service --time=0`) or install Docker; set FOOTPLATE_CONTAINER_SOCKET where the socket "
    "is in an unusual place"
)


# Whoever may speak to one of these is root on this machine, or as good as.
OTHERS = (Path("/run/containerd/containerd.sock"), Path("/run/crio/crio.sock"))


def known_sockets(declared: str, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Name all places where a container engine may listen, now or later."""
    places = [*_candidates(declared, environment), *_candidates("", environment), *OTHERS]
    return tuple(dict.fromkeys(str(path.resolve()) for path in places))


def find_socket(declared: str, environment: Mapping[str, str] = os.environ) -> Path | None:
    """Name the first socket that is there: the declared one only, or else the usual ones."""
    return next((path for path in _candidates(declared, environment) if _is_socket(path)), None)


def why_none(declared: str) -> str:
    """Say what was not found, and how to get it."""
    if declared:
        return f"there is no socket of a container engine at {declared}: {HOW_TO_GET_ONE}"
    return f"no container engine was found on this machine: {HOW_TO_GET_ONE}"


def _candidates(declared: str, environment: Mapping[str, str]) -> Iterator[Path]:
    if declared:
        yield Path(declared.removeprefix(SCHEME))
        return
    named = environment.get("DOCKER_HOST", "")
    if named.startswith(SCHEME):
        yield Path(named.removeprefix(SCHEME))
    runtime_folder = environment.get("XDG_RUNTIME_DIR")
    # A server that is not root may use its own engine, and mostly nobody else's.
    if runtime_folder:
        yield Path(runtime_folder) / "podman/podman.sock"
    yield from USUAL
    if runtime_folder:
        yield Path(runtime_folder) / "docker.sock"


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        return False
