"""A save of results that is asked for while another ends is not forgotten."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from footplate.control import retrying
from footplate.control.results import ResultsKeeper
from footplate.domain.errors import StoreUnavailable
from footplate.domain.job import Job
from footplate.domain.results import SavedResults, place_of
from footplate.testing import builders
from footplate.testing.fake_clock import FakeClock


class Saving(ResultsKeeper):
    """Saves nothing, and is asked again in the moment between the end of a save and what follows it."""

    def __init__(self) -> None:
        super().__init__(cast("Any", None))
        self.n_saves = 0

    async def _keep_saving(self, job_id: str) -> None:
        self.n_saves += 1
        if self.n_saves == 1:
            asyncio.get_running_loop().call_soon(self._ask, job_id)


def test_who_asks_while_a_save_ends_is_answered_by_another() -> None:
    async def story() -> int:
        keeper = Saving()
        keeper._ask("a")
        while keeper._saving:
            await asyncio.gather(*keeper._saving.values())
            await asyncio.sleep(0)
        return keeper.n_saves

    assert asyncio.run(story()) == 2


class StoreAway(Saving):
    """Saves nothing; at the first try the database does not answer."""

    async def _keep_saving(self, job_id: str) -> None:
        self.n_saves += 1
        if self.n_saves == 1:
            raise StoreUnavailable("database_locked")


def test_a_save_is_tried_again_also_when_the_database_was_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "FIRST_PAUSE_S", 0.0)

    async def story() -> int:
        keeper = StoreAway()
        keeper._ask("a")
        await asyncio.gather(*keeper._saving.values())
        return keeper.n_saves

    assert asyncio.run(story()) == 2


class EndsWhileRead(ResultsKeeper):
    """Saves nothing; the job ends while the first save still reads how far its results are."""

    def __init__(self, job: Job) -> None:
        store = SimpleNamespace(board={job.id: job})
        super().__init__(cast("Any", SimpleNamespace(store=store, clock=FakeClock())))
        self.n_saves = 0

    async def _known(self, job: Job) -> SavedResults:
        if not self.n_saves:
            self._ask(job.id)
        return SavedResults(*place_of(job))

    async def _save(self, job: Job) -> None:
        self.n_saves += 1


def test_who_asks_while_a_save_begins_is_answered_by_another() -> None:
    job = builders.job(results={})

    async def story() -> int:
        keeper = EndsWhileRead(job)
        keeper._ask(job.id)
        while keeper._saving:
            await asyncio.gather(*keeper._saving.values())
            await asyncio.sleep(0)
        return keeper.n_saves

    assert asyncio.run(story()) == 2
