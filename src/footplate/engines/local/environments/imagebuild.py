"""A build in an image: a container of the image adds packages to those that the image has."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from footplate.engines.local.environments.indexes import NO_INDEX, local_places
from footplate.engines.local.environments.inputs import Inputs
from footplate.engines.local.environments.order import Order
from footplate.engines.local.environments.ownpython import PIP_CONFIG
from footplate.engines.local.environments.recipe import INPUTS, find_uv, uv_words
from footplate.engines.local.environments.shelf import CACHE, Place
from footplate.engines.local.exchange import LocalRequest, LocalTask, Mount

# Where a build finds the tools that its image lacks.
TOOLS = "/run/footplate"
PIP, UV = f"{TOOLS}/pip", f"{TOOLS}/uv"
PIP_OPTIONS = ("--no-input", "--disable-pip-version-check", "--progress-bar=off", "--no-warn-script-location")
# Where the image's Python is a virtual environment itself, its packages are those to build on.
BEHIND = """
import pathlib, sys
if sys.prefix != sys.base_prefix:
    (site,) = pathlib.Path(sys.argv[1]).glob("lib/python3*/site-packages")
    (site / "_image.pth").write_text("import site; site.PREFIXES[:] = [%r]\\n" % sys.prefix)
"""
NO_PYTHON = "error: the image has no python3: use an image with Python"
NO_UV = "error: uv does not run in this image: use an image that has uv, or list `requirements`"


def container_of(order: Order, variables: Mapping[str, str]) -> tuple[LocalRequest, LocalTask]:
    """Write the build as a request of one container, which may write to this environment only."""
    place, asked, image = order.place, order.request, order.inputs.image
    assert image is not None
    request: LocalRequest = {
        "home_id": asked["home_id"],
        "owner": asked["owner"],
        "owner_number": asked["owner_number"],
        "person_folder": asked["person_folder"],
        "attempt_id": order.build_id,
        "folder": str(place.build),
        "folders": [str(place.target), str(place.files / CACHE)],
        "writable": [],
        "code_is_read_only": False,
        "mounts": list(_mounts(place, variables)),
        "env": {**variables, **order.variables()},
        "files": {},
        "code": None,
        "code_folder": None,
        "inherited": [],
        "packages": None,
        "environment_path": "",
        "tasks": [],
    }
    command = commands_in_image(order.inputs, place, NO_INDEX not in variables)
    task: LocalTask = {
        **order.task(command, str(place.target)),
        "node": "",
        "image": image.id,
        "in_container": True,
        "image_credentials": "",
        "keep": False,
        "address": "",
        "ports": [],
    }
    return request, task


def _mounts(place: Place, variables: Mapping[str, str]) -> Iterator[Mount]:
    """Name what a build reads: its inputs, tools that the image may lack, and packages of this machine."""
    yield _read_only(str(place.source))
    pip = find_spec("pip")
    for folder in (pip.submodule_search_locations or [] if pip else [])[:1]:
        yield _read_only(folder, PIP)
    if uv := find_uv():
        yield _read_only(str(Path(uv).resolve()), UV)
    for path in local_places(variables):
        yield _read_only(path)


def _read_only(source: str, target: str = "") -> Mount:
    return {"source": source, "inner": "", "is_fixed": True, "target": target or source, "read_only": True}


def commands_in_image(inputs: Inputs, place: Place, has_index: bool = True) -> str:
    """Write what a build runs: a virtual environment over the image's Python, then what was asked for."""
    target = place.target
    return "\n".join(
        [
            f"python=$(command -v python3 || command -v python) || {_give_up(NO_PYTHON)}",
            f'"$python" -m venv --without-pip --system-site-packages {_words(target)}',
            f'"$python" -c {_words(BEHIND, target)}',
            _words("cp", "-R", place.source, target / INPUTS),
            _words("cd", target / INPUTS),
            *(_by_pip if inputs.kind == "requirements" else _by_uv)(inputs, target, has_index),
            # Only now: what tasks install themselves goes to their own place.
            f"printf %s {_words(PIP_CONFIG)} > {_words(target / 'pip.conf')}",
        ]
    )


def _by_pip(inputs: Inputs, target: Path, _has_index: bool) -> list[str]:
    """Install with pip, which leaves what the image has; uv would install all of it once more."""
    python = _words(target / "bin/python")
    return [
        "pip='-m pip'",
        f"{python} $pip --version >/dev/null 2>&1 || pip={PIP}",
        f"{python} $pip install {_words(*PIP_OPTIONS, '-r', inputs.file)}",
    ]


def _by_uv(inputs: Inputs, target: Path, has_index: bool) -> list[str]:
    return [
        f"uv=$(command -v uv || echo {UV})",
        f'"$uv" --version >/dev/null 2>&1 || {_give_up(NO_UV)}',
        f"export UV_PROJECT_ENVIRONMENT={_words(target)}",
        f'"$uv" {_words(*uv_words(inputs, target, has_index))}',
    ]


def _give_up(why: str) -> str:
    return f"{{ echo {_words(why)}; exit 1; }}"


def _words(*words: str | Path) -> str:
    return shlex.join(map(str, words))
