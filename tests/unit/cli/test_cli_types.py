"""The verbs types and frameworks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from commandline import Command

from footplate.testing.fake_server import FakeServer, Reply

GIB = 1024**3
TYPE: dict[str, Any] = {
    "name": "TI.S.LARGE.POST",
    "cpus": 16.0,
    "memory_bytes": 64 * GIB,
    "gpus": 1,
    "gpu_type": "A100",
    "shm_bytes": None,
    "description": "One card",
    "position": 0,
    "created_at": "2026-11-16T00:00:00Z",
    "updated_at": "2026-11-16T00:00:00Z",
    "fit_now": 1,
    "fit_at_most": 4,
    "price": None,
}
CAPACITY: dict[str, Any] = {
    "cpus": {"free": 30.5, "total": 48, "largest": 48},
    "memory_bytes": {"free": 100 * GIB, "total": 192 * GIB, "largest": 192 * GIB},
    "gpus": [{"type": "A100", "free": 1, "total": 4, "largest": 4}],
    "headroom": {"cpus": None, "memory_bytes": None, "gpus": 2},
}
OFFERED: dict[str, Any] = {"items": [TYPE], "queue": "default", "capacity": CAPACITY, "currency": ""}
FRAMEWORK: dict[str, Any] = {
    "name": "pytorch",
    "version": "2.4",
    "image": "torch:2.4",
    "environment": {"requirements": ["torch==2.4", "numpy"]},
    "strategy": "",
    "strategies": ["torchrun", "mpi"],
    "is_default": True,
    "description": "",
    "position": 0,
    "created_at": "2026-11-16T00:00:00Z",
    "updated_at": "2026-11-16T00:00:00Z",
}


@pytest.mark.parametrize("words", [("types",), ("types", "list")])
def test_types_are_listed_with_what_is_free(
    footplate: Command, server: FakeServer, words: tuple[str, ...]
) -> None:
    server.on("GET /instance-types", OFFERED)
    lines = footplate(*words, "-q", "default").out.splitlines()
    assert lines[1].split() == ["TI.S.LARGE.POST", "16", "64GB", "1", "x", "A100", "1", "4", "One", "card"]
    assert lines[2] == (
        "Free now for queue default: 1 of 4 A100 (largest node 4), 30.5 of 48 CPUs, 100GB of 192GB of memory"
        "; its maximum leaves 2 GPU"
    )
    assert server.asked[0].query == {"queue": ["default"]}
    assert json.loads(footplate(*words, "--json").out) == OFFERED


def test_an_engine_that_shows_no_nodes_has_no_counts(footplate: Command, server: FakeServer) -> None:
    unknown = {**TYPE, "fit_now": None, "fit_at_most": None}
    server.on("GET /instance-types", {"items": [unknown], "queue": "far", "capacity": None, "currency": ""})
    out = footplate("types").out
    assert "?" in out
    assert "Free now" not in out


def test_a_type_is_set_and_deleted(footplate: Command, server: FakeServer) -> None:
    server.on("PUT /instance-types/TI.S.LARGE.POST", TYPE)
    server.on("DELETE /instance-types/TI.S.LARGE.POST", Reply(204))
    size = ("--cpus", "16", "--memory", "64GB", "--gpus", "1", "--gpu-type", "A100", "--shm", "8Gi")
    out = footplate("types", "set", "TI.S.LARGE.POST", *size, "--description", "One card").out
    assert out == "Set instance type TI.S.LARGE.POST.\n"
    assert server.asked[0].json == {
        "cpus": 16.0,
        "memory_bytes": 64 * GIB,
        "gpus": 1,
        "gpu_type": "A100",
        "shm_bytes": 8 * GIB,
        "description": "One card",
    }
    assert footplate("types", "delete", "TI.S.LARGE.POST", "--yes").exit_code == 0
    assert footplate("types", "set", "x", "--cpus", "1").exit_code == 2
    assert footplate("types", "set", "x", "--cpus", "1", "--memory", "much").exit_code == 2


@pytest.mark.parametrize("words", [("frameworks",), ("frameworks", "list")])
def test_frameworks_are_listed(footplate: Command, server: FakeServer, words: tuple[str, ...]) -> None:
    server.on("GET /frameworks", {"items": [FRAMEWORK]})
    line = footplate(*words).out.splitlines()[1]
    cells = [cell.strip() for cell in line.split("  ") if cell]
    assert cells == ["pytorch", "2.4", "yes", "torchrun, mpi", "torch:2.4 + torch==2.4, numpy"]
    assert json.loads(footplate(*words, "--json").out) == {"items": [FRAMEWORK]}


def test_a_framework_is_set_with_what_is_named(footplate: Command, server: FakeServer) -> None:
    server.on("PUT /frameworks/pytorch/2.4", FRAMEWORK)
    server.on("DELETE /frameworks/pytorch/2.4", Reply(204))
    assert footplate("frameworks", "set", "pytorch", "2.4", "--image", "torch:2.4").exit_code == 0
    packages = ("--requirement", "torch==2.4", "--requirement", "numpy", "--python", "3.12")
    modes = ("--strategy", "torchrun", "--strategy", "mpi", "--default-strategy", "torchrun")
    footplate("frameworks", "set", "pytorch", "2.4", *packages, *modes)
    footplate("frameworks", "set", "pytorch", "2.4", "--path", "/opt/torch")
    first, second, third = server.requests("PUT /frameworks/pytorch/2.4")
    assert first.json == {"image": "torch:2.4"}
    assert second.json == {
        "environment": {"requirements": ["torch==2.4", "numpy"], "python": "3.12"},
        "strategies": ["torchrun", "mpi"],
        "strategy": "torchrun",
    }
    assert third.json == {"environment": {"path": "/opt/torch"}}
    assert "Deleted" in footplate("frameworks", "delete", "pytorch", "2.4", "--yes").out


def test_a_dry_run_says_when_the_job_would_start(footplate: Command, server: FakeServer) -> None:
    told = {"message": "from time limits", "message_code": "text", "params": {"text": "from time limits"}}
    estimate = {"expected_at": None, "latest_at": "2030-01-31T18:00:00Z", "basis": told}
    reason = {"code": "x", "message": "2 jobs are ahead", "details": {}}
    answer = {"config": {"name": "x"}, "would_start": False, "reason": reason, "estimate": estimate}
    server.on("POST /jobs/dry-run", answer)
    result = footplate("submit", "--dry-run", "--type", "a100", "--framework", "pytorch", "--", "true")
    assert "Expected start: 2030-" in result.err
    assert "at the latest (from time limits)" in result.err
    (asked,) = server.requests("POST /jobs/dry-run")
    assert (asked.json["type"], asked.json["framework"]) == ("a100", "pytorch")
