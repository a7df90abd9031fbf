"""Streams over several logs: what was printed before comes with times, so that a reader can order it."""

from __future__ import annotations

from pathlib import Path

from apiclient import Api, Hire, Streamed

from footplate.home.layout import log_index_file
from footplate.services.logfollower import Reading
from footplate.store.logfiles import BLOCK, MOST_TIMES, LogFile
from footplate.testing.fake_clock import FakeClock


def logs_of(events: list[Streamed]) -> dict[str, list[list[float]] | None]:
    return {event.data["task"]: event.data.get("times") for event in events if event.kind == "log"}


def until_end(api: Api, path: str) -> list[Streamed]:
    with api.stream(path) as events:
        seen = []
        for event in events:
            seen.append(event)
            if event.kind == "end":
                break
        return seen


def test_what_tasks_printed_comes_with_the_moments_at_which_their_logs_had_grown(
    ann: Api, clock: FakeClock
) -> None:
    job = ann.running(count=2)
    began_at = clock.now()
    for index, step_s in ((0, 10), (1, 20)):
        ann.write_log(job, b"early\nlate\n", index=index)
        log = ann.log(job, index=index)
        log.sample(began_at + step_s, 6)
        # Looked at after the end: the task's own end counts.
        log.sample(began_at + 500, 11)
    clock.advance(100)
    for index in (0, 1):
        ann.finish(job, index=index)
    ann.until(job, "SUCCEEDED")
    times = logs_of(until_end(ann, f"/jobs/{job['id']}/logs/stream"))
    assert times == {
        "main-0": [[began_at + 10, 6], [began_at + 100, 11]],
        "main-1": [[began_at + 20, 6], [began_at + 100, 11]],
    }


def test_one_log_alone_needs_no_times(ann: Api) -> None:
    job = ann.finished()
    ann.write_log(job, b"printed\n")
    assert logs_of(until_end(ann, f"/jobs/{job['id']}/logs/stream")) == {"main-0": None}


def test_a_forged_index_does_not_swell_what_is_sent(ann: Api) -> None:
    job = ann.running(count=2)
    folder = ann.log(job).path.parent
    ann.write_log(job, b"x" * 49_999 + b"\n")
    log_index_file(folder).write_text("".join(f"{n} {n}\n" for n in range(1, 50_001)))
    for index in (0, 1):
        ann.finish(job, index=index)
    ann.until(job, "SUCCEEDED")
    times = logs_of(until_end(ann, f"/jobs/{job['id']}/logs/stream"))["main-0"]
    assert times is not None
    assert 500 < len(times) <= MOST_TIMES
    assert times[-1] == [50_000, 50_000]


def test_the_index_is_read_once_for_all_pieces_of_what_was_printed_before(tmp_path: Path) -> None:
    log = LogFile(tmp_path)
    log.path.write_bytes(b"x" * 3 * BLOCK)
    for n in (1, 2, 3):
        log.sample(100.0 + n, n * BLOCK)
    reading, seen = Reading(log, 0), []
    while not reading.has_caught_up:
        piece, is_last = reading.read(is_growing=False)
        seen.append(reading.times(piece.next_offset, is_last, finished_at=None))
        reading.offset = piece.next_offset
        log_index_file(tmp_path).unlink(missing_ok=True)
    assert seen == [[(101.0, BLOCK)], [(102.0, 2 * BLOCK)], [(103.0, 3 * BLOCK)]]
    assert reading.samples is None


def ages(api: Api, path: str, began_at: float) -> list[tuple[int, int]]:
    """How long after a moment the log had which size."""
    return [(round(at - began_at), size) for at, size in api.ok("GET", path)["items"]]


def test_the_times_of_a_part_are_those_at_which_it_had_been_printed(ann: Api, clock: FakeClock) -> None:
    job = ann.running()
    began_at = clock.now()
    ann.write_log(job, b"one\ntwo\nthree\n")
    log = ann.log(job)
    for step_s, size in ((10, 4), (20, 8), (30, 14)):
        log.sample(began_at + step_s, size)
    path = f"/jobs/{job['id']}/logs/times"
    assert ages(ann, f"{path}?end=8", began_at) == [(10, 4), (20, 8)]
    assert ages(ann, f"{path}?offset=8&end=14", began_at) == [(30, 14)]
    assert ages(ann, f"{path}?offset=14&end=99", began_at) == []


def test_what_was_printed_after_the_last_sample_has_the_time_of_its_tasks_end(
    ann: Api, clock: FakeClock
) -> None:
    job = ann.running()
    ann.write_log(job, b"one\nlast words\n")
    began_at = clock.now()
    ann.log(job).sample(began_at + 10, 4)
    clock.advance(25)
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    assert ages(ann, f"/jobs/{job['id']}/logs/times?end=15", began_at) == [(10, 4), (25, 15)]


def test_times_are_for_those_who_may_read_the_log(ann: Api, hire: Hire) -> None:
    job = ann.running()
    hire(default="member").refused("GET", f"/jobs/{job['id']}/logs/times?end=1", status=403)
    ann.refused("GET", f"/jobs/{job['id']}/logs/times", status=422)
    ann.refused("GET", f"/jobs/{job['id']}/logs/times?end=1&task=none-7", status=404)
