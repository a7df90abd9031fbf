"""Where the socket of a container engine is, if there is one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from footplate.domain.messages import Message, say

SCHEME = "unix://"
USUAL = (Path("/run/podman/podman.sock"), Path("/var/run/docker.sock"))
# Whoever may speak to one of these is root on this machine, or as good as.
OTHERS = (Path("/run/containerd/containerd.sock"), Path("/run/crio/crio.sock"))


def known_sockets(declared: str, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Name all places where a container engine may listen, now or later."""
    places = [*_candidates(declared, environment), *_candidates("", environment), *OTHERS]
    return tuple(dict.fromkeys(str(path.resolve()) for path in places))


def find_socket(declared: str, environment: Mapping[str, str] = os.environ) -> Path | None:
    """Name the first socket that is there: the declared one only, or else the usual ones."""
    return next((path for path in _candidates(declared, environment) if _is_socket(path)), None)


def why_none(declared: str) -> Message:
    """Say what was not found; how to get one, `footplate doctor` tells whoever keeps the machine."""
    return say("no_container_socket", socket=declared) if declared else say("no_container_engine")


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
