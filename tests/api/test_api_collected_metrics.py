"""Metrics without a change of the script: event files, JSON lines and logs are read as they grow, once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from apiclient import Api, Data

from footplate.control.collect import PIECE_BYTES
from footplate.domain.metriclines import points_of_line
from footplate.testing.eventwriter import scalar_event
from footplate.testing.server import Served


def collected(server: Served, api: Api, job: Data) -> dict[str, list[float]]:
    server.run(server.parts.controller.collect_metrics())
    found = api.ok("GET", f"/jobs/{job['id']}/metrics")["items"]
    return {one["name"]: one["values"] for one in found}


def test_event_files_are_read_on_as_they_grow(ann: Api, server: Served) -> None:
    job = ann.running()
    folder = ann.folder(job) / "logs" / "validation"
    folder.mkdir(parents=True)
    file = folder / "events.out.tfevents.1.host"
    second = scalar_event(2, 2, "loss", 0.25)
    file.write_bytes(scalar_event(1, 1, "loss", 0.5, as_tensor=True) + second[:9])
    assert collected(server, ann, job) == {"validation/loss": [0.5]}
    with file.open("ab") as more:
        more.write(second[9:])
    assert collected(server, ann, job) == {"validation/loss": [0.5, 0.25]}
    # As after a restart: nobody remembers what was read but the points themselves.
    server.parts.controller._collector._files.clear()
    assert collected(server, ann, job) == {"validation/loss": [0.5, 0.25]}


def test_files_that_only_look_like_it_do_no_harm(ann: Api, server: Served) -> None:
    job = ann.running()
    folder = ann.folder(job)
    (folder / "events.out.tfevents.1.text").write_text("not an event at all, but long enough")
    (folder / "events.out.tfevents.1.link").symlink_to("/etc/passwd")
    (folder / "metrics.jsonl").write_text(
        'nonsense\n{"loss": "low"}\n[1]\n{"step": 1, "loss": 2}\n{"loss": 3'
    )
    assert collected(server, ann, job) == {"loss": [2]}


def test_lines_of_the_log_are_matched_and_a_job_that_has_ended_is_read_to_its_end(
    ann: Api, server: Served
) -> None:
    job = ann.running(log_metrics=[r"step (?P<step>\d+).* loss=(?P<loss>[-\d.e]+)", r"acc: (?P<acc>\S+)"])
    ann.write_log(job, b"step 1 of 9: loss=0.5\nnothing\nacc: none\n")
    assert collected(server, ann, job) == {"loss": [0.5]}
    ann.write_log(job, b"step 2 of 9: loss=1e-1\nacc: 0.9\nstep 3")
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    assert collected(server, ann, job) == {"loss": [0.5, 0.1], "acc": [0.9]}
    assert ann.ok("GET", f"/jobs/{job['id']}/metrics", params={"name": "loss"})["items"][0]["x"] == [1, 2]


def test_bars_and_a_line_without_an_end_hold_up_no_line_of_the_log(ann: Api, server: Served) -> None:
    job = ann.running(log_metrics=[r"loss=(?P<loss>\S+)"])
    ann.write_log(job, b"loss=0.5 |##  |\rloss=0.4 |### |\rloss=0.")
    assert collected(server, ann, job) == {"loss": [0.5, 0.4]}
    ann.write_log(job, b"3 |####|\n" + bytes(2 * PIECE_BYTES))
    assert collected(server, ann, job) == {"loss": [0.5, 0.4, 0.3]}
    ann.write_log(job, b"\nloss=0.2\n")
    assert collected(server, ann, job) == {"loss": [0.5, 0.4, 0.3, 0.2]}


def test_a_pattern_that_is_none_is_refused(ann: Api) -> None:
    document = {"name": "bad", "command": "true", "log_metrics": ["loss=(?P<loss"]}
    ann.refused("POST", "/jobs", 422, "log_metrics[0]", json=document)


FFDL = {
    "meta": {"training_id": "t"},
    "grouplabel": "test",
    "etimes": {"iteration": {"type": 2, "value": "100"}, "time": {"type": 3, "value": "1500000000000"}},
    "values": {"accuracy": {"type": 3, "value": "0.9"}},
}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (FFDL, [("test/accuracy", 0.9, 100, 1_500_000_000.0)]),
        ({"global_step": 3, "loss": 1, "note": "x", "ok": True}, [("loss", 1.0, 3, 7.0)]),
        ({"values": {"a": 1}, "step": 2, "at": 5, "group": "val"}, [("val/a", 1.0, 2, 5.0)]),
        ({"loss": {"deep": 1}}, []),
        ("text", []),
    ],
)
def test_lines_of_several_makers_are_understood(line: Any, expected: list[tuple[Any, ...]]) -> None:
    points = points_of_line(json.dumps(line), 7.0)
    assert [(one.name, one.value, one.step, one.at) for one in points] == expected
