"""The life of jobs beyond run and stop: retries, kept environments, the trash, hangs, files, estimates."""

from __future__ import annotations

import asyncio
import io
import os
import tarfile
from base64 import b64decode
from itertools import takewhile

import pytest
from apiclient import Api, Data, Hire, fresh

from footplate.testing.eventwriter import scalar_event
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeTasks
from footplate.testing.server import Served, until
from footplate.wire.exec import RanBody
from footplate.wire.files import FileList
from footplate.wire.jobs import Attempts, JobDetail, Jobs
from footplate.wire.storagefiles import PreviewBody


def kinds_of(ann: Api, job: Data) -> list[str]:
    return [event["kind"] for event in ann.ok("GET", f"/jobs/{job['id']}/events")["items"]]


def test_a_failing_job_lists_every_attempt_and_then_fails(ann: Api) -> None:
    job = ann.submit(retry=2, command="exit 4")
    over = ann.until(job, "FAILED")
    assert "tried 3 times" in over["reason"]["message"]
    attempts = ann.ok("GET", f"/jobs/{job['id']}/attempts", Attempts)["items"]
    assert [one["tasks"][0]["exit_code"] for one in attempts] == [4, 4, 4]


def test_a_command_that_cannot_be_executed_is_not_retried(ann: Api) -> None:
    over = ann.until(ann.submit(retry=2, command="exit 127"), "FAILED")
    assert (over["attempt"], over["reason"]["details"]["class"]) == (0, "permanent")


def test_words_in_the_log_decide_about_a_retry(ann: Api) -> None:
    rules = [{"action": "retry", "log": "CUDA error", "times": 1}]
    job = ann.running(on_failure=rules)
    ann.write_log(job, b"epoch 3\nRuntimeError: CUDA error: unspecified launch failure\n")
    ann.finish(job, 1)
    again = ann.until(job, "RUNNING", attempt=1)
    assert again["retries_used"] == 0
    ann.write_log(job, b"something else\n", attempt=1)
    ann.finish(job, 1, attempt=1)
    ann.until(job, "FAILED", attempt=1)


def test_one_task_is_started_again_by_itself(ann: Api) -> None:
    job = ann.running(count=2, task_retry=1)
    ann.finish(job, 3, index=1)
    back = until(lambda: _with_run(ann.job(job["id"]), 1))
    assert (back["state"], back["attempt"], back["tasks"][0]["run"]) == ("RUNNING", 0, 0)
    assert "task_retried" in kinds_of(ann, job)
    ann.finish(job, 3, index=1)
    assert ann.until(job, "FAILED")["tasks"][1]["exit_code"] == 3


def test_whoever_follows_a_job_learns_of_every_run_of_its_tasks(ann: Api) -> None:
    job = ann.submit(task_retry=2, command="exit 3")
    ann.until(job, "FAILED")
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        steps = [event.data for event in takewhile(lambda event: event.kind != "end", events)]
    told = [(step["kind"], step["data"].get("run", 0)) for step in steps if "kind" in step]
    assert [one for one in told if one[0].startswith("task_")] == [
        ("task_exited", 0),
        ("task_retried", 1),
        ("task_exited", 1),
        ("task_retried", 2),
        ("task_exited", 2),
    ]


def _with_run(job: Data, run: int) -> Data | None:
    task = job["tasks"][1]
    return job if task["run"] == run and task["state"] == "RUNNING" else None


