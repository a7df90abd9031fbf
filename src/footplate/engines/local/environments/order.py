"""An environment that somebody waits for."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.resources import GIB, MIB
from footplate.engines.local.environments.inputs import Inputs
from footplate.engines.local.environments.shelf import CACHE, CONDA, PYTHONS, Place
from footplate.engines.local.exchange import LocalRequest, ProcessTask
from footplate.engines.local.observe.watches import HOME_ID

ROLE = "environment"
LEAST_MILLI_CPUS = 1000
LEAST_MEMORY_BYTES = 2 * GIB
SHM_BYTES = 64 * MIB


@dataclass(frozen=True, slots=True)
class Order:
    """What is built, where, and for whom."""

    place: Place
    inputs: Inputs
    request: LocalRequest

    @property
    def owner(self) -> str:
        return self.request["owner"]

    @property
    def build_id(self) -> str:
        """What a build is known by, as an attempt is."""
        return f"{ROLE}-{self.place.key}"

    def variables(self) -> dict[str, str]:
        """Write what marks the processes of a build, and where its tools keep what they have fetched."""
        files, home_id = self.place.files, self.request["home_id"]
        return {
            "UV_CACHE_DIR": str(files / CACHE),
            "UV_PYTHON_INSTALL_DIR": str(files / PYTHONS),
            "UV_NO_PROGRESS": "1",
            "PIP_CACHE_DIR": str(files / CACHE),
            "MAMBA_ROOT_PREFIX": str(files / CONDA),
            "CONDA_PKGS_DIRS": str(files / CONDA / "pkgs"),
            "FOOTPLATE_ATTEMPT_ID": self.build_id,
            "FOOTPLATE_TASK": f"{ROLE}-0",
            "FOOTPLATE_TASK_RUN": "0",
            **({HOME_ID: home_id} if home_id else {}),
        }

    def task(self, command: str, work_folder: str) -> ProcessTask:
        """Write a build as one task; it takes what the job holds anyway."""
        first = self.request["tasks"][0]
        return {
            "role": ROLE,
            "index": 0,
            "run": 0,
            "folder": str(self.place.build),
            "work_folder": work_folder,
            "log": str(self.place.log),
            "command": command,
            "env": {},
            "environment": None,
            "milli_cpus": max(first["milli_cpus"], LEAST_MILLI_CPUS),
            "memory_bytes": max(first["memory_bytes"], LEAST_MEMORY_BYTES),
            "shm_bytes": SHM_BYTES,
            "gpus": [],
        }
