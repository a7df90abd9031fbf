"""What the tests of the local engine share: its bench, and looks from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil
import pytest

from footplate.domain.attempt import Attempt
from footplate.engines.local.confine import cgroups
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.observe.records import read_claim
from footplate.engines.local.process import native
from footplate.engines.local.process.processes import descendants
from footplate.testing.engine_bench import Bench, local_settings, until
from footplate.testing.namespaced import numbers_of


def shim_of(bench: Bench, launched: Attempt) -> int:
    claim = read_claim(bench.task(launched))
    assert claim is not None
    assert claim.identity is not None
    return claim.identity.pid


def seen_from_outside(shim: int, inner: int) -> int:
    """Find the process of a task that has this number among the task's own processes."""
    (found,) = [pid for pid in descendants(shim) if numbers_of(pid)[-1] == inner]
    return found


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def groups(bench: Bench) -> set[str]:
    trees = bench.engine._confinement.trees  # type: ignore[attr-defined]
    return {name for name in cgroups.names(trees) if cgroups.is_task(name)}


async def until_no_groups(bench: Bench) -> None:
    async def look() -> bool | None:
        return not groups(bench) or None

    await until(look)


BY_SHELL = MappingProxyType({"is_native": False})


def needs_native(is_native: bool = True) -> None:
    """Skip where the program that begins tasks was not built."""
    if is_native and native.why_not():
        pytest.skip(f"footplate-init cannot be used: {native.why_not()}")


class WithEngine:
    """Tests of a local engine whose home is the bench's folder."""

    settings: Mapping[str, Any] = MappingProxyType({})

    def run_loop(self, main: Any) -> None:
        asyncio.run(main)

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        return Bench(lambda: LocalEngine(local_settings(tmp_path, **self.settings)), tmp_path)

    def needs(self, bench: Bench, limit: Any) -> None:
        if limit not in bench.engine.capabilities.limits:
            pytest.skip(f"tasks cannot be held to their {limit} here")

    async def daemon(self, bench: Bench, launched: Attempt) -> int:
        async def look() -> int | None:
            file = bench.task(launched) / "work/daemon"
            text = file.read_text() if file.exists() else ""
            return int(text) if text.endswith("\n") else None

        return seen_from_outside(shim_of(bench, launched), await until(look))