def test_a_failed_environment_can_be_entered_until_it_is_released(ann: Api, hire: Hire) -> None:
    job = ann.running(count=2, keep_on_failure="10m", cpus=2)
    ann.finish(job, 1, index=1)
    kept = ann.until(job, "STOPPING")
    assert (kept["reason"]["code"], kept["can"]["release"]) == ("kept", True)
    assert kept["kept_until"]
    others = until(lambda: [one for one in ann.job(job["id"])["tasks"] if one["exit_code"] == 143])
    assert [task["name"] for task in others] == ["main-0"]
    ran = ann.ok("POST", f"/jobs/{job['id']}/exec", RanBody, json={"command": ["ls", "-l"]})
    assert ran == {"exit_code": 0, "output": "main-1: ls -l\n", "is_cut": False, "timed_out": False}
    hire(default="viewer").refused("POST", f"/jobs/{job['id']}/exec", 403, json={"command": ["ls"]})
    ann.ok("POST", f"/jobs/{job['id']}/release", JobDetail)
    over = ann.until(job, "FAILED")
    assert over["reason"]["code"] == "task_failed"
    ann.refused(
        "POST", f"/jobs/{job['id']}/exec", 409, says="commands can be run only in", json={"command": ["ls"]}
    )


def test_only_what_failed_can_be_entered_in_a_kept_job(ann: Api) -> None:
    job = ann.running(count=2, keep_on_failure="10m", cpus=2)
    ann.finish(job, 1, index=1)
    ann.until(job, "STOPPING")
    body = {"command": ["ls"], "task": "main-0"}
    ann.refused("POST", f"/jobs/{job['id']}/exec", 409, says="task main-0 of job", json=body)
    ann.ok("POST", f"/jobs/{job['id']}/exec", RanBody, json={**body, "task": "main-1"})


def test_a_task_that_has_ended_cannot_be_entered_while_others_run(ann: Api) -> None:
    job = ann.running(count=2, completion={"min_failed": None}, cpus=2)
    ann.finish(job, 1, index=0)
    until(lambda: ann.job(job["id"])["tasks"][0]["state"] == "EXITED")
    body = {"command": ["ls"]}
    ann.refused("POST", f"/jobs/{job['id']}/exec", 409, says="has ended", json={**body, "task": "main-0"})
    assert ann.ok("POST", f"/jobs/{job['id']}/exec", RanBody, json=body)["output"] == "main-1: ls\n"


def test_a_kept_environment_is_released_when_its_time_is_over(ann: Api, clock: FakeClock) -> None:
    job = ann.running(keep_on_failure="10m")
    ann.finish(job, 1)
    ann.until(job, "STOPPING")
    clock.advance(601)
    ann.until(job, "FAILED")
    assert "released" in kinds_of(ann, job)


def test_a_follower_hears_at_once_that_a_kept_job_has_failed(ann: Api, clock: FakeClock) -> None:
    job = ann.running(keep_on_failure="10m")
    ann.write_log(job, b"the last words\n")
    ann.finish(job, 3)
    kept = ann.until(job, "STOPPING")
    clock.advance(60)
    assert ann.job(job["id"])["run_time_s"] == kept["run_time_s"]
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        printed = ""
        for event in events:
            if event.kind == "log":
                printed += event.data["text"]
            if event.kind == "state" and event.data["state"] == "STOPPING":
                break
        assert printed == "the last words\n", "what it printed comes before"
        assert (event.data["kept_until"], event.data["exit_code"]) == (kept["kept_until"], 3)
    ann.ok("POST", f"/jobs/{job['id']}/release")
    assert ann.until(job, "FAILED")["run_time_s"] == kept["run_time_s"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"command": []}, "command"),
        ({}, "command"),
        ({"command": ["ls"], "task": "main-7"}, "task"),
        ({"command": ["x" * 70_000]}, "command"),
        ({"command": ["ls"], "timeout_s": 0}, "timeout_s"),
        ({"command": ["ls"], "input": "?"}, "input"),
        ({"command": ["ls"], "input": "A" * 22_369_628}, "input"),
        ({"command": ["ls"], "encoding": "latin-1"}, "encoding"),
        ({"command": ["ls"], "more": 1}, "more"),
    ],
)
def test_a_command_that_makes_no_sense_is_refused(ann: Api, body: Data, field: str) -> None:
    job = ann.running()
    ann.refused("POST", f"/jobs/{job['id']}/exec", 422, field, json=body)


