"""Streams over several logs: what was printed before comes with times, so that a reader can order it."""

from __future__ import annotations

from apiclient import Api, Streamed

from footplate.domain.layout import attempt_folder, task_folder
from footplate.store.logfiles import LogFile
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
        log = LogFile(task_folder(attempt_folder(ann.served.home, job["id"], 0), "main", index))
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
