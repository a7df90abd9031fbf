"""All tasks' logs in one file, and which files of a job there are."""

from __future__ import annotations

from apiclient import Api, Hire

from footplate.testing.fake_clock import FakeClock
from footplate.wire import files as w


def test_lines_of_all_tasks_come_by_time_with_their_tasks_names(ann: Api, clock: FakeClock) -> None:
    job = ann.running(count=2)
    began_at = clock.now()
    # The server takes samples of its own meanwhile: after all of these.
    clock.advance(100)
    for index, step_s in ((0, 20), (1, 10)):
        ann.write_log(job, f"one of {index}\ntwo of {index}\nlast".encode(), index=index)
        log = ann.log(job, index=index)
        log.sample(began_at + step_s, len("one of 0\n"))
        log.sample(began_at + step_s * 3, 2 * len("one of 0\n"))
    answer = ann.call("GET", f"/jobs/{job['id']}/logs/merged")
    assert answer.text.splitlines() == [
        "main-1  one of 1",
        "main-0  one of 0",
        "main-1  two of 1",
        "main-0  two of 0",
        "main-0  last",
        "main-1  last",
    ]
    assert f'{job["name"]}-attempt-1.log"' in answer.headers["Content-Disposition"]


def test_long_logs_and_those_of_tasks_that_printed_nothing_merge_whole(ann: Api) -> None:
    job = ann.running(count=3)
    lines = [f"line {number}" for number in range(50_000)]
    ann.write_log(job, "\n".join(lines).encode(), index=1)
    merged = ann.call("GET", f"/jobs/{job['id']}/logs/merged").text.splitlines()
    assert merged == [f"main-1  {line}" for line in lines]


def test_an_attempt_that_never_was_has_no_merged_log(ann: Api) -> None:
    job = ann.running()
    ann.refused("GET", f"/jobs/{job['id']}/logs/merged?attempt=7", 404, says="no attempt 7")


def test_what_there_is_to_download_is_told(ann: Api, hire: Hire) -> None:
    job = ann.running(shared=True)
    before = ann.ok("GET", f"/jobs/{job['id']}/files", w.JobFiles)["items"]
    assert "output" not in before
    (ann.folder(job) / "model").write_text("weights")
    assert "output" in ann.ok("GET", f"/jobs/{job['id']}/files", w.JobFiles)["items"]
    viewer = hire(default="viewer")
    viewer.refused("GET", f"/jobs/{job['id']}/files", 403, says="viewer")


def test_a_job_that_waits_has_nothing_to_download(ann: Api) -> None:
    ann.running(cpus=8)
    job = ann.submit(cpus=8)
    assert ann.ok("GET", f"/jobs/{job['id']}/files", w.JobFiles)["items"] == []