def test_a_body_that_is_no_command_at_all_is_refused(ann: Api) -> None:
    job = ann.running()
    ann.refused("POST", f"/jobs/{job['id']}/exec", 422, content=b"{")
    ann.refused("POST", f"/jobs/{job['id']}/exec", 413, content=b" " * (24 * 1024**2))


def test_a_command_reads_what_was_sent_along(ann: Api) -> None:
    job = ann.running()
    body = {"command": ["cat"], "input": "aGVsbG8=", "encoding": "base64"}
    ran = ann.ok("POST", f"/jobs/{job['id']}/exec", RanBody, json=body)
    assert b64decode(ran["output"]) == b"main-0: cat\nhello"


def test_a_halted_job_can_be_downloaded(ann: Api, server: Served, hire: Hire) -> None:
    job = ann.running(shared=True)
    folder = ann.folder(job)
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "weights.bin").write_bytes(b"w" * 300_000)
    (folder / "latest").symlink_to("/etc/passwd")
    ann.ok("POST", f"/jobs/{job['id']}/halt", JobDetail)
    over = ann.until(job, "STOPPED")
    assert over["reason"]["code"] == "halted"
    answer = ann.call("GET", f"/jobs/{job['id']}/download")
    assert answer.headers["content-type"] == "application/gzip"
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
        name = f"{job['name']}-output"
        weights = archive.extractfile(f"{name}/model/weights.bin")
        assert weights is not None
        assert weights.read() == b"w" * 300_000
        assert archive.getmember(f"{name}/latest").issym(), "a link is not followed out of the folder"
    hire(default="viewer").refused("GET", f"/jobs/{job['id']}/download", 403, says="viewer")
    ann.refused("GET", f"/jobs/{job['id']}/download?what=checkpoints", 404, says="no checkpoints")
    ann.refused("GET", f"/jobs/{job['id']}/download?what=everything", 422, "what")


def test_single_files_of_a_job_are_listed_and_fetched(ann: Api, server: Served, hire: Hire) -> None:
    job = ann.running(shared=True)
    folder = ann.folder(job)
    (folder / "best" / "deep").mkdir(parents=True)
    (folder / "best" / "weights.bin").write_bytes(b"w" * 300_000)
    (folder / "best" / "deep" / "empty").touch()
    (folder / "out").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    path = f"/jobs/{job['id']}"
    listed = ann.ok("GET", f"{path}/files/output", FileList)
    assert [(one["path"], one["kind"], one["size_bytes"]) for one in listed["items"]] == [
        ("best", "folder", 0),
        ("out", "link", 0),
        ("pipe", "other", 0),
        ("best/deep", "folder", 0),
        ("best/weights.bin", "file", 300_000),
        ("best/deep/empty", "file", 0),
    ]
    below = ann.ok("GET", f"{path}/files/output?path=best/deep", FileList)
    assert [one["path"] for one in below["items"]] == ["empty"]
    flat = ann.ok("GET", f"{path}/files/output?path=best&is_deep=false", FileList)
    assert [one["path"] for one in flat["items"]] == ["deep", "weights.bin"]
    file = ann.call("GET", f"{path}/download?path=/best/weights.bin")
    assert file.content == b"w" * 300_000
    assert file.headers["content-disposition"].endswith("weights.bin")
    assert ann.call("GET", f"{path}/download?path=best/deep/empty").content == b""
    packed = ann.call("GET", f"{path}/download?path=best/")
    with tarfile.open(fileobj=io.BytesIO(packed.content)) as archive:
        assert "best/weights.bin" in archive.getnames()
    hire(default="viewer").refused("GET", f"{path}/files/output", 403, says="viewer")


