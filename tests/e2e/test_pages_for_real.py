"""README, tutorial and how-tos do what they say: all that they show is run, on a fresh home, in order."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pages
import pytest
from pages import Block, Shell

from footplate.testing.packages import make_wheel
from footplate.testing.process import FOOTPLATE, ServerProcess, await_that

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/tutorial/*.md")), *sorted(ROOT.glob("docs/howto/*.md"))]
BLOCKS = [block for page in PAGES for block in pages.blocks(page)]
SETTINGS = """
[node]
name = "vm"
cpus = 2
memory = "16GB"
"""
LOOKED_FOR_S = 30
ENGINES = (Path("/run/podman/podman.sock"), Path("/var/run/docker.sock"))
# What some machines lack: how to know, and what to say.
LACKS = {
    "torch": lambda _: (
        importlib.util.find_spec("torch") is None and "needs PyTorch: make test FRAMEWORKS=torch"
    ),
    "tensorflow": lambda _: importlib.util.find_spec("tensorflow") is None and "needs TensorFlow",
    "curl": lambda _: shutil.which("curl") is None and "needs curl: apt-get install curl",
    "mpi": lambda _: shutil.which("mpirun") is None and "needs mpirun: apt-get install openmpi-bin",
    "files": lambda world: (
        "files" not in world.enforced() and "this machine gives tasks no view of their own"
    ),
    "no engine": lambda _: (
        any(map(Path.exists, ENGINES))
        and "there is a container engine here, and the page shows what none does"
    ),
    "packages": lambda world: (
        not world.packages.is_dir() and "packages must lie where tasks see them, and /var/lib is not writable"
    ),
    "memory": lambda world: "memory" not in world.enforced() and "this machine holds no task to its memory",
}


class World:
    """One server for all pages, and one shell for each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # What pages install comes from here, and from nowhere else.
        self.packages = Path("/var/lib", f"footplate-pages-{os.getpid()}")
        if os.access("/var/lib", os.W_OK):
            make_wheel(self.packages, "cowsay", "6.1")
        self.server = ServerProcess(
            folder / ".footplate",
            SETTINGS,
            FOOTPLATE_ADMIN_PASSWORD="",
            PIP_FIND_LINKS=str(self.packages),
            PIP_NO_INDEX="1",
        )
        self._is_up = False
        self._shells: dict[Path, Shell] = {}
        self._settings = SETTINGS
        # What to return to after a page whose settings would change what others show.
        self._lasting: str | None = None

    def start(self) -> str:
        """Start the server, unless it runs; return what it has told."""
        if not self._is_up:
            self.server.start()
            self._is_up = True
            # It answers a moment before the command knows where it is.
            await_that(lambda: self.server.command("list").returncode == 0, what="the command finds it")
        told = [line for line in self.server.log.splitlines() if line[:1].isalpha()]
        # The last line comes at each start, the others at the first.
        return "\n".join(dict.fromkeys(told))

    def restart_with(self, settings: str, passing: bool) -> None:
        """Add to the settings, maybe for one page: what stands alone before what is in sections."""
        if passing and self._lasting is None:
            self._lasting = self._settings
        self._settings = self._settings + settings if "[" in settings else settings + self._settings
        self._restart()

    def _restart(self) -> None:
        (self.server.home / "settings.toml").write_text(self._settings)
        self.server.stop()
        self._is_up = False
        self.start()

    def enforced(self) -> list[str]:
        (node,) = json.loads(self.server.command("nodes", "--json").stdout)["items"]
        return list(node["enforced"])

    def place_of(self, page: Path) -> Path:
        return self.folder / page.stem

    def shell_of(self, page: Path) -> Shell:
        if page not in self._shells:
            self._free_the_machine()
            if self._lasting is not None:
                self._settings, self._lasting = self._lasting, None
                self._restart()
            place = self.place_of(page)
            place.mkdir()
            if any("examples/" in block.text for block in BLOCKS if block.page == page):
                (place / "examples").symlink_to(ROOT / "examples")
            (place / ".footplate").symlink_to(self.server.home)
            environment = {
                **self.server.environment,
                "HOME": str(place),
                "PATH": f"{FOOTPLATE.parent}{os.pathsep}{os.environ['PATH']}",
                "TERM": "dumb",
                "COLUMNS": "250",
            }
            for name in ("FOOTPLATE_HOME", "FOOTPLATE_CONFIG", "FOOTPLATE_ADMIN_PASSWORD"):
                environment.pop(name)
            self._shells[page] = Shell(place, environment)
        return self._shells[page]

    def close(self) -> None:
        for shell in self._shells.values():
            shell.close()
        self._free_the_machine()
        self.server.stop()
        shutil.rmtree(self.packages, ignore_errors=True)

    def _free_the_machine(self) -> None:
        """Let each page begin with all of it, whatever the page before has left."""
        if self._is_up:
            active = json.loads(self.server.command("list", "--active", "--json").stdout)["items"]
            self.server.command("stop", *(job["id"] for job in active), "--now", "--wait")
            self.server.command("nodes", "resume", "vm")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("pages"))
    yield made
    made.close()


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page.relative_to(ROOT)}:{block.line}")
def test_a_page_does_what_it_says(block: Block, world: World) -> None:
    if "not run" in block.marks:
        pytest.skip(f"not run: {block.marks['not run']}")
    if need := block.marks.get("needs"):
        world.start()
        if why := LACKS[need](world):
            pytest.skip(why)
    shell = world.shell_of(block.page)
    place = world.place_of(block.page)
    # A folder that everybody has a place for, and no test may touch.
    text = block.text.replace("/srv/", f"{place}/srv/").replace("127.0.0.1:8750", world.server.url[7:])
    if "file" in block.marks:
        (place / block.marks["file"]).parent.mkdir(parents=True, exist_ok=True)
        (place / block.marks["file"]).write_text(text)
    elif "settings" in block.marks:
        world.restart_with(text, passing=block.marks["settings"] == "of this page")
    else:
        for command, shown in Block(block.page, block.line, text).commands():
            run(command, shown, shell, world, block.marks.get("typed"))


def run(command: str, shown: list[str], shell: Shell, world: World, typed: str | None) -> None:
    told = world.start()
    command = pages.with_ids(command, shell.ids)
    fails = any(line.startswith("error:") or " FAILED after " in line for line in shown)
    deadline = time.monotonic() + LOOKED_FOR_S
    while True:
        if pages.starts_server(command, shown):
            printed, code = told, 0
        else:
            code, printed = shell.run(command) if typed is None else shell.run_typing(command, typed)
        different = pages.differences(command, shown, printed)
        if not different or not pages.only_looks(command) or time.monotonic() > deadline:
            break
    shell.ids.update(pages.ids_of(shown, printed))
    assert not different, "\n".join([f"$ {command}", *different])
    assert (code != 0) == fails, f"$ {command}\n{printed}\nended with {code}"
