"""The job list stays quick with a million jobs: the database sorts nothing for it."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from footplate.domain.states import JobState
from footplate.store import job_queries
from footplate.store.database import open_engine
from footplate.store.job_queries import Filter
from footplate.store.migrate import migrate


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
def test_the_newest_jobs_are_found_without_sorting_all(tmp_path: Path, wanted: Filter) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'plan.db'}")
    migrate(engine)
    asked: list[tuple[str, object]] = []

    @sa.event.listens_for(engine, "before_cursor_execute")
    def note(_c: object, _cursor: object, statement: str, parameters: object, *_rest: object) -> None:
        asked.append((statement, parameters))

    with engine.connect() as connection:
        job_queries.page(connection, wanted, "-submitted_at", None, 50)
        statement, parameters = asked[-1]
        raw = connection.connection.cursor()
        plan = raw.execute(f"EXPLAIN QUERY PLAN {statement}", parameters).fetchall()
    engine.dispose()
    assert not [line for line in plan if "TEMP B-TREE" in str(line)], plan
