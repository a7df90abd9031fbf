"""The job list stays quick with a million jobs: the database sorts nothing for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from footplate.domain.states import JobState
from footplate.store import job_queries
from footplate.store.database import open_engine
from footplate.store.job_queries import SORTS, Filter
from footplate.store.migrate import migrate

Explain = Callable[..., list[str]]
# Offered by the command and the API, where people wait for what they asked for.
NOT_OF_THE_CONSOLE = {"finished_at", "run_time", "resources"}


@pytest.fixture(scope="module")
def explain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explain]:
    """Say how the database finds a page."""
    folder: Path = tmp_path_factory.mktemp("plans")
    engine = open_engine(f"sqlite:///{folder / 'plan.db'}")
    migrate(engine)
    asked: list[tuple[str, Any]] = []

    @sa.event.listens_for(engine, "before_cursor_execute")
    def note(_c: object, _cursor: object, statement: str, parameters: object, *_rest: object) -> None:
        asked.append((statement, parameters))

    def plan(wanted: Filter, sort: str, after: tuple[Any, str] | None = None) -> list[str]:
        with engine.connect() as connection:
            job_queries.page(connection, wanted, sort, after, 50)
            statement, parameters = asked[-1]
            raw = connection.connection.cursor()
            return [str(line) for line in raw.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)]

    yield plan
    engine.dispose()


def sorting(plan: list[str]) -> list[str]:
    return [line for line in plan if "TEMP B-TREE" in line]


@pytest.mark.parametrize(
    "wanted",
    [
        Filter("ann"),
        Filter("ann", states=[JobState.FAILED]),
        Filter("ann", queues=["vision"]),
        Filter("ann", owners=["bob"]),
        Filter("ann", search="resnet"),
    ],
)
def test_the_newest_jobs_are_found_without_sorting_all(explain: Explain, wanted: Filter) -> None:
    assert not sorting(explain(wanted, "-submitted_at"))


@pytest.mark.parametrize("direction", ["", "-"])
@pytest.mark.parametrize("sort", sorted(SORTS.keys() - NOT_OF_THE_CONSOLE))
def test_every_order_of_the_console_is_that_of_an_index_on_every_page(
    explain: Explain, sort: str, direction: str
) -> None:
    first = explain(Filter("ann"), direction + sort)
    assert not sorting(first), first
    further = explain(Filter("ann"), direction + sort, (3 if sort == "priority" else "x", "2mabcdefghij"))
    assert not sorting(further), further
    assert any("SEARCH jobs" in line for line in further), further
