"""Points of metrics are kept once, whole and in bounds, and curves keep their extremes."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from footplate.domain.errors import InvalidInput, TooLarge
from footplate.domain.metrics import Batch, Point, gather, read_batch
from footplate.store.curves import MOST_KEPT, axis_of, over, thin_to
from footplate.store.metrics import Metrics

ATTEMPT, TASK = "000000000000.0", "worker-0"


def batch(*values: float, name: str = "loss", source: str = "s", number: int = 1, begin: int = 0) -> Batch:
    points = (Point(1000.0 + step, name, value, step) for step, value in enumerate(values, begin))
    return gather(points, source, number)


@pytest.fixture
def metrics(tmp_path: Path) -> Metrics:
    return Metrics(tmp_path)


def values_of(metrics: Metrics, name: str = "loss") -> list[float]:
    return list(metrics.raw(ATTEMPT, TASK, name).value)


def file_of(tmp_path: Path) -> Path:
    (file,) = tmp_path.rglob("*.points")
    return file


def test_a_batch_that_comes_twice_is_kept_once(metrics: Metrics, tmp_path: Path) -> None:
    assert metrics.append(ATTEMPT, TASK, batch(1, 2))
    assert not metrics.append(ATTEMPT, TASK, batch(1, 2))
    after_restart = Metrics(tmp_path)
    assert not after_restart.append(ATTEMPT, TASK, batch(1, 2))
    assert after_restart.append(ATTEMPT, TASK, batch(3, number=2))
    assert after_restart.append(ATTEMPT, TASK, batch(4, source="another"))
    assert values_of(after_restart) == [1, 2, 3, 4]


def test_a_batch_that_a_crash_cut_off_is_not_there_and_can_come_again(tmp_path: Path) -> None:
    Metrics(tmp_path).append(ATTEMPT, TASK, batch(1, 2))
    whole = file_of(tmp_path).read_bytes()
    Metrics(tmp_path).append(ATTEMPT, TASK, batch(3, 4, number=2))
    both = file_of(tmp_path).read_bytes()
    for cut in range(len(whole), len(both)):
        file_of(tmp_path).write_bytes(both[:cut])
        metrics = Metrics(tmp_path)
        assert values_of(metrics) == [1, 2]
        assert metrics.append(ATTEMPT, TASK, batch(3, 4, number=2))
        assert values_of(metrics) == [1, 2, 3, 4]
        assert file_of(tmp_path).read_bytes() == both


def test_a_damaged_batch_ends_what_is_read(tmp_path: Path) -> None:
    Metrics(tmp_path).append(ATTEMPT, TASK, batch(1, 2))
    size = file_of(tmp_path).stat().st_size
    Metrics(tmp_path).append(ATTEMPT, TASK, batch(3, number=2))
    data = bytearray(file_of(tmp_path).read_bytes())
    data[size + 30] ^= 1
    file_of(tmp_path).write_bytes(data)
    assert values_of(Metrics(tmp_path)) == [1, 2]


def test_every_point_comes_back_as_it_was_told(metrics: Metrics) -> None:
    told = [
        Point(1.5, "a", 0.1, 7, 0.5),
        Point(2.5, "a", math.inf, 9, 0.5),
        Point(3.5, "a", -math.inf, 8, 1.0),
        Point(1.0, "b", 1.0),
        Point(2.0, "b", 2.0, 3),
        Point(3.0, "c", 3.0, None, 2.0),
        Point(4.0, "c", 3.0, None, 2.0),
    ]
    metrics.append(ATTEMPT, TASK, gather(told))
    found = [
        columns.point(place, name)
        for record in metrics.records(ATTEMPT, TASK)
        for name, columns in record.curves()
        for place in range(len(columns))
    ]
    assert found == told
    metrics.append(ATTEMPT, TASK, gather([Point(5.0, "d", math.nan, 1)]))
    assert math.isnan(values_of(metrics, "d")[0])


def test_steps_that_grow_evenly_take_no_room(metrics: Metrics, tmp_path: Path) -> None:
    metrics.append(ATTEMPT, TASK, batch(*range(10_000)))
    assert file_of(tmp_path).stat().st_size < 16.1 * 10_000


def test_a_link_in_the_place_of_the_file_is_not_followed(metrics: Metrics, tmp_path: Path) -> None:
    metrics.append(ATTEMPT, TASK, batch(1))
    file, elsewhere = file_of(tmp_path), tmp_path / "elsewhere"
    elsewhere.write_bytes(b"precious")
    file.unlink()
    file.symlink_to(elsewhere)
    with pytest.raises(OSError, match="plain file"):
        Metrics(tmp_path).append(ATTEMPT, TASK, batch(2))
    assert elsewhere.read_bytes() == b"precious"


def test_a_job_without_room_left_is_told(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path, most_job_bytes=1000)
    metrics.append(ATTEMPT, TASK, batch(*range(100)))
    with pytest.raises(TooLarge, match="no room"):
        metrics.append(ATTEMPT, "worker-1", batch(1))
    with pytest.raises(TooLarge, match="no room"):
        Metrics(tmp_path, most_job_bytes=1000).append(ATTEMPT, "worker-1", batch(1))
    metrics.append("000000000001.0", TASK, batch(1))


def test_too_many_names_are_refused(metrics: Metrics) -> None:
    many = gather(Point(1.0, f"m{number}", 1.0) for number in range(2001))
    with pytest.raises(TooLarge, match="more metrics"):
        metrics.append(ATTEMPT, TASK, many)


def test_a_long_curve_keeps_its_extremes_in_memory_and_all_of_it_in_the_file(tmp_path: Path) -> None:
    chance = random.Random(7)
    told = [chance.gauss(0, 1) for _ in range(100_000)]
    told[54_321], told[54_322] = 99.0, -99.0
    metrics = Metrics(tmp_path)
    for number, begin in enumerate(range(0, len(told), 1000)):
        metrics.append(ATTEMPT, TASK, batch(*told[begin : begin + 1000], number=number, begin=begin))
    for one in (metrics, Metrics(tmp_path)):
        curve = one.curves(ATTEMPT, TASK)["loss"]
        assert (curve.n_points, curve.lowest, curve.highest) == (100_000, -99.0, 99.0)
        assert curve.last == Point(1000.0 + 99_999, "", told[-1], 99_999)
        assert curve.shape is not None
        kept = curve.shape.columns()
        assert len(kept) <= MOST_KEPT + curve.shape.stride
        shown = thin_to(kept, 500)
        assert len(shown) <= 500
        assert {99.0, -99.0} <= set(shown.value)
        assert list(shown.step) == sorted(shown.step)
    assert list(metrics.raw(ATTEMPT, TASK, "loss").value) == told


def test_a_curve_with_values_that_are_not_finite_keeps_them_and_the_extremes(metrics: Metrics) -> None:
    told = [float(number) for number in range(10_000)]
    told[5000] = math.nan
    metrics.append(ATTEMPT, TASK, batch(*told))
    curve = metrics.curves(ATTEMPT, TASK)["loss"]
    assert (curve.lowest, curve.highest) == (0.0, 9999.0)
    assert curve.shape is not None
    shown = thin_to(curve.shape.columns(), 100)
    assert any(math.isnan(value) for value in shown.value)


def test_curves_are_drawn_over_what_their_points_have(metrics: Metrics) -> None:
    metrics.append(ATTEMPT, TASK, gather([Point(3, "a", 1, 2), Point(4, "a", 2, 1), Point(5, "a", 3)]))
    metrics.append(ATTEMPT, TASK, gather([Point(3, "b", 1, epoch=1.5)]))
    a, b = metrics.raw(ATTEMPT, TASK, "a"), metrics.raw(ATTEMPT, TASK, "b")
    assert (axis_of(a, "step"), axis_of(a, "epoch"), axis_of(b, "step")) == ("step", "step", "epoch")
    columns, places = over(a, "step")
    assert (list(columns.value), list(places)) == ([2, 1], [1, 2])


GOOD = {"values": {"loss": 1}}
BAD = {
    "no mapping": ([], "body"),
    "unknown": ({"point": []}, "point"),
    "no list": ({"points": {}}, "points"),
    "no values": ({"points": [{}]}, "points[0]"),
    "a text": ({"points": [GOOD, {"values": {"loss": "low"}}]}, "points[1].values"),
    "a truth value": ({"points": [{"values": {"loss": True}}]}, "points[0].values"),
    "nothing": ({"points": [{"values": {"loss": None}}]}, "points[0].values"),
    "an empty name": ({"points": [{"values": {"": 1}}]}, "points[0].values"),
    "a long name": ({"points": [{"values": {"x" * 251: 1}}]}, "points[0].values"),
    "a line break": ({"points": [{"values": {"a\nb": 1}}]}, "points[0].values"),
    "half a step": ({"points": [{**GOOD, "step": 0.5}]}, "points[0].step"),
    "a huge step": ({"points": [{**GOOD, "step": 2**63}]}, "points[0].step"),
    "a huge number": ({"points": [{"values": {"a": 10**400}}]}, "points[0].values"),
    "long ago": ({"points": [{**GOOD, "at": -1}]}, "points[0].at"),
    "no time": ({"points": [{**GOOD, "at": "NaN"}]}, "points[0].at"),
    "another field": ({"points": [{**GOOD, "stepp": 1}]}, "points[0].stepp"),
    "no number": ({"seq": -1}, "seq"),
    "no source": ({"source": 5}, "source"),
    "too many": ({"points": [{"values": dict.fromkeys(map(str, range(201)), 1)}] * 100}, "points"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_batches_are_refused_and_the_field_is_named(name: str) -> None:
    document, path = BAD[name]
    with pytest.raises(InvalidInput) as refused:
        read_batch(document, 1000.0)
    assert [problem.path for problem in refused.value.problems] == [path]


def test_what_the_dialects_tell_can_be_said() -> None:
    document = {
        "points": [
            {"at": 1794724142, "epoch": 3, "values": {"acc1": 71.234, "acc5": 90.5}},
            {"at": 1794724143, "step": 10, "group": "train", "values": {"loss": "NaN"}},
        ],
        "total_steps": 500,
    }
    found = {point.name: point for point in read_batch(document, 1.0).points()}
    assert found["acc1"] == Point(1794724142, "acc1", 71.234, None, 3)
    assert math.isnan(found["train/loss"].value)
    assert found["footplate/total_steps"].value == 500