def test_the_beginning_of_a_file_of_a_job_is_shown(ann: Api, hire: Hire) -> None:
    job = ann.running(shared=True)
    folder = ann.folder(job)
    (folder / "log.csv").write_text("step,loss\n1,0.5\n")
    (folder / "events.out.tfevents.1.host").write_bytes(
        b"".join(scalar_event(1.0, step, "loss", 1 / step) for step in (1, 2, 4))
        + scalar_event(1.0, 5, "loss", float("nan"))
    )
    (folder / "out").symlink_to("/etc")
    preview = f"/jobs/{job['id']}/files/output/preview"
    table = ann.ok("GET", preview, PreviewBody, params={"path": "log.csv"})
    assert (table["kind"], table["rows"][1]) == ("table", ["1", "0.5"])
    drawn = ann.ok("GET", preview, PreviewBody, params={"path": "events.out.tfevents.1.host"})
    assert drawn["kind"] == "curves"
    assert drawn["curves"] == [{"tag": "loss", "steps": [1, 2, 4, 5], "values": [1.0, 0.5, 0.25, None]}]
    ann.refused("GET", preview, 409, says="is a folder", params={"path": ""})
    ann.refused("GET", preview, 404, params={"path": "out/passwd"})
    hire(default="viewer").refused("GET", preview, 403, says="viewer", params={"path": "log.csv"})


@pytest.mark.parametrize("inner", ["gone", "out", "out/passwd", "pipe", "best/weights.bin/x"])
def test_what_is_no_file_of_the_job_is_not_fetched(ann: Api, inner: str) -> None:
    job = ann.running()
    folder = ann.folder(job)
    (folder / "best").mkdir(parents=True)
    (folder / "best" / "weights.bin").touch()
    (folder / "out").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    ann.refused("GET", f"/jobs/{job['id']}/download?path={inner}", 404, says="no file or folder")


@pytest.mark.parametrize("inner", ["..", "../output", "best/../../x"])
def test_a_path_does_not_lead_out_of_the_job(ann: Api, inner: str) -> None:
    job = ann.running()
    (ann.folder(job) / "one").touch()
    for what in ("files/output", "download"):
        ann.refused("GET", f"/jobs/{job['id']}/{what}?path={inner}", 422, "path")


def test_a_preempted_job_finds_a_notice_and_its_checkpoint(ann: Api, server: Served) -> None:
    job = ann.running(grace="30s")
    (ann.folder(job, "checkpoints") / "step-7").touch()
    ann.ok("POST", f"/jobs/{job['id']}/preempt", JobDetail)
    again = ann.until(job, "RUNNING", attempt=1)
    assert again["retries_used"] == 0
    assert isinstance(server.engine, FakeTasks)
    notice = server.engine.world.notices[f"{job['id']}.0", "main", 0]
    assert (notice.reason, notice.grace_s, notice.will_run_again) == ("preempted", 30, True)
    assert (ann.folder(job, "checkpoints") / "step-7").exists()
    ann.finish(job, attempt=1)
    ann.until(job, "SUCCEEDED")
    ann.refused("POST", f"/jobs/{job['id']}/preempt", 409, says="already over")


def test_a_deleted_job_is_in_the_trash_and_can_be_restored(ann: Api) -> None:
    job = ann.finished(tags=[fresh("tag")])
    listed = f"/jobs?tag={job['tags'][0]}"
    ann.ok("DELETE", f"/jobs/{job['id']}", status=204)
    assert ann.ok("GET", listed)["items"] == []
    (trashed,) = ann.ok("GET", f"{listed}&trash=true", Jobs)["items"]
    assert (trashed["name"], bool(trashed["deleted_at"])) == (job["name"], True)
    ann.refused("DELETE", f"/jobs/{job['id']}", 409, says="already in the trash")
    assert ann.job(job["id"])["can"]["restore"]
    ann.ok("POST", f"/jobs/{job['id']}/restore", JobDetail)
    (back,) = ann.ok("GET", listed)["items"]
    assert (back["name"], back["deleted_at"]) == (job["name"], None)


def test_a_name_in_the_trash_is_free_for_others(ann: Api) -> None:
    job = ann.finished()
    ann.ok("DELETE", f"/jobs/{job['id']}", status=204)
    other = ann.submit(name=job["name"])
    assert ann.job(job["name"])["id"] == other["id"]
    restored = ann.ok("POST", f"/jobs/{job['id']}/restore", JobDetail)
    assert restored["name"] != job["name"]


