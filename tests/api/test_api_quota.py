"""Quotas of the disk: a job that takes too much is stopped, a person who does submits no more."""

from __future__ import annotations

from apiclient import Api, Hire

from footplate.control.quota import QuotaKeeper, Quotas
from footplate.domain.resources import MIB
from footplate.store.disk import Disk
from footplate.testing.server import Served


def keeper(server: Served, quotas: Quotas) -> QuotaKeeper:
    platform = server.parts.platform
    return QuotaKeeper(platform.store, platform.files, platform.clock, platform.disk, quotas)


def fill(server: Served, job_id: str, n_bytes: int) -> None:
    job = server.run(server.parts.platform.store.job(job_id))
    assert job is not None
    folder = server.parts.platform.files.folders(job)["output"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result").write_bytes(b"x" * n_bytes)


def test_a_job_whose_files_take_too_much_is_stopped_and_says_so(server: Served, ann: Api) -> None:
    greedy, modest = ann.running(), ann.running()
    fill(server, greedy["id"], 3 * MIB)
    fill(server, modest["id"], MIB // 2)
    server.run(keeper(server, Quotas(job_bytes=2 * MIB)).watch_once())
    reason = ann.until(greedy, "STOPPED")["reason"]
    assert reason["code"] == "disk_quota"
    assert "a job may take 2MB" in reason["message"]
    assert reason["details"]["taken_bytes"] >= 3 * MIB
    assert ann.job(modest["id"])["state"] == "RUNNING"


def test_files_are_measured_sooner_when_the_disk_loses_more_than_a_quota_leaves(
    server: Served, ann: Api
) -> None:
    platform, disk = server.parts.platform, Disk(server.home)
    modest = ann.running()
    fill(server, modest["id"], MIB // 2)
    disk.free_bytes = 100 * MIB
    quotas = Quotas(job_bytes=2 * MIB)
    looking = QuotaKeeper(platform.store, platform.files, platform.clock, disk, quotas)
    server.run(looking.watch_once())
    disk.free_bytes -= MIB
    assert not looking.is_due
    disk.free_bytes -= MIB
    assert looking.is_due
    server.run(looking.watch_once())
    assert not looking.is_due


def test_a_person_whose_jobs_take_too_much_submits_no_more_until_some_are_deleted(
    server: Served, hire: Hire
) -> None:
    greedy, modest = hire(default="member"), hire(default="member")
    disk, quotas = server.parts.platform.disk, Quotas(person_bytes=2 * MIB)
    disk.person_quota_bytes = quotas.person_bytes
    try:
        looking = keeper(server, quotas)
        jobs = [greedy.running() for _ in range(2)]
        for job in jobs:
            fill(server, job["id"], 2 * MIB)
            greedy.finish(job)
            greedy.until(job, "SUCCEEDED")
        server.run(looking.watch_once())
        refused = greedy.refused("POST", "/jobs", 507, json={"name": "more", "command": "true"})
        assert refused["code"] == "disk_full"
        assert "each person may take 2MB" in refused["message"]
        modest.submit()
        # Whoever makes room is let in soon.
        assert looking.is_due
        for job in jobs:
            greedy.call("DELETE", f"/jobs/{job['id']}", params={"for_good": True})
            greedy.until_gone(job)
        server.run(looking.watch_once())
        greedy.submit()
    finally:
        disk.person_quota_bytes, disk.taken_by = None, {}
