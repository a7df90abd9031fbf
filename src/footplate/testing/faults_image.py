"""An image for runs with faults: busybox, and `flock`, which busybox mostly lacks."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from footplate.testing.container_engine import ContainerEngineMissing, busybox

IMAGE = "localhost/faults:1"


def image_with_flock() -> bytes:
    """Make the root folder; raise `ContainerEngineMissing` where its parts are not installed."""
    program = shutil.which("flock")
    if program is None:
        raise ContainerEngineMissing("flock is not installed: the package is called util-linux")
    out = io.BytesIO(busybox())
    with tarfile.open(fileobj=out, mode="a") as tar:
        for file in (program, *_libraries(program)):
            # Libraries where the loader looks first; the program where PATH ends up.
            tar.add(Path(file).resolve(), arcname="bin/flock" if file == program else file.lstrip("/"))
    return out.getvalue()


def _libraries(program: str) -> list[str]:
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S+) \(0x", listed)
