"""The forms of the web console in a real browser, in a file of their own so that they run beside the rest."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from browser import FORMS, needs_browser, run_spec

from footplate.testing.process import ServerProcess


@needs_browser
@pytest.mark.timeout(600)
@pytest.mark.parametrize("spec", FORMS)
def test_the_forms_of_the_console_in_a_browser(
    console: ModuleType, server: ServerProcess, spec: str, tmp_path: Path
) -> None:
    run_spec(spec, console, server, tmp_path / "results")
