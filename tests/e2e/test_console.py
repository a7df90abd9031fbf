"""The web console in a real browser, against a real server and the embedded engine."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from browser import FORMS, SPECS, needs_browser, run_spec

from footplate.testing.process import ServerProcess


@needs_browser
@pytest.mark.timeout(600)
@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec not in FORMS])
def test_the_console_in_a_browser(
    console: ModuleType, server: ServerProcess, spec: str, tmp_path: Path
) -> None:
    run_spec(spec, console, server, tmp_path / "results")


def test_the_logic_of_the_console(console: ModuleType) -> None:
    console.npm("run", "test")
