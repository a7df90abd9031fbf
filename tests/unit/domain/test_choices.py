"""What a job gets that names an instance type or a framework."""

from __future__ import annotations

from typing import Any

import pytest

from footplate.domain.choices import Framework, InstanceType, resolve
from footplate.domain.errors import InvalidInput
from footplate.domain.jobfile import read_whole, write_job, write_whole
from footplate.domain.resources import GIB, MIB
from footplate.domain.spec import DEFAULT_SHM_BYTES, EnvironmentSpec, JobSpec
from footplate.testing.builders import spec

LARGE = InstanceType("TI.GN10.2XLARGE40.POST", 8000, 40 * GIB, 1, "V100", shm_bytes=16 * GIB)
SMALL = InstanceType("small", 500, 32 * MIB)
TYPES = {one.name: one for one in (LARGE, SMALL)}
TORCH = Framework("pytorch", "2.4", "torch:2.4", strategy="torchrun", strategies=("torchrun", "mpi"))
OLD = Framework("pytorch", "2.3", "torch:2.3")
PACKED = Framework("sklearn", "1.5", environment=EnvironmentSpec(requirements=("scikit-learn==1.5",)))
FRAMEWORKS = (TORCH, OLD, PACKED)


def resolved(**fields: Any) -> JobSpec:
    return resolve(spec(**fields), TYPES, FRAMEWORKS)


def problems(**fields: Any) -> list[str]:
    with pytest.raises(InvalidInput) as refused:
        resolved(**fields)
    return [str(one) for one in refused.value.problems]


def test_a_type_says_what_each_task_gets() -> None:
    job = resolved(type=LARGE.name, count=2)
    (role,) = job.roles
    assert role.resources == LARGE.resources
    assert (role.gpu_type, role.shm_bytes, role.count) == ("V100", 16 * GIB, 2)
    assert job.resources == LARGE.resources * 2


def test_each_role_has_a_type_of_its_own() -> None:
    roles = [
        {"name": "ps", "command": "true", "type": "small"},
        {"name": "worker", "command": "true", "type": LARGE.name},
        {"name": "chief", "command": "true", "cpus": 3},
    ]
    job = resolved(roles=roles)
    assert [role.milli_cpus for role in job.roles] == [500, 8000, 3000]
    assert write_job(job)["roles"] == [
        roles[0],
        roles[1],
        roles[2],
    ]


def test_a_type_that_is_not_listed_is_refused_with_the_list() -> None:
    assert problems(type="huge") == [
        "roles[0].type: there is no instance type 'huge'; there are TI.GN10.2XLARGE40.POST, small"
    ]
    with pytest.raises(InvalidInput, match="this server offers none"):
        resolve(spec(type="huge"), {}, ())


@pytest.mark.parametrize("beside", [{"cpus": 2}, {"memory": "1GB"}, {"gpus": 0}, {"gpu_type": "A100"}])
def test_amounts_beside_a_type_are_refused(beside: dict[str, Any]) -> None:
    (name,) = beside
    with pytest.raises(InvalidInput, match=f"{name}: cannot be set beside type: small says it"):
        spec(type="small", **beside)
    assert spec(type="", **{"gpus": 1, **beside}).roles[0].instance_type == ""


def test_shared_memory_is_the_jobs_where_it_says_so() -> None:
    assert resolved(type=LARGE.name, shm="2GB").roles[0].shm_bytes == 2 * GIB
    assert resolved(type="small").roles[0].shm_bytes == DEFAULT_SHM_BYTES
    assert problems(type="small", shm="33MB") == ["roles[0].shm: must be at most the task's memory of 32MB"]


def test_a_framework_fills_in_what_the_job_leaves_open() -> None:
    job = resolved(framework="pytorch:2.4")
    assert (job.framework, job.image, job.strategy) == ("pytorch:2.4", "torch:2.4", "torchrun")
    own = resolved(framework="pytorch:2.4", image="mine", strategy="mpi")
    assert (own.image, own.strategy, own.from_framework) == ("mine", "mpi", ())
    assert resolved(framework="sklearn").environment == PACKED.environment


def test_the_first_version_that_is_listed_is_the_default() -> None:
    assert resolved(framework="pytorch").framework == "pytorch:2.4"
    assert resolved(framework="pytorch:2.3").image == "torch:2.3"


def test_frameworks_versions_and_strategies_that_are_not_listed_are_refused_with_the_list() -> None:
    listed = "there are pytorch:2.4, pytorch:2.3, sklearn:1.5"
    assert problems(framework="jax") == [f"framework: there is no framework 'jax'; {listed}"]
    assert problems(framework="pytorch:1") == [f"framework: there is no framework 'pytorch:1'; {listed}"]
    assert problems(framework="pytorch", strategy="jax") == [
        "strategy: pytorch:2.4 does not offer strategy 'jax'; it offers torchrun, mpi"
    ]
    assert resolved(framework="pytorch:2.3", strategy="jax").strategy == "jax"
    with pytest.raises(InvalidInput, match="this server offers none"):
        resolve(spec(framework="jax"), TYPES, ())


def test_all_that_is_wrong_is_told_at_once() -> None:
    assert len(problems(type="huge", framework="jax")) == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "TI.GN10.2XLARGE40.POST", "count": 2},
        {"type": "small", "shm": "16MB"},
        {"framework": "pytorch:2.4"},
        {"framework": "sklearn:1.5", "type": "small", "strategy": "mpi"},
        {"cpus": 2, "image": "mine"},
    ],
)
def test_what_was_filled_in_is_stored_and_the_job_file_is_as_it_was(fields: dict[str, Any]) -> None:
    asked = spec(**fields)
    job = resolve(asked, TYPES, FRAMEWORKS)
    assert write_job(job) == write_job(asked)
    assert read_whole(write_whole(job)) == job
