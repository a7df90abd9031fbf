"""What a package holds beside the sources: the built console, and a page for the package index."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

STATIC = Path("src", "footplate", "server", "static")


def _console(root: str) -> ModuleType:
    """The program behind `make console`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("console", Path(root) / "tools" / "console.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class ConsoleHook(BuildHookInterface[Any]):
    """Builds the console for packages; an editable install serves what `make console` leaves.

    A source package brings it along: whoever installs from one needs no Node, and waits for none.
    """

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        if self._is_there():
            return []
        console = _console(self.root)
        needs = not console.is_current() and console.needs_node_wheel()
        return [console.NODE_WHEEL] if needs else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        if not self._is_there():
            _console(self.root).build()
        build_data["artifacts"].append(f"{STATIC}/**")

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
