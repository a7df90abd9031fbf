"""Event files of TensorBoard are read as far as they are written."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from footplate.domain.eventfile import NotAnEventFile, Scalar, is_event_file, read_scalars
from footplate.testing.eventwriter import record, scalar_event


@pytest.mark.parametrize("as_tensor", [False, True])
def test_a_scalar_is_read_however_it_is_held(as_tensor: bool) -> None:
    data = scalar_event(1000.5, 7, "train/loss", 0.25, as_tensor=as_tensor)
    assert read_scalars(data) == ([Scalar(1000.5, 7, "train/loss", 0.25)], len(data))


def test_a_record_that_is_half_written_is_read_when_it_is_whole() -> None:
    first, second = scalar_event(1, 1, "loss", 3), scalar_event(2, 2, "loss", 2)
    for cut in range(len(second)):
        assert read_scalars(first + second[:cut]) == ([Scalar(1, 1, "loss", 3)], len(first))
    assert read_scalars(second)[0] == [Scalar(2, 2, "loss", 2)]


def test_other_events_are_passed_over() -> None:
    version = record(b"\x1a\x0dbrain.Event:2")
    found, place = read_scalars(version + scalar_event(1, -1, "acc", math.inf))
    assert found == [Scalar(1, -1, "acc", math.inf)]
    assert place == len(version) + len(scalar_event(1, -1, "acc", 1))


@pytest.mark.parametrize(
    "data", [b"x" * 12, b"\xff" * 16, record(b"\x2a\x7fx"), record(b"\x08" + b"\xff" * 11)]
)
def test_damaged_files_are_told(data: bytes) -> None:
    with pytest.raises(NotAnEventFile):
        read_scalars(data)


def test_files_are_known_by_their_names() -> None:
    assert is_event_file("events.out.tfevents.1700000000.host.1.0")
    assert not is_event_file("events.json")


def test_what_the_real_writer_of_torch_writes_is_read(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the package tensorboard")
    torch = pytest.importorskip("torch", reason="needs the package torch")
    tensorboard = pytest.importorskip("torch.utils.tensorboard", reason="needs the package torch")
    with tensorboard.SummaryWriter(tmp_path) as writer:
        for step in range(20):
            writer.add_scalar("loss", 1 / (step + 1), step)
            writer.add_scalar("acc", step, step, new_style=True, double_precision=True)
        writer.add_text("notes", "nothing of interest")
        writer.add_histogram("weights", torch.ones(3), 1)
    (file,) = [path for path in tmp_path.iterdir() if is_event_file(path.name)]
    data = file.read_bytes()
    scalars, place = read_scalars(data)
    assert place == len(data)
    assert [one.value for one in scalars if one.tag == "acc"] == list(range(20))
    assert [one.step for one in scalars if one.tag == "loss"] == list(range(20))
    assert {one.tag for one in scalars} == {"loss", "acc"}
