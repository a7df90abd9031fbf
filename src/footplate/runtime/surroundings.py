"""The environment of a gang's programs: our remote shells first on the PATH, and a scratch folder."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from .hosts import gang_folder, own_name

# What launchers call to reach a host; all of them lead to the gang's own remote shell.
REMOTE_SHELLS = ("footplate-rsh", "ssh", "rsh")


class Surroundings:
    """Two folders below the job's own, so that nothing stays behind of a task that is killed."""

    def __init__(self) -> None:
        self._folder = gang_folder() / own_name()
        self._programs, self._scratch = self._folder / "bin", self._folder / "tmp"
        for folder in (self._programs, self._scratch):
            folder.mkdir(parents=True, exist_ok=True)
        for name in REMOTE_SHELLS:
            _write_program(self._programs / name, "reach")
        _write_program(self._programs / "pkill", "pkill")

    def for_launcher(self) -> dict[str, str]:
        """Say the environment in which the remote shells are found first."""
        path = f"{self._programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {**os.environ, "PATH": path, "FOOTPLATE_SHELLS": str(self._programs)}

    def for_ranks(self) -> dict[str, str]:
        """Say the environment of ranks in this task."""
        return {**self.for_launcher(), **keep_apart(self._scratch)}

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def own_ranks() -> dict[str, str]:
    """Say the variables of ranks that the launcher starts in its own task."""
    return keep_apart(gang_folder() / own_name() / "tmp")


def keep_apart(folder: Path) -> dict[str, str]:
    """Keep tasks on one machine apart: Open MPI names its files and segments by the machine alone."""
    names = ("btl_vader", "btl_sm", "osc_sm", "osc_rdma")
    variables = {f"OMPI_MCA_{name}_backing_directory": str(folder) for name in names}
    return {
        **variables,
        "OMPI_MCA_orte_tmpdir_base": str(folder),
        "PRTE_MCA_prte_tmpdir_base": str(folder),
    }


def _write_program(path: Path, verb: str) -> None:
    runtime = Path(__file__).resolve().parent
    words = f"{shlex.quote(sys.executable)} -I {shlex.quote(str(runtime))} {verb}"
    path.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    path.chmod(0o700)
