"""Brings the built console into the package: `pip install` needs no Node of its own."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _console(root: str) -> ModuleType:
    """The program behind `make console`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("console", Path(root) / "tools" / "console.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class ConsoleHook(BuildHookInterface[Any]):
    """Builds the console for wheels; an editable install serves what `make console` leaves."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        console = _console(self.root)
        needs = self.target_name == "wheel" and not console.is_current() and console.needs_node_wheel()
        return [console.NODE_WHEEL] if needs else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        console = _console(self.root)
        console.build()
        build_data["artifacts"].append("src/footplate/server/static/**")
