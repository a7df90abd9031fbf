"""Real container engines for the tests of this folder; failing contract tests show what they compared."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from footplate.testing import container_engine as engines
from footplate.testing.container_engine import ContainerEngine, ContainerEngineMissing

for name in ("contract", "limit_contract", "engine_bench"):
    pytest.register_assert_rewrite(f"footplate.testing.{name}")


@pytest.fixture(scope="module")
def podman() -> Iterator[ContainerEngine]:
    with _started(engines.running_podman) as engine:
        yield engine


@pytest.fixture(scope="module")
def docker() -> Iterator[ContainerEngine]:
    with _started(engines.running_docker) as engine:
        yield engine


@contextlib.contextmanager
def _started(running: Any) -> Iterator[ContainerEngine]:
    try:
        with running() as engine:
            engine.load(engines.HOST_TOOLS, engines.host_tools())
            engine.load(engines.BUSYBOX, engines.busybox())
            engine.load(engines.NO_SHELL, engines.no_shell())
            yield engine
    except ContainerEngineMissing as error:
        pytest.skip(str(error))
