"""Log files: read by offset, by line and by time, also where their middle was given back."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from footplate.domain.mask import Mask
from footplate.store import logfiles
from footplate.store.logfiles import LogFile, fold_progress

PAGE = 4096


def log_with(folder: Path, content: bytes) -> LogFile:
    log = LogFile(folder)
    log.path.write_bytes(content)
    return log


def lines(*numbers: int) -> bytes:
    return b"".join(b"line %d\n" % number for number in numbers)


def read_all(log: LogFile, limit: int) -> bytes:
    """Read a log from its beginning to its end in pieces."""
    offset, read = 0, b""
    while piece := log.read(offset, limit):
        if not piece.data:
            assert piece.next_offset == log.size
            return read
        assert piece.next_offset > offset
        read, offset = read + piece.data, piece.next_offset
    return read


def test_a_log_that_is_not_there_yet_reads_as_empty(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "not-there")
    assert log.size == 0
    assert log.read(0, 100).data == b""
    assert log.offset_of_tail(5) == 0
    assert log.offset_since(1000.0, None, None) == 0
    assert log.holes() == []


def test_reading_beyond_the_end_is_empty_and_stays_where_it_is(tmp_path: Path) -> None:
    log = log_with(tmp_path, b"abc")
    assert log.read(3, 10) == logfiles.Piece(b"", 3)
    assert log.read(2**60, 10) == logfiles.Piece(b"", 2**60)


@pytest.mark.parametrize("limit", [1, 7, 4096, 10**6])
def test_pieces_put_together_are_the_log_byte_for_byte(tmp_path: Path, limit: int) -> None:
    content = bytes(range(256)) * 8
    assert read_all(log_with(tmp_path, content), limit) == content


@pytest.mark.parametrize(
    ("content", "n_lines", "tail"),
    [
        (b"", 3, b""),
        (b"one", 1, b"one"),
        (b"one\n", 1, b"one\n"),
        (b"one\ntwo", 1, b"two"),
        (lines(1, 2, 3), 1, lines(3)),
        (lines(1, 2, 3), 2, lines(2, 3)),
        (lines(1, 2, 3), 3, lines(1, 2, 3)),
        (lines(1, 2, 3), 99, lines(1, 2, 3)),
        (b"a\n\n\n", 2, b"\n\n"),
        (b"\n", 1, b"\n"),
    ],
)
def test_the_tail_is_the_last_lines(tmp_path: Path, content: bytes, n_lines: int, tail: bytes) -> None:
    log = log_with(tmp_path, content)
    assert content[log.offset_of_tail(n_lines) :] == tail


@pytest.mark.parametrize("n_lines", [1, 10, 5000, 19_999, 20_000, 30_000])
def test_the_tail_is_found_across_blocks(
    tmp_path: Path, n_lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logfiles, "BLOCK", 1000)
    content = lines(*range(20_000))
    log = log_with(tmp_path, content)
    assert content[log.offset_of_tail(n_lines) :] == lines(*range(max(0, 20_000 - n_lines), 20_000))


def test_the_tail_of_endless_lines_is_looked_for_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logfiles, "BLOCK", 1000)
    monkeypatch.setattr(logfiles, "MOST_TAIL_BYTES", 3000)
    assert log_with(tmp_path, b"x" * 10_000).offset_of_tail(1) == 7000
    assert log_with(tmp_path, b"x" * 9000 + b"\nend\n").offset_of_tail(1) == 9001
    assert log_with(tmp_path, b"x" * 9000 + b"\nend\n").offset_of_tail(2) == 9001
    assert log_with(tmp_path, b"x" * 2000).offset_of_tail(1) == 0


def test_a_long_index_does_not_slow_reading(tmp_path: Path) -> None:
    log = log_with(tmp_path, b"abc")
    (tmp_path / "log.index").mkdir()
    assert log.read(0, 10).data == b"abc"
    assert log.holes() == []


def test_since_begins_where_the_log_was_at_that_time(tmp_path: Path) -> None:
    log = log_with(tmp_path, b"x" * 500)
    for at, size in ((100.0, 10), (101.0, 200), (102.0, 500)):
        log.sample(at, size)

    def since(at: float) -> int:
        return log.offset_since(at, started_at=99.0, finished_at=None)

    assert [since(at) for at in (50, 99, 99.5, 100, 100.5, 101, 101.9, 102, 200)] == [
        0,
        0,
        0,
        10,
        10,
        200,
        200,
        500,
        500,
    ]


def test_since_after_the_end_of_a_task_is_empty(tmp_path: Path) -> None:
    log = log_with(tmp_path, b"x" * 500)
    log.sample(100.0, 10)
    assert log.offset_since(103.0, 99.0, finished_at=102.0) == 500
    assert log.offset_since(101.0, 99.0, finished_at=102.0) == 10


def test_a_torn_line_of_the_index_is_passed_over(tmp_path: Path) -> None:
    log = log_with(tmp_path, b"x" * 500)
    log.sample(100.0, 10)
    with (tmp_path / "log.index").open("a") as index:
        index.write("101.0")
    assert log.offset_since(105.0, 99.0, None) == 10


def test_an_index_of_a_size_that_never_grows_is_one_sample(tmp_path: Path) -> None:
    log = log_with(tmp_path, b"x" * 500)
    (tmp_path / "log.index").write_bytes(b"1 1\n" * 100_000 + b"2 1\n3 7\n4 5\n")
    samples = log.samples()
    assert samples.between(0, 500, None) == [(1.0, 1), (3.0, 7)]
    assert log.offset_since(9.0, None, None) == 7


def test_of_an_index_beyond_all_measure_the_end_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logfiles, "MOST_INDEX_BYTES", 1000)
    log = log_with(tmp_path, b"x" * 500)
    for number in range(1, 401):
        log.sample(1000.0 + number, number)
    samples = log.samples()
    # A line that is cut at the beginning would have been a moment of its own.
    assert samples.ats[0] > 1300
    assert list(samples.sizes) == list(range(samples.sizes[0], 401))
    assert len(samples.sizes) >= 1000 // len("1400.000 400\n") - 1
    assert log.offset_since(1399.5, 1000.0, None) == 399
    assert log.offset_since(1001.5, 1000.0, None) == 0


def test_moments_are_thinned_out_evenly_and_the_last_stays(tmp_path: Path) -> None:
    log = log_with(tmp_path, b"x" * 50_000)
    (tmp_path / "log.index").write_text("".join(f"{n} {n}\n" for n in range(1, 50_001)))
    kept = log.samples().beyond(100)
    assert len(kept.sizes) <= logfiles.MOST_SAMPLES_KEPT
    times = kept.between(10_000, 40_000, None)
    sizes = [size for _, size in times]
    assert 500 < len(sizes) <= logfiles.MOST_TIMES
    assert sizes[0] < 10_000 + 100
    assert sizes[-1] >= 40_000
    gaps = {later - earlier for earlier, later in pairwise(sizes)}
    assert len(gaps) == 1


def test_the_end_of_a_task_is_the_last_moment_of_its_log(tmp_path: Path) -> None:
    log = log_with(tmp_path, b"x" * 500)
    for at, size in ((100.0, 10), (101.0, 200), (300.0, 500)):
        log.sample(at, size)
    samples = log.samples()
    assert samples.between(0, 500, (250.0, 500)) == [(100.0, 10), (101.0, 200), (250.0, 500)]
    assert samples.between(10, 200, (250.0, 500)) == [(101.0, 200)]
    assert samples.between(500, 500, (250.0, 500)) == []


def test_a_forged_list_of_holes_is_not_read_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logfiles, "MOST_HOLES_BYTES", 100)
    log = log_with(tmp_path, b"x" * 500)
    (tmp_path / "log.holes").write_bytes(b"".join(b"%d %d\n" % (10 * n, 10 * n + 5) for n in range(1000)))
    assert len(log.holes()) <= 100 // len("9990 9995\n")


def test_a_hole_that_grew_is_known_from_its_last_note_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logfiles, "MOST_HOLES_BYTES", 30)
    cap = 16 * PAGE
    log = log_with(tmp_path, b"")
    for _ in range(10):
        with log.path.open("ab") as more:
            more.write(b"a" * (20 * PAGE))
        assert log.drop_middle(cap)
    assert log.holes() == [(cap // 4, log.size - (cap - cap // 4))]
    assert b"\0" not in read_all(log, 10_000)


def test_a_log_above_its_cap_loses_its_middle_and_keeps_both_ends(tmp_path: Path) -> None:
    cap = 16 * PAGE
    content = b"".join(b"%15d\n" % number for number in range(40 * PAGE // 16))
    log = log_with(tmp_path, content)
    blocks = log.path.stat().st_blocks
    assert log.drop_middle(cap)
    ((start, end),) = log.holes()
    assert start == cap // 4
    assert log.size == len(content)
    assert log.size - (end - start) <= cap + PAGE
    assert log.path.stat().st_blocks < blocks
    assert log.read(0, start).data == content[:start]
    assert log.read(end, len(content)).data == content[end:]


def test_a_hole_reads_as_one_line_that_says_how_much_is_missing(tmp_path: Path) -> None:
    content = b"y" * (40 * PAGE)
    log = log_with(tmp_path, content)
    assert log.drop_middle(16 * PAGE)
    ((start, end),) = log.holes()
    before = log.read(start - 3, 100)
    assert before == logfiles.Piece(b"yyy", start)
    marker = log.read(start, 5)
    assert b"were dropped here" in marker.data
    assert marker.next_offset == end
    assert log.read(start + 17, 5).next_offset == end
    whole = read_all(log, 1000)
    assert whole == content[:start] + marker.data + content[end:]


def test_a_log_that_goes_on_growing_loses_more_of_its_middle(tmp_path: Path) -> None:
    cap = 16 * PAGE
    log = log_with(tmp_path, b"a" * (20 * PAGE))
    assert log.drop_middle(cap)
    with log.path.open("ab") as more:
        more.write(b"b" * (30 * PAGE))
    assert log.drop_middle(cap)
    kept = log.size - sum(end - start for start, end in log.holes())
    assert kept <= cap + PAGE
    text = read_all(log, 10_000)
    assert text.startswith(b"a" * (cap // 4))
    assert text.endswith(b"b" * (12 * PAGE - 1))
    assert b"\0" not in text


def test_a_log_within_its_cap_is_left_alone(tmp_path: Path) -> None:
    log = log_with(tmp_path, b"a" * (10 * PAGE))
    assert not log.drop_middle(16 * PAGE)
    assert log.holes() == []


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("plain\ntext\n", "plain\ntext\n"),
        ("10%\r20%\r100%\n", "100%\n"),
        ("10%\r20%", "20%"),
        ("windows\r\nlines\r\n", "windows\nlines\n"),
        ("one\r\rtwo\nthree", "two\nthree"),
        ("\r\r\r\n", "\n"),
        ("", ""),
    ],
)
def test_a_redrawn_line_is_shown_as_it_ended(printed: str, shown: str) -> None:
    assert fold_progress(printed) == shown


SECRET = b"hunter22-hunter22"


def masked(folder: Path, content: bytes) -> LogFile:
    log = log_with(folder, content)
    log.mask = Mask([SECRET.decode()])
    return log


@pytest.mark.parametrize("limit", [1, 3, 16, 17, 18, 4096])
@pytest.mark.parametrize("is_growing", [False, True])
def test_a_secret_is_masked_across_every_border_of_pieces(
    tmp_path: Path, limit: int, is_growing: bool
) -> None:
    content = b"key " + SECRET + b"\n" + SECRET + SECRET + b" end\n"
    log, offset, read = masked(tmp_path, content), 0, b""
    while piece := log.read(offset, limit, is_growing):
        if not piece.data:
            break
        read, offset = read + piece.data, piece.next_offset
    assert read == content.replace(SECRET, b"*" * len(SECRET))
    assert log.read_bytes(0, 10**6) == read
    assert [log.read_bytes(at, 5) for at in range(len(content))] == [read[at:][:5] for at in range(len(read))]


def test_the_beginning_of_a_secret_waits_for_its_rest_while_the_log_grows(tmp_path: Path) -> None:
    log = masked(tmp_path, b"key hunter")
    assert log.read(0, 100, is_growing=True) == logfiles.Piece(b"key ", 4, 6)
    with log.path.open("ab") as file:
        file.write(b"22-hunter22\n")
    assert log.read(4, 100, is_growing=True) == logfiles.Piece(b"*" * 17 + b"\n", 22)
    # What turns out to be something else is shown.
    with log.path.open("ab") as file:
        file.write(b"hunters\n")
    assert log.read(22, 100, is_growing=True) == logfiles.Piece(b"hunters\n", 30)


def test_a_secret_that_the_end_of_a_log_cuts_off_is_masked(tmp_path: Path) -> None:
    assert masked(tmp_path, b"key hunter").read(0, 100).data == b"key ******"


def test_a_secret_that_a_dropped_part_cuts_off_is_masked_on_both_sides(tmp_path: Path) -> None:
    content = bytearray(b"a" * 25 * PAGE)
    for at in (PAGE - 6, 22 * PAGE - 8):
        content[at : at + len(SECRET)] = SECRET
    log = masked(tmp_path, bytes(content))
    assert log.drop_middle(4 * PAGE)
    assert log.holes() == [(PAGE, 22 * PAGE)]
    assert log.read(0, 10**6).data == b"a" * (PAGE - 6) + b"*" * 6
    assert log.read(22 * PAGE, 12).data == b"*" * 9 + b"aaa"


def test_what_was_dropped_is_downloaded_as_zeros(tmp_path: Path) -> None:
    log = masked(tmp_path, b"a" * 20 * PAGE)
    assert log.drop_middle(4 * PAGE)
    ((start, end),) = log.holes()
    assert log.read_bytes(start, 10**6) == bytes(end - start)
    assert log.read_bytes(start - 2, 10**6) == b"aa"
