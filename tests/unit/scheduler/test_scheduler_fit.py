"""What is refused at submit because it could never start."""

from __future__ import annotations

import pytest

from footplate.domain.cluster import Queue
from footplate.domain.states import ReasonCode
from footplate.scheduler.fit import can_ever_fit
from footplate.scheduler.snapshot import RoleShape
from footplate.testing.scheduling import amount, node, queue, role

NODES = [
    node("a", cpus=64, memory_gb=128, gpus=8, gpu_type="A100"),
    node("b", cpus=32, memory_gb=512, gpus=4, gpu_type="T4"),
]
ANY = queue()


@pytest.mark.parametrize(
    ("roles", "where", "message"),
    [
        ([role(gpus=16)], ANY, "requests 16 GPUs per task; the largest node has 8"),
        ([role(cpus=65)], ANY, "requests 65 CPUs per task; the largest node has 64"),
        ([role(memory_gb=513)], ANY, "requests 513GB of memory per task; the largest node has 512GB"),
        (
            [role(gpus=5, gpu_type="t4")],
            ANY,
            "requests 5 GPUs of type t4 per task; the largest node has 4",
        ),
        (
            [role(gpus=1, gpu_type="H100")],
            ANY,
            "requests 1 GPU of type H100; no node has that type, only A100, T4",
        ),
        (
            [role(gpus=5, memory_gb=256)],
            ANY,
            "requests 5 GPUs, 1 CPU and 256GB of memory per task; no node has all of that",
        ),
        (
            [role(gpus=4, count=4)],
            ANY,
            "requests 4 tasks of 4 GPUs and 1 CPU each at once; the nodes have room for 3",
        ),
        (
            [role("ps"), role("w", gpus=16)],
            ANY,
            "role w requests 16 GPUs per task; the largest node has 8",
        ),
        (
            [role("ps", gpus=8), role("w", gpus=8)],
            ANY,
            "requests 16 GPUs and 2 CPUs at once (2 tasks in 2 roles); "
            "the nodes cannot hold them all together",
        ),
        (
            [role(gpus=8)],
            queue("q", nodes=("b",)),
            "requests 8 GPUs per task; the largest node of queue q has 4",
        ),
        (
            [role(gpus=2, count=2)],
            queue("q", maximum=amount(cpus=9, memory_gb=9, gpus=3)),
            "requests 4 GPUs; queue q may use at most 3",
        ),
        (
            [role(cpus=3)],
            queue("q", maximum=amount(cpus=2.5)),
            "requests 3 CPUs; queue q may use at most 2.5",
        ),
    ],
)
def test_what_can_never_fit_is_refused_with_numbers(
    roles: list[RoleShape], where: Queue, message: str
) -> None:
    told = can_ever_fit(tuple(roles), NODES, where)
    assert told is not None
    assert (told.code, told.message) == (ReasonCode.NEVER_FITS, message)
    assert told.details["needed"]


@pytest.mark.parametrize(
    "roles",
    [
        [role(gpus=8, cpus=64, memory_gb=128)],
        [role(gpus=4, count=3)],
        [role("ps", count=2), role("w", gpus=4, gpu_type="T4")],
    ],
)
def test_what_fits_on_empty_machines_is_accepted(roles: list[RoleShape]) -> None:
    assert can_ever_fit(tuple(roles), NODES, ANY) is None


def test_nodes_out_of_service_and_cards_of_others_count_since_they_may_come_back() -> None:
    nodes = [node("a", gpus=4, is_schedulable=False, in_use_by_others=[0])]
    assert can_ever_fit((role(gpus=4),), nodes, ANY) is None


def test_nothing_is_refused_while_no_node_is_known() -> None:
    assert can_ever_fit((role(gpus=4),), [], ANY) is None
    assert can_ever_fit((role(gpus=4),), NODES, queue("q", nodes=("later",))) is None


def test_a_machine_without_gpus_says_so() -> None:
    told = can_ever_fit((role(gpus=1),), [node()], ANY)
    assert told is not None
    assert told.message == "requests 1 GPU; no node has GPUs"
