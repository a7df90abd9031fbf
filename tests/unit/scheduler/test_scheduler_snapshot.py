"""How a job's file becomes the room it needs."""

from __future__ import annotations

from footplate.domain.resources import GIB, Resources
from footplate.domain.spec import JobSpec, RoleSpec
from footplate.scheduler.snapshot import RoleShape, shape_of


def spec(command: str = "true") -> JobSpec:
    worker = RoleSpec(command, "worker", 2, milli_cpus=500, memory_bytes=GIB, gpus=1, gpu_type="T4")
    return JobSpec(name="j", roles=(worker,))


def test_a_shape_holds_what_each_role_asks_for() -> None:
    assert shape_of(spec()) == (RoleShape("worker", 2, Resources(500, GIB, 1), "T4"),)


def test_equal_needs_are_one_object_so_that_a_pass_need_not_compare_them() -> None:
    assert shape_of(spec("true")) is shape_of(spec("false"))
