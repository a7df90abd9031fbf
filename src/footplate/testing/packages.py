"""Small packages, made where they are needed: wheels, and source archives whose builds run code."""

from __future__ import annotations

import base64
import hashlib
import io
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from footplate.engines.local.environments.recipe import find_uv
from footplate.engines.local.process.processes import marked

# What a build does that lasts until its owner has a file `go` at home.
WAITS = """
import time
while not os.path.exists(os.path.expanduser("~/go")):
    time.sleep(0.05)
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
BACKEND = """
import base64, hashlib, os, zipfile
{on_build}
NAME, VERSION = {name!r}, {version!r}

def build_wheel(folder, config_settings=None, metadata_directory=None):
    globals().get("count", int)()
    name = f"{{NAME}}-{{VERSION}}-py3-none-any.whl"
    info = f"{{NAME}}-{{VERSION}}.dist-info"
    files = {{
        f"{{NAME}}.py": f"VERSION = {{VERSION!r}}\\n",
        f"{{info}}/METADATA": f"Metadata-Version: 2.1\\nName: {{NAME}}\\nVersion: {{VERSION}}\\n",
        f"{{info}}/WHEEL": {wheel!r},
    }}
    record = "".join(f"{{path}},,\\n" for path in files) + f"{{info}}/RECORD,,\\n"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, text in {{**files, f"{{info}}/RECORD": record}}.items():
            wheel.writestr(path, text)
    return name
"""


def make_wheel(folder: Path, name: str, version: str = "1.0") -> Path:
    """Make a wheel with a module and a program of the package's name."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"VERSION = {version!r}\ndef main():\n    print('main of {name}')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": WHEEL,
        f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
    }
    record = "".join(f"{path},{_digest(text)},{len(text)}\n" for path, text in files.items())
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(path, text)
    return wheel


def make_source(folder: Path, name: str, version: str = "1.0", on_build: str = "") -> Path:
    """Make a source archive; `on_build` is Python that runs when it is built."""
    project = (
        f'[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        f'[project]\nname = "{name}"\nversion = "{version}"\n'
    )
    files = {
        "pyproject.toml": project,
        "backend.py": BACKEND.format(name=name, version=version, on_build=on_build, wheel=WHEEL),
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for inner, text in files.items():
            entry = tarfile.TarInfo(f"{name}-{version}/{inner}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


@contextmanager
def running_index(folder: Path) -> Iterator[str]:
    """Serve packages as an index does; `folder` has a folder for each, by name, with its files."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            serving.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name that it has there
        """Say nothing: tests fail on output that nobody expects."""


def lock_project(folder: Path, index: str, *dependencies: str) -> None:
    """Write a project that needs these packages, and the lock that uv makes for it."""
    listed = ", ".join(f'"{one}"' for one in dependencies)
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "mine"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = [{listed}]\n'
    )
    command = [find_uv(), "lock", "--quiet", "--no-cache", "--default-index", index]
    subprocess.run(command, cwd=folder, check=True)


def builders(home: Path) -> list[int]:
    """Find the processes that run the code of packages, in builds for a server of this home."""
    caches = [f"UV_CACHE_DIR={person}/files/cache" for person in (home / "environments").glob("*")]
    return [pid for cache in caches for pid in marked([cache]) if _runs_backend(pid)]


def _runs_backend(pid: int) -> bool:
    # uv itself runs Python too, to learn about it.
    with suppress(OSError):
        is_python = Path(f"/proc/{pid}/exe").readlink().name.startswith("python")
        return is_python and b"backend" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _digest(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"
