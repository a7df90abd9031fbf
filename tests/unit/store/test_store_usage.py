"""What tasks used over time, kept in files and read as rates."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.home.layout import usage_file
from footplate.store import usagefiles
from footplate.store.usagefiles import Sample


def keep(folder: Path, *samples: Sample) -> None:
    for sample in samples:
        usagefiles.append(folder, sample)


def test_samples_come_back_as_rates(tmp_path: Path) -> None:
    keep(tmp_path, Sample(10, 1, 100, 0, 0, 2, 0.5, 7), Sample(20, 16, 300, 1000, 50, 3, 1.0, 9))
    (rate,) = usagefiles.rates(usagefiles.read(tmp_path), 100)
    assert (rate.at, rate.cpus, rate.memory_bytes) == (20, 1.5, 300)
    assert (rate.read_bytes_s, rate.written_bytes_s, rate.n_processes) == (100, 5, 3)
    assert (rate.gpu_utilisation, rate.gpu_memory_bytes) == (1.0, 9)


def test_what_could_not_be_read_stays_unknown(tmp_path: Path) -> None:
    keep(tmp_path, Sample(10, 1, 100), Sample(20, 2, 100))
    (rate,) = usagefiles.rates(usagefiles.read(tmp_path), 100)
    assert rate.read_bytes_s is rate.gpu_utilisation is rate.n_processes is None


def test_a_task_that_was_started_again_counts_from_nothing(tmp_path: Path) -> None:
    keep(tmp_path, Sample(10, 100, 1), Sample(20, 5, 1))
    assert usagefiles.rates(usagefiles.read(tmp_path), 10)[0].cpus == 0.5


@pytest.mark.parametrize("n_samples", [0, 1, 2, 3, 299, 300, 301, 302, 5000])
def test_no_more_points_than_asked_for_and_the_peak_is_kept(tmp_path: Path, n_samples: int) -> None:
    samples = [Sample(float(n), n / 2, 7 if n == n_samples - 1 else 1) for n in range(n_samples)]
    rates = usagefiles.rates(samples, 300)
    assert len(rates) <= 300
    assert bool(rates) == (n_samples > 1)
    if rates:
        assert max(rate.memory_bytes for rate in rates) == 7
        assert all(rate.cpus == 0.5 for rate in rates)


def test_a_cut_off_record_is_left_out_and_a_missing_file_is_empty(tmp_path: Path) -> None:
    assert usagefiles.read(tmp_path) == []
    keep(tmp_path, Sample(10, 1, 1), Sample(20, 2, 1))
    data = usage_file(tmp_path).read_bytes()
    usage_file(tmp_path).write_bytes(data[:-3])
    assert [sample.at for sample in usagefiles.read(tmp_path)] == [10]
    assert usagefiles.read(tmp_path, since=15) == []
