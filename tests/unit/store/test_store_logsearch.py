"""Searching logs of any length."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from footplate.store import logsearch
from footplate.store.logfiles import LogFile
from footplate.store.logsearch import Found, search, search_up


def log_of(folder: Path, content: bytes) -> LogFile:
    folder.mkdir(exist_ok=True)
    log = LogFile(folder)
    log.path.parent.mkdir(parents=True, exist_ok=True)
    log.path.write_bytes(content)
    return log


def test_lines_that_hold_a_text_are_found_by_their_beginnings(tmp_path: Path) -> None:
    log = log_of(tmp_path, b"loss 3\nnothing\nLOSS 2 loss\nlast loss")
    assert search(log, "Loss", 0, 10) == Found([0, 15, 27], None)


def test_nothing_is_found_in_an_empty_or_missing_log(tmp_path: Path) -> None:
    assert search(LogFile(tmp_path / "none"), "x", 0, 10) == Found([], None)


def test_a_search_goes_on_where_it_stopped(tmp_path: Path) -> None:
    log = log_of(tmp_path, b"".join(b"hit %d\nmiss\n" % n for n in range(100)))
    found: list[int] = []
    offset: int | None = 0
    while offset is not None:
        page = search(log, "hit", offset, 7)
        found, offset = found + page.lines, page.next_offset
    assert len(found) == len(set(found)) == 100


def test_a_line_across_blocks_is_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logsearch, "SEARCH_BLOCK_BYTES", 16)
    content = b"first line\nsecond needle\nthird\n"
    assert search(log_of(tmp_path, content), "needle", 0, 10) == Found([11], None)


def test_a_line_longer_than_a_block_is_passed_over_without_hanging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logsearch, "SEARCH_BLOCK_BYTES", 16)
    log = log_of(tmp_path, b"y" * 100 + b"\nneedle\n")
    assert search(log, "needle", 0, 10) == Found([101], None)


def test_one_call_reads_a_bounded_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logsearch, "SEARCH_BLOCK_BYTES", 16)
    monkeypatch.setattr(logsearch, "MOST_READ_BYTES", 64)
    log = log_of(tmp_path, b"0123456\n" * 100 + b"needle\n")
    first = search(log, "needle", 0, 10)
    assert first.lines == []
    assert first.next_offset is not None
    assert 64 <= first.next_offset < 100


END = 2**60


def test_the_newest_lines_come_first_when_looking_upwards(tmp_path: Path) -> None:
    log = log_of(tmp_path, b"loss 3\nnothing\nLOSS 2 loss\nlast loss")
    assert search_up(log, "Loss", END, 10) == Found([27, 15, 0], None)
    assert search_up(log, "Loss", END, 2) == Found([27, 15], 15)
    assert search_up(log, "Loss", 15, 10) == Found([0], None)
    assert search_up(LogFile(tmp_path / "none"), "x", END, 10) == Found([], None)


@pytest.mark.parametrize("block_bytes", [8, 16, 33, 4096])
def test_looking_upwards_finds_what_looking_down_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    monkeypatch.setattr(logsearch, "SEARCH_BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(logsearch, "MOST_READ_BYTES", 200)
    log = log_of(tmp_path, b"".join(b"hit %d\nmiss\n" % n for n in range(100)))
    found: list[int] = []
    before: int | None = END
    while before is not None:
        page = search_up(log, "hit", before, 7)
        found, before = found + page.lines, page.next_offset
    assert len(found) == 100
    assert found == sorted(found, reverse=True)


def test_looking_upwards_passes_over_endless_lines_and_dropped_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_of(tmp_path, b"needle\n" + b"y" * 40_000 + b"\nneedle\n" * 3)
    assert log.drop_middle(16_384)
    monkeypatch.setattr(logsearch, "SEARCH_BLOCK_BYTES", 1024)
    assert search_up(log, "needle", END, 10) == Found([40_024, 40_016, 40_008, 0], None)


@pytest.mark.alone
def test_a_hundred_megabytes_are_searched_within_a_second(tmp_path: Path) -> None:
    log = log_of(tmp_path, b"an ordinary line of some training, epoch 1\n" * 2_400_000 + b"the needle\n")
    began_at = time.perf_counter()
    assert len(search(log, "needle", 0, 10).lines) == 1
    assert time.perf_counter() - began_at < 1.0
