"""UAI-Train's requests as values: what becomes a job, and that nothing breaks the reader."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.dialects.uai import catalogue, jobs
from footplate.domain.errors import InvalidInput
from footplate.domain.jobfile import read_job, write_job
from footplate.domain.resources import GIB, Resources
from footplate.domain.states import JobState

TYPES = catalogue.types_of({}, has_examples=True)
OFFER = jobs.Offer(TYPES, frozenset(one.name for one in TYPES.values()), Resources(8000, 64 * GIB, 2))
WISH = {
    "TrainJobName": "standalone1",
    "TrainWorkId": str(catalogue.number_of("1-P40")),
    "CodeUhubPath": "registry/image:1",
    "DataUfilePath": "http://mybucket.ufile.ucloud.com.cn/mnist/",
    "OutputUfilePath": "http://mybucket.cn-bj.ufileos.com/out/",
    "DockerCmd": "/data/mnist.py",
    "MaxExecuteTime": "2",
    "TrainWorkAmount": "1",
    "TrainModeId": "101",
}


def place(bucket: str, path: str) -> tuple[str, str]:
    return "home", f"{bucket}/{path}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("http://mybucket.ufile.ucloud.com.cn/mnist/", ("home", "mybucket/mnist/")),
        ("https://mybucket.cn-bj.ufileos.com/a/b/", ("home", "mybucket/a/b/")),
        ("10.0.0.1:/ufs-abc/data/", ("ufs-abc", "data")),
    ],
)
def test_paths_of_ufile_and_ufs_are_places_on_storages(text: str, found: tuple[str, str]) -> None:
    assert jobs.located(text, "DataUfilePath", place) == found


@pytest.mark.parametrize(
    "text", ["http://127.0.0.1/x/", "mybucket/mnist", "", "http://evil.example/ufileos.com/"]
)
def test_other_paths_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="DataUfilePath"):
        jobs.located(text, "DataUfilePath", place)


def test_the_bounds_are_those_of_the_settings() -> None:
    asked = {**WISH, "TrainModeId": "102", "TrainWorkAmount": "8"}
    with pytest.raises(InvalidInput, match="from 2 to 4, not 8"):
        jobs.read(asked, jobs.Bounds())
    assert jobs.read(asked, jobs.Bounds(nodes_most=8)).count == 8


def test_what_is_described_is_a_job() -> None:
    spec = jobs.describe(jobs.read(WISH, jobs.Bounds()), OFFER, place)
    assert read_job(write_job(spec)).time_limit_s == 7200


@pytest.mark.parametrize("framework", ["301", "305"])
def test_distributed_tensorflow_has_a_master_and_a_parameter_server_beside_the_nodes(framework: str) -> None:
    asked = {**WISH, "TrainModeId": "102", "TrainWorkAmount": "3", "DistAIFrame": framework}
    spec = jobs.describe(jobs.read(asked, jobs.Bounds()), OFFER, place)
    assert [(role.name, role.count) for role in spec.roles] == [("master", 1), ("worker", 2), ("ps", 1)]
    master, worker, server = spec.roles
    assert (master.resources, master.command) == (worker.resources, worker.command)
    assert (server.gpus, server.command) == (0, master.command)
    # The master decides; a server that is never done does not keep the job.
    assert [role.completion.min_succeeded for role in spec.roles] == [1, None, None]
    assert read_job(write_job(spec)).n_tasks == 4


def test_nodes_of_other_frameworks_are_equal() -> None:
    for framework in ("0", "302", "303"):
        asked = {**WISH, "TrainModeId": "102", "TrainWorkAmount": "3", "DistAIFrame": framework}
        (role,) = jobs.describe(jobs.read(asked, jobs.Bounds()), OFFER, place).roles
        assert (role.name, role.count) == ("worker", 3)


def test_every_state_has_a_word() -> None:
    assert set(jobs.STATUS) == set(JobState)


@given(st.dictionaries(st.sampled_from(sorted(WISH)), st.text() | st.integers().map(str)))
def test_any_wish_is_read_or_refused(changed: dict[str, str]) -> None:
    with contextlib.suppress(InvalidInput):
        write_job(jobs.describe(jobs.read({**WISH, **changed}, jobs.Bounds()), OFFER, place))


def test_the_number_of_a_node_stays_the_same_whatever_else_there_is() -> None:
    assert catalogue.types_of({}, has_examples=True).keys() & {catalogue.number_of("2-P40")}
    assert catalogue.number_of("2-P40") != catalogue.number_of("4-P40")
