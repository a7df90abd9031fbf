"""What the jobs of each queue hold, as one pass over them tells it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from footplate.domain.cluster import Queue
from footplate.domain.errors import InvalidInput
from footplate.domain.job import Job
from footplate.domain.resources import GIB, UNLIMITED, Resources
from footplate.domain.states import JobState
from footplate.services import queues
from footplate.testing.builders import job, placement


def running(queue: str) -> Job:
    one = job(queue=queue)
    return replace(one, state=JobState.RUNNING, placement=placement(one.spec))


class CountedJobs(list[Job]):
    """Jobs that know how often somebody went through them."""

    n_passes = 0

    def __iter__(self) -> Iterator[Job]:
        self.n_passes += 1
        return super().__iter__()


def test_the_loads_of_all_queues_take_one_pass_over_the_jobs() -> None:
    jobs = CountedJobs([running("vision"), running("vision"), job(queue="vision"), job(queue="speech")])
    loads = queues._loads(jobs)
    assert jobs.n_passes == 1
    assert {name: (load.n_running, load.n_waiting) for name, load in loads.items()} == {
        "vision": (2, 1),
        "speech": (0, 1),
    }
    assert loads["vision"].used == placement(job().spec).resources * 2


MOST = Resources(4000, 8 * GIB, 2)


@pytest.mark.parametrize("share", [Resources(), MOST, Resources(1000, GIB, 1)])
def test_a_queue_may_be_promised_what_it_may_use(share: Resources) -> None:
    queues._check_limits(Queue("vision", share=share, maximum=MOST))
    queues._check_limits(Queue("vision", share=share))


def test_a_queue_cannot_be_promised_more_than_it_may_use() -> None:
    greedy = Queue("vision", share=Resources(4500, 8 * GIB, 3), maximum=MOST)
    with pytest.raises(InvalidInput) as refusal:
        queues._check_limits(greedy)
    assert [str(problem) for problem in refusal.value.problems] == [
        "share.cpus: share 4.5 is more than the maximum 4",
        "share.gpus: share 3 is more than the maximum 2",
    ]


def test_what_is_not_limited_may_be_promised() -> None:
    queues._check_limits(
        Queue("v", share=Resources(9000, GIB, 0), maximum=Resources(UNLIMITED, UNLIMITED, 2))
    )
