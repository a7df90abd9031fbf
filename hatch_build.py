"""What a package holds beside the sources: the console, `footplate-init`, a page for the package index."""

from __future__ import annotations

import importlib.util
import re
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

STATIC = Path("src", "footplate", "server", "static")


def _tool(root: str, name: str) -> ModuleType:
    """The program behind `make console` or `make native`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location(name, Path(root) / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class BuildHook(BuildHookInterface[Any]):
    """Builds what packages hold; an editable install uses what `make console` and `make native` leave.

    A source package brings the console along: whoever installs from one needs no Node, and waits for none. A
    wheel with `footplate-init` is for machines of one kind. Without a C compiler it is for all of them.
    """

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        if self._is_there():
            return []
        console = _tool(self.root, "console")
        needs = not console.is_current() and console.needs_node_wheel()
        return [console.NODE_WHEEL] if needs else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        if not self._is_there():
            _tool(self.root, "console").build()
        build_data["artifacts"].append(f"{STATIC}/**")
        if self.target_name == "wheel":
            self._add_native(build_data)

    def _add_native(self, build_data: dict[str, Any]) -> None:
        native = _tool(self.root, "native")
        try:
            native.build()
        except native.NotBuilt as error:
            self.app.display_info(f"the wheel has no footplate-init: {error}")
            return
        machine = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["artifacts"].append(str(native.PROGRAM.relative_to(Path(self.root).resolve())))
        build_data["pure_python"], build_data["tag"] = False, f"py3-none-{machine}"

    def _is_there(self) -> bool:
        """Tell whether this is an unpacked source package."""
        root = Path(self.root)
        return (root / "PKG-INFO").is_file() and (root / STATIC / "index.html").is_file()


class PageHook(MetadataHookInterface):
    """Makes the package's page from the README: pictures and pages that lie beside it are not there."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": package_page(text)}


def package_page(readme: str) -> str:
    """Leave out pictures, and let links to files be plain words."""
    without = re.sub(r"<picture>.*?</picture>\n*|!\[[^\]]*\]\([^)]*\)\n*", "", readme, flags=re.DOTALL)
    return re.sub(r"\[([^\]]+)\]\((?![a-z]+:)[^)]*\)", r"\1", without)
