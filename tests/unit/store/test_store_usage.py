"""What tasks and nodes used over time, kept in files and read as rates."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.home.layout import folder_of_task, node_folder, usage_file
from footplate.store import usagefiles
from footplate.store.usagefiles import UNKNOWN, Sample, UsageFiles

ATTEMPT = "2me19e9zbny0.0"
DAY_S = 86400


def keep(folder: Path, *samples: Sample) -> None:
    for sample in samples:
        usagefiles.append(folder, [sample])


@pytest.fixture
def files(tmp_path: Path) -> UsageFiles:
    folder_of_task(tmp_path, ATTEMPT, "main-0").mkdir(parents=True)
    return UsageFiles(tmp_path)


def on_disk(home: Path) -> list[float]:
    return [one.at for one in usagefiles.read(folder_of_task(home, ATTEMPT, "main-0"))]


def test_samples_come_back_as_rates(tmp_path: Path) -> None:
    first = Sample(10, 1, 100, 0, 0, 50, 60, 2, 0.5, 7, 100.0)
    keep(tmp_path, first, Sample(20, 16, 300, 1000, 50, 150, 80, 3, 1.0, 9, 300.0))
    (rate,) = usagefiles.rates(usagefiles.read(tmp_path), 100)
    assert (rate.at, rate.cpus, rate.memory_bytes) == (20, 1.5, 300)
    assert (rate.read_bytes_s, rate.written_bytes_s, rate.n_processes) == (100, 5, 3)
    assert (rate.received_bytes_s, rate.sent_bytes_s) == (10, 2)
    assert (rate.gpu_utilisation, rate.gpu_memory_bytes, rate.power_w) == (1.0, 9, 300.0)


def test_what_could_not_be_read_stays_unknown(tmp_path: Path) -> None:
    keep(tmp_path, Sample(10, 1, 100), Sample(20, 2, 100))
    (rate,) = usagefiles.rates(usagefiles.read(tmp_path), 100)
    assert rate.read_bytes_s is rate.gpu_utilisation is rate.n_processes is None
    assert rate.received_bytes_s is rate.sent_bytes_s is rate.power_w is None


def test_a_task_that_was_started_again_counts_from_nothing(tmp_path: Path) -> None:
    keep(tmp_path, Sample(10, 100, 1), Sample(20, 5, 1))
    assert usagefiles.rates(usagefiles.read(tmp_path), 10)[0].cpus == 0.5


@pytest.mark.parametrize("n_samples", [0, 1, 2, 3, 299, 300, 301, 302, 5000])
def test_no_more_points_than_asked_for_and_the_peak_is_kept(n_samples: int) -> None:
    samples = [Sample(float(n), n / 2, 7 if n == n_samples - 1 else 1) for n in range(n_samples)]
    rates = usagefiles.rates(samples, 300)
    assert len(rates) <= 300
    assert bool(rates) == (n_samples > 1)
    if rates:
        assert max(rate.memory_bytes for rate in rates) == 7
        assert all(rate.cpus == 0.5 for rate in rates)


def test_a_chart_gives_the_same_room_to_times_with_many_samples_and_with_few() -> None:
    seldom = [Sample(float(at), at, 1) for at in range(0, 10_000, 100)]
    often = [Sample(float(at), at, 1) for at in range(10_000, 20_000)]
    rates = usagefiles.rates([*seldom, *often], 100)
    assert 48 <= sum(rate.at < 10_000 for rate in rates) <= 52


def test_a_cut_off_record_is_left_out_and_a_missing_file_is_empty(tmp_path: Path) -> None:
    assert usagefiles.read(tmp_path) == []
    keep(tmp_path, Sample(10, 1, 1), Sample(20, 2, 1))
    data = usage_file(tmp_path).read_bytes()
    usage_file(tmp_path).write_bytes(data[:-3])
    assert [sample.at for sample in usagefiles.read(tmp_path)] == [10]
    assert usagefiles.read(tmp_path, since=15) == []
    keep(tmp_path, Sample(30, 3, 1))
    assert [sample.at for sample in usagefiles.read(tmp_path)] == [10, 30]


def test_a_file_that_was_not_written_like_this_is_begun_anew(tmp_path: Path) -> None:
    usage_file(tmp_path).write_bytes(b"something else")
    assert usagefiles.read(tmp_path) == []
    keep(tmp_path, Sample(10, 1, 1))
    assert [sample.at for sample in usagefiles.read(tmp_path)] == [10]


def test_the_older_samples_are_the_fewer_stay_and_sums_and_peaks_stay_right() -> None:
    now = 3 * DAY_S
    samples = [Sample(float(at), at / 2, 9 if at == 777 else 1, at, power_w=at % 2) for at in range(now + 1)]
    kept = usagefiles.thinned(samples, now)
    ages = [now - one.at for one in kept]
    assert sum(age < 600 for age in ages) == 600
    assert sum(600 <= age < 7200 for age in ages) == pytest.approx(660, abs=2)
    assert sum(7200 <= age < DAY_S for age in ages) == pytest.approx(1320, abs=2)
    assert sum(age >= DAY_S for age in ages) == pytest.approx(288, abs=2)
    assert kept[-1] == samples[-1]
    rates = usagefiles.rates(kept, len(kept))
    assert all(rate.cpus == 0.5 and rate.read_bytes_s == 1 for rate in rates)
    assert max(one.memory_bytes for one in kept) == 9
    assert kept[3].power_w == pytest.approx(0.5, abs=0.01)
    # What is thin already does not get thinner by being looked at again.
    assert usagefiles.thinned(kept, now) == kept


def test_a_file_stays_small_over_days(files: UsageFiles, tmp_path: Path) -> None:
    for at in range(0, 3 * DAY_S, 20):
        files.append(ATTEMPT, "main-0", Sample(float(at), at, 1))
    assert len(on_disk(tmp_path)) < 3500
    assert sum(rate.cpus for rate in usagefiles.rates(files.read(ATTEMPT, "main-0"), 100)) == 100


def test_new_samples_are_told_before_they_are_written_and_once(files: UsageFiles, tmp_path: Path) -> None:
    for at in range(1, 15):
        files.append(ATTEMPT, "main-0", Sample(float(at), at, 1))
        assert [one.at for one in files.read(ATTEMPT, "main-0")] == list(range(1, at + 1))
    assert on_disk(tmp_path) == list(range(1, 12))
    assert [one.at for one in files.read(ATTEMPT, "main-0", since=13)] == [13, 14]
    assert files.newest(ATTEMPT)["main-0"].at == 14


def test_a_time_that_does_not_move_is_kept_once(files: UsageFiles) -> None:
    for cpu_s in (1, 2):
        files.append(ATTEMPT, "main-0", Sample(5.0, cpu_s, 1))
    assert [one.cpu_s for one in files.read(ATTEMPT, "main-0")] == [1]


@pytest.mark.parametrize("ended", [True, False])
def test_the_last_samples_are_written_at_the_end_of_the_job_or_the_server(
    files: UsageFiles, tmp_path: Path, ended: bool
) -> None:
    files.append(ATTEMPT, "main-0", Sample(1.0, 1, 1))
    assert on_disk(tmp_path) == []
    files.keep_only(()) if ended else files.close()
    assert on_disk(tmp_path) == [1]
    assert bool(files.newest(ATTEMPT)) is not ended


def test_a_job_that_was_removed_meanwhile_troubles_nobody(files: UsageFiles, tmp_path: Path) -> None:
    files.append(ATTEMPT, "gone-0", Sample(1.0, 1, 1))
    files.keep_only(())
    assert files.read(ATTEMPT, "gone-0") == []
    assert not folder_of_task(tmp_path, ATTEMPT, "gone-0").exists()


@pytest.mark.parametrize("node", ["here", "../there", "a/b", "", "."])
def test_nodes_and_their_cards_are_kept_apart_whatever_they_are_called(
    files: UsageFiles, tmp_path: Path, node: str
) -> None:
    files.append_node(node, Sample(1.0, 1, 1))
    files.append_node(node, Sample(1.0, 0, 0, gpu_utilisation=0.5), 3)
    files.append_node("other", Sample(2.0, 2, 2))
    files.close()
    assert [one.cpu_s for one in files.read_node(node)] == [1]
    assert [one.gpu_utilisation for one in files.read_node(node, 3)] == [0.5]
    assert files.read_node(node, 4) == []
    assert (newest := files.newest_of_node(node)) is not None
    assert newest.power_w == UNKNOWN
    assert node_folder(tmp_path, node).parent == tmp_path / "nodes"


def test_a_link_in_place_of_a_tasks_folder_is_not_written_through(files: UsageFiles, tmp_path: Path) -> None:
    folder = folder_of_task(tmp_path, ATTEMPT, "main-0")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    keep(elsewhere, Sample(1.0, 1, 1))
    folder.rmdir()
    folder.symlink_to(elsewhere)
    with pytest.raises(OSError, match="Not a directory"):
        usagefiles.thin(folder, 10)
    assert usagefiles.read(folder) == []
