"""One real server for the tests of this folder that need no more than one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