def test_deleting_a_running_job_puts_it_into_the_trash_once_it_has_stopped(ann: Api) -> None:
    job = ann.running()
    ann.ok("DELETE", f"/jobs/{job['id']}", status=202)
    assert job["id"] not in [one["id"] for one in ann.ok("GET", "/jobs?limit=1000")["items"]]
    over = ann.until(job, "STOPPED")
    assert over["can"]["restore"]
    ann.ok("DELETE", f"/jobs/{job['id']}?for_good=true", status=204)
    ann.refused("GET", f"/jobs/{job['id']}", 404)


def test_a_job_that_was_stopped_by_its_deletion_no_longer_says_deleted_once_restored(
    ann: Api, admin: Api
) -> None:
    job = ann.running()
    ann.ok("DELETE", f"/jobs/{job['id']}", status=202)
    assert ann.until(job, "STOPPED")["reason"]["code"] == "deleted"
    restored = admin.ok("POST", f"/jobs/{job['id']}/restore", JobDetail)
    assert restored["reason"]["code"] == "stopped_by_user"
    assert restored["reason"]["message"] == f"stopped when {ann.name} deleted it; restored by admin"
    (listed,) = ann.ok("GET", "/jobs", params={"search": job["name"]})["items"]
    assert listed["reason"] == restored["reason"]


def test_the_trash_is_emptied_after_its_time(ann: Api, server: Served, clock: FakeClock) -> None:
    job = ann.finished()
    ann.write_log(job, b"x" * 100)
    ann.ok("DELETE", f"/jobs/{job['id']}", status=204)
    sweep = server.parts.controller.sweep
    server.run(sweep())
    assert ann.job(job["id"])["deleted_at"]
    clock.advance(86401)
    server.run(sweep())
    ann.until_gone(job)
    assert not list(server.home.glob(f"jobs/*/{job['id']}"))


def idle(server: Served, job: Data, index: int = 0, attempt: int = 0) -> None:
    engine = server.engine
    assert isinstance(engine, FakeTasks)
    engine.world.idle.add((f"{job['id']}.{attempt}", "main", index))


def look_over(server: Served, clock: FakeClock, seconds: float) -> None:
    """Let time pass while the server looks at what its jobs do."""
    look = server.parts.controller.watch_progress
    server.run(look())
    for _ in range(4):
        clock.advance(seconds / 4)
        server.run(look())


def hangs(ann: Api, job: Data) -> list[Data]:
    return [event for event in ann.ok("GET", f"/jobs/{job['id']}/events")["items"] if event["kind"] == "hang"]


def test_a_hung_task_is_told_with_the_stacks_of_all(ann: Api, server: Served, clock: FakeClock) -> None:
    job = ann.running(count=2, hang="10m")
    idle(server, job, 1)
    look_over(server, clock, 700)
    (event,) = hangs(ann, job)
    assert event["data"]["tasks"] == ["main-1"]
    assert set(event["data"]["stacks"]) == {"main-0", "main-1"}
    look_over(server, clock, 700)
    assert len(hangs(ann, job)) == 1, "told once"
    assert ann.job(job["id"])["state"] == "RUNNING"


def test_two_checks_at_once_tell_a_hang_once(ann: Api, server: Served, clock: FakeClock) -> None:
    job = ann.running(hang="10m")
    idle(server, job)
    look = server.parts.controller.watch_progress

    async def look_twice() -> None:
        await asyncio.gather(look(), look())

    server.run(look())
    clock.advance(700)
    server.run(look_twice())
    assert len(hangs(ann, job)) == 1


