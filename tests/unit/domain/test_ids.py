"""Ids of jobs: they sort by time, and none is made twice."""

from __future__ import annotations

from footplate.domain.ids import is_job_id, job_id
from footplate.services.jobids import JobIds

NOW = 1_800_000_000.0


def test_an_id_of_a_later_instant_sorts_behind() -> None:
    assert job_id(NOW, 2**20 - 1) < job_id(NOW + 0.001, 0)


def test_jobs_of_one_instant_all_get_ids_of_their_own_in_the_order_in_which_they_came() -> None:
    ids = JobIds()
    # So many share what chance there is within an instant that some would meet.
    made = [ids.make(NOW) for _ in range(5_000)]
    assert len(set(made)) == len(made)
    assert made == sorted(made)
    assert all(map(is_job_id, made))


def test_a_clock_that_is_set_back_makes_no_id_twice() -> None:
    ids = JobIds()
    last = ids.make(NOW)
    assert ids.make(NOW - 3600) > last
