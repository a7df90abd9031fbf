"""The fake engine keeps the contract, so that tests may trust it."""

from __future__ import annotations

from pathlib import Path

from footplate.testing.contract import EngineContract
from footplate.testing.fake_engine import FakeEngine, FakeWorld


class TestFakeEngine(EngineContract):
    def make_engine(self, home: Path) -> FakeEngine:
        self.world = getattr(self, "world", None) or FakeWorld()
        return FakeEngine(world=self.world)