def test_a_hung_job_says_so_until_there_is_progress_again(ann: Api, server: Served, clock: FakeClock) -> None:
    job = ann.running(count=2, hang="10m")
    usual = job["reason"]
    idle(server, job, 1)
    look_over(server, clock, 700)
    hung = ann.job(job["id"])
    assert (hung["state"], hung["reason"]["code"]) == ("RUNNING", "hang")
    assert hung["reason"]["message"].startswith("no progress of main-1 since ")
    assert "the event `hang` has the stacks" in hung["reason"]["message"]
    listed = ann.ok("GET", f"/jobs?search={job['name']}")["items"]
    assert [one["reason"]["code"] for one in listed if one["id"] == job["id"]] == ["hang"]
    ann.write_log(job, b"epoch 2\n", index=1)
    look_over(server, clock, 10)
    assert ann.job(job["id"])["reason"] == usual
    assert kinds_of(ann, job)[-1] == "hang_over"
    look_over(server, clock, 700)
    assert len(hangs(ann, job)) == 2, "the next one is told again"


def test_a_busy_or_talking_task_does_not_hang(ann: Api, server: Served, clock: FakeClock) -> None:
    busy, talking = ann.running(hang="10m"), ann.running(hang="10m")
    idle(server, talking)
    server.run(server.parts.controller.watch_progress())
    for number in range(8):
        ann.write_log(talking, f"epoch {number}\n".encode())
        clock.advance(300)
        server.run(server.parts.controller.watch_progress())
    assert hangs(ann, busy) == hangs(ann, talking) == []


def test_a_task_that_tells_metrics_does_not_hang(ann: Api, server: Served, clock: FakeClock) -> None:
    job = ann.running(hang="10m")
    idle(server, job)
    server.run(server.parts.controller.watch_progress())
    for number in range(8):
        point = {"values": {"loss": 1}, "step": number}
        ann.ok("POST", f"/jobs/{job['id']}/metrics", json={"points": [point]})
        clock.advance(300)
        server.run(server.parts.controller.watch_progress())
    assert hangs(ann, job) == []
    look_over(server, clock, 700)
    assert len(hangs(ann, job)) == 1


def test_a_policy_for_all_tasks_waits_for_the_last(ann: Api, server: Served, clock: FakeClock) -> None:
    job = ann.running(count=2, hang={"after": "10m", "tasks": "all"})
    idle(server, job, 1)
    look_over(server, clock, 700)
    assert hangs(ann, job) == []
    idle(server, job, 0)
    look_over(server, clock, 700)
    assert len(hangs(ann, job)) == 1


def test_a_hung_job_is_restarted_when_its_policy_says_so(ann: Api, server: Served, clock: FakeClock) -> None:
    job = ann.running(retry=1, hang={"after": "10m", "action": "restart"})
    idle(server, job)
    look_over(server, clock, 700)
    ann.until(job, "RUNNING", attempt=1)


def test_an_idle_interactive_job_is_reclaimed(ann: Api, server: Served, clock: FakeClock) -> None:
    job = ann.running(idle_limit="30m")
    idle(server, job)
    look_over(server, clock, 2000)
    over = ann.until(job, "STOPPED")
    assert over["reason"]["code"] == "idle"
    assert "idle for 30 minutes" in over["reason"]["message"]


@pytest.mark.our_nodes
def test_a_waiting_job_says_when_it_is_expected_to_start(ann: Api) -> None:
    holders = [ann.running(cpus=4, time_limit="1h") for _ in range(2)]
    waiting = ann.submit(cpus=4)
    told = until(lambda: ann.job(waiting["id"])["estimate"])
    assert told["expected_at"]
    assert told["expected_at"] <= told["latest_at"]
    for holder in holders:
        ann.ok("POST", f"/jobs/{holder['id']}/stop")
    assert ann.until(waiting, "RUNNING")["estimate"] is None


def test_an_estimate_says_when_nobody_can_tell(ann: Api) -> None:
    # Of other names than any job that has ended: nothing is known of such jobs.
    holders = [ann.running(name=f"{fresh('unheard')}-of", cpus=4) for _ in range(2)]
    waiting = ann.submit(cpus=4)
    told = until(lambda: ann.job(waiting["id"])["estimate"])
    assert (told["expected_at"], told["latest_at"]) == (None, None)
    assert "no estimate" in told["basis"]["message"]
    for one in (*holders, waiting):
        ann.ok("POST", f"/jobs/{one['id']}/stop")
