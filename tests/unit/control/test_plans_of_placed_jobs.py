"""The plan of an attempt is a function of the job's row, whatever admins change meanwhile."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import sqlalchemy as sa

from footplate.domain.cluster import Queue
from footplate.domain.image import Image
from footplate.domain.states import JobState
from footplate.engines.base import LaunchPlan, Request
from footplate.store import queue_queries, tables
from footplate.store.catalogue import Catalogue
from footplate.testing.control_bench import Life, life
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine

TORCH = Image("torch", "example.com/torch:1")


class NotesPlans(FakeEngine):
    """Remembers the last plan."""

    plan: LaunchPlan

    def compile(self, plan: LaunchPlan) -> Request:
        self.plan = plan
        return super().compile(plan)


@dataclass
class Admin:
    """Changes what images stand for."""

    catalogue: Catalogue = field(default_factory=Catalogue)

    def refer(self, *images: Image) -> None:
        self.catalogue.images = {image.name: image for image in images}

    async def map_images(self, one: Life, environments: dict[str, str]) -> None:
        queue = Queue("default", environments=tuple(environments.items()))
        await one.store.write(lambda tx: queue_queries.change_queue(tx.connection, queue))
        await one.store.read(one.cluster.load)


async def plan_now(one: Life, job_id: str) -> LaunchPlan:
    assert isinstance(one.engine, NotesPlans)
    await one.controller.streams.exec(one.store.board[job_id], "main", 0, ["ls"], 10)
    return replace(one.engine.plan, secrets={})


def test_a_changed_mapping_or_catalogue_does_not_change_the_plan_of_a_running_job(tmp_path: Path) -> None:
    async def story() -> None:
        clock, admin = FakeClock(), Admin()
        admin.refer(TORCH)
        async with life(tmp_path, clock, kind=NotesPlans, images=admin.catalogue) as one:
            await admin.map_images(one, {"torch": "/srv/torch"})
            job_id = await one.submit(1, image="torch")
            await one.until(job_id, JobState.RUNNING)
            before = await plan_now(one, job_id)
            assert before.environments == {"example.com/torch:1": "/srv/torch"}
            await admin.map_images(one, {})
            admin.refer(replace(TORCH, reference="example.com/torch:2"))
            assert await plan_now(one, job_id) == before
        async with life(tmp_path, clock, one.engine.world, kind=NotesPlans, images=admin.catalogue) as again:
            assert await plan_now(again, job_id) == before

    asyncio.run(story())


def test_a_mapping_that_came_later_does_not_take_a_job_out_of_its_container(tmp_path: Path) -> None:
    async def story() -> None:
        admin = Admin()
        async with life(tmp_path, FakeClock(), kind=NotesPlans, images=admin.catalogue) as one:
            job_id = await one.submit(1, image="torch")
            await one.until(job_id, JobState.RUNNING)
            await admin.map_images(one, {"torch": "/srv/torch"})
            assert (await plan_now(one, job_id)).environments == {}

    asyncio.run(story())


def test_a_job_that_an_older_version_placed_has_what_the_queue_says_now(tmp_path: Path) -> None:
    def forget(connection: sa.Connection) -> None:
        written = json.loads(str(connection.scalar(sa.select(tables.jobs.c.placement))))
        connection.execute(sa.update(tables.jobs).values(placement=json.dumps(written["tasks"])))

    async def story() -> None:
        clock, admin = FakeClock(), Admin()
        async with life(tmp_path, clock, kind=NotesPlans, images=admin.catalogue) as one:
            job_id = await one.submit(1, image="torch")
            await one.until(job_id, JobState.RUNNING)
            await one.store.write(lambda tx: forget(tx.connection))
            await admin.map_images(one, {"torch": "/srv/torch"})
        async with life(tmp_path, clock, one.engine.world, kind=NotesPlans, images=admin.catalogue) as again:
            assert (await plan_now(again, job_id)).environments == {"torch": "/srv/torch"}

    asyncio.run(story())
