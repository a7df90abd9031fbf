"""One real server for the tests of this folder that need no more than one."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from footplate.testing.process import ServerProcess

SETTINGS = """
retry_pause = 0
[node]
name = "bench"
cpus = 4
memory = "16GB"
gpus = [{type = "A100", count = 4}]
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A machine with four cards that exist on paper only: enough to try out GPU queues."""
    home: Path = tmp_path_factory.mktemp("e2e") / "home"
    with ServerProcess(home, SETTINGS) as running:
        yield running


@pytest.fixture(scope="session")
def console() -> ModuleType:
    """The program behind `make console`; it builds what is old."""
    spec = importlib.util.spec_from_file_location(
        "console", Path(__file__).resolve().parents[2] / "tools" / "console.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build()
    module.install()
    return module
