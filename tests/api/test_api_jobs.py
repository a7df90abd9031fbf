"""Jobs over REST: submit, look, change, stop and delete."""

from __future__ import annotations

import json
from typing import Any

import pytest
from apiclient import Api, Data, Hire, Sign, fresh

from footplate.domain.kinds import show_instant
from footplate.testing.fake_clock import FakeClock
from footplate.testing.server import Served, until
from footplate.wire.documents import dump
from footplate.wire.jobs import Attempts, DryRun, JobCheck, JobDetail, Jobs, Tasks
from footplate.wire.queues import QueueBody


def snapshot(admin: Api) -> tuple[list[Any], list[str]]:
    """Which jobs there are, and of which the event log tells; those of other tests may be on their way."""
    jobs = admin.ok("GET", "/jobs", Jobs, params={"limit": 1000, "sort": "submitted_at"})["items"]
    events: list[Data] = []
    while page := admin.ok("GET", "/events", params={"after": _last(events), "limit": 1000})["items"]:
        events += page
    told = [event["job_id"] for event in events if event["kind"] == "submitted"]
    return [(job["id"], job["name"]) for job in jobs], told


def _last(events: list[Data]) -> int:
    return events[-1]["seq"] if events else 0


@pytest.mark.our_nodes
def test_a_job_goes_from_submit_to_its_end(ann: Api) -> None:
    job = ann.submit(name="first", count=2)
    assert (job["state"], job["owner"], job["queue"], job["n_tasks"]) == ("STARTING", ann.name, "default", 2)
    up = ann.until(job, "RUNNING")
    assert [task["state"] for task in up["tasks"]] == ["RUNNING", "RUNNING"]
    assert {verb for verb, allowed in up["can"].items() if allowed} == {
        "stop",
        "halt",
        "preempt",
        "edit",
        "delete",
    }
    ann.finish(job, index=0)
    ann.finish(job, index=1)
    over = ann.until(job, "SUCCEEDED")
    assert over["reason"]["code"] == "completed"
    assert {verb for verb, allowed in over["can"].items() if allowed} == {"edit", "delete"}
    assert [task["exit_code"] for task in over["tasks"]] == [0, 0]


def test_a_submit_answers_with_where_the_job_is(ann: Api) -> None:
    answer = ann.call("POST", "/jobs", json={"name": fresh("job"), "command": "wait"})
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/api/v1/jobs/{answer.json()['id']}"


DOCUMENT: Data = {
    "name": "both",
    "description": "naïve 训练",
    "priority": 3,
    "env": {"A": "1"},
    "parameters": {"epochs": 5},
    "roles": [
        {
            "name": "worker",
            "count": 2,
            "cpus": 0.5,
            "memory": "512MB",
            "command": "wait ${{ parameters.epochs }}",
        }
    ],
    "retry": 1,
    "tags": ["a", "b"],
}


@pytest.mark.parametrize(
    "kind", ["application/json", "application/yaml", "application/x-yaml", "text/yaml", "text/plain", None]
)
def test_the_same_document_is_the_same_job_in_json_and_yaml(ann: Api, kind: str | None) -> None:
    body = json.dumps(DOCUMENT) if kind == "application/json" else dump(DOCUMENT)
    headers = {"Content-Type": kind} if kind else {}
    job = ann.ok("POST", "/jobs", JobDetail, 201, content=body.encode(), headers=headers)
    assert job["config"] == DOCUMENT


def test_the_config_of_a_job_submits_the_same_job_again(ann: Api) -> None:
    job = ann.submit(**DOCUMENT)
    config = ann.ok("GET", f"/jobs/{job['id']}/config")
    again = ann.ok("POST", "/jobs", JobDetail, 201, json={**config, "name": "again"})
    assert {**again["config"], "name": "both"} == config == job["config"]


def test_a_dry_run_creates_nothing_and_shows_the_request(ann: Api, admin: Api) -> None:
    before = snapshot(admin)
    tried = ann.ok("POST", "/jobs/dry-run", DryRun, json=DOCUMENT)
    assert tried["would_start"] is True
    assert tried["config"]["name"] == "both"
    assert tried["request"]["tasks"][0]["command"] == "wait 5"
    assert snapshot(admin) == before


def test_the_token_in_a_dry_run_opens_nothing(ann: Api, sign: Sign) -> None:
    tried = ann.ok("POST", "/jobs/dry-run", DryRun, json=DOCUMENT)
    token = tried["request"]["tasks"][0]["env"]["FOOTPLATE_TOKEN"]
    sign(token).refused("GET", "/me", 401)


@pytest.mark.our_nodes
def test_a_dry_run_says_why_a_job_would_wait(ann: Api) -> None:
    ann.running(cpus=8)
    tried = ann.ok("POST", "/jobs/dry-run", DryRun, json={"name": "next", "command": "wait", "cpus": 2})
    assert (tried["would_start"], tried["request"]) == (False, None)
    assert tried["reason"]["code"] == "insufficient_resources"


@pytest.mark.our_nodes
def test_a_dry_run_says_when_a_job_would_start(ann: Api, clock: FakeClock) -> None:
    ann.running(cpus=8, time_limit="1h", grace="0s")
    tried = ann.ok("POST", "/jobs/dry-run", DryRun, json={"name": "next", "command": "wait", "cpus": 2})
    assert not tried["would_start"]
    assert tried["estimate"]["expected_at"] == show_instant(clock.now() + 3600)


def test_a_check_answers_what_a_dry_run_answers_and_tells_refusals_as_answers(ann: Api, hire: Hire) -> None:
    good = ann.ok("POST", "/jobs/check", JobCheck, json=DOCUMENT)
    assert good["dry_run"]["config"]["name"] == DOCUMENT["name"]
    assert good["refusal"] is None
    for caller, document, code in (
        (ann, {**DOCUMENT, "cpus": -1}, "invalid_input"),
        (ann, {**DOCUMENT, "queue": "nowhere"}, "not_found"),
        (hire(default="viewer"), DOCUMENT, "denied"),
    ):
        told = caller.ok("POST", "/jobs/check", JobCheck, json=document)
        assert (told["dry_run"], told["refusal"]["code"]) == (None, code)
    bad = ann.ok("POST", "/jobs/check", JobCheck, json={**DOCUMENT, "cpus": -1})
    assert "cpus" in bad["refusal"]["problems"][0]["path"]


@pytest.mark.our_nodes
def test_a_dry_run_refuses_what_a_submit_refuses(ann: Api) -> None:
    for document in ({"name": "x"}, {"name": "x", "command": "y", "cpus": 100}):
        ann.refused("POST", "/jobs/dry-run", 422, json=document)


def test_a_job_is_found_by_its_id_and_by_its_name_among_ones_own(ann: Api, admin: Api) -> None:
    job = ann.submit(name="mine")
    assert ann.job("mine")["id"] == job["id"] == ann.job(job["id"])["id"]
    admin.refused("GET", "/jobs/mine", 404, says="'mine'")
    assert admin.job(job["id"])["owner"] == ann.name


def test_a_name_that_looks_like_an_id_is_still_a_name(ann: Api) -> None:
    job = ann.submit(name="0123456789ab")
    assert ann.job("0123456789ab")["id"] == job["id"]


def test_a_second_job_of_one_name_is_refused_for_the_same_user_only(ann: Api, admin: Api) -> None:
    job = ann.submit(name="taken")
    ann.refused("POST", "/jobs", 409, says=job["id"], json={"name": "taken", "command": "wait"})
    admin.submit(name="taken")


@pytest.mark.parametrize(
    ("asked", "field", "says"),
    [
        ({"cpus": 9}, "cpus", "9 CPUs per task; the largest node has 8"),
        ({"cpus": 5, "count": 2}, "count", "room for 1"),
        ({"memory": "17GB"}, "memory", "17GB"),
        ({"gpus": 3}, "gpus", "3 GPU"),
        ({"gpus": 1, "gpu_type": "A100"}, "gpu_type", "A100"),
        ({"deadline": "2001-01-01T00:00:00Z"}, "deadline", "passed"),
        ({"code": {"upload": "sha256:" + "0" * 64}}, "code.upload", "upload the code first"),
    ],
)
@pytest.mark.our_nodes
def test_what_can_never_run_is_refused_with_numbers(
    ann: Api, admin: Api, asked: Data, field: str, says: str
) -> None:
    before = snapshot(admin)
    ann.refused("POST", "/jobs", 422, field, says, json={"name": "never", "command": "wait", **asked})
    assert snapshot(admin) == before


@pytest.mark.parametrize(
    ("roles", "field"),
    [
        ([{"name": "a"}, {"name": "b", "gpus": 3}], "roles[1].gpus"),
        ([{"name": "a", "memory": "17GB"}], "roles[0].memory"),
        ([{"name": "a", "cpus": 5}, {"name": "b", "cpus": 5}], "roles"),
    ],
)
@pytest.mark.our_nodes
def test_the_field_of_the_role_that_asks_for_too_much_is_named(
    ann: Api, roles: list[Data], field: str
) -> None:
    job = {"name": "never", "roles": [{"command": "wait", **role} for role in roles]}
    ann.refused("POST", "/jobs", 422, field, json=job)


def test_more_than_a_queue_may_use_is_told_at_the_field(admin: Api) -> None:
    queue = fresh("small")
    maximum = {"cpus": 8, "memory_bytes": 2**34, "gpus": 1}
    admin.ok("POST", "/queues", QueueBody, 201, json={"name": queue, "maximum": maximum})
    job = {"name": "x", "command": "wait", "queue": queue, "gpus": 2}
    admin.refused("POST", "/jobs", 422, "gpus", "may use at most 1", json=job)


def test_a_dry_run_says_no_to_an_upload_that_is_not_there(ann: Api) -> None:
    job = {"name": "x", "command": "wait", "code": {"upload": "sha256:" + "0" * 64}}
    ann.refused("POST", "/jobs/dry-run", 422, "code.upload", "upload the code first", json=job)
    assert ann.ok("POST", "/jobs/dry-run?code_follows=true", DryRun, json=job)["would_start"]


def test_a_closed_queue_takes_no_new_jobs(admin: Api) -> None:
    queue = fresh("closed")
    admin.ok("POST", "/queues", QueueBody, 201, json={"name": queue, "is_open": False})
    admin.refused("POST", "/jobs", 409, says="closed", json={"name": "x", "command": "wait", "queue": queue})
    admin.ok("PATCH", f"/queues/{queue}", QueueBody, json={"is_open": True})
    admin.submit(queue=queue)


def test_a_job_waits_with_a_reason_and_a_place_in_line(ann: Api) -> None:
    ann.running(cpus=8)
    first, second = ann.submit(cpus=8), ann.submit(cpus=8)

    def explained() -> Data | None:
        now = ann.job(second["id"])
        return now if now["position"] == 1 else None

    waiting = until(explained)
    assert waiting["state"] == "QUEUED"
    assert waiting["reason"]["code"] == "behind_others" or waiting["reason"]["message"]
    listed = ann.ok("GET", "/jobs", Jobs, params={"state": "QUEUED"})["items"]
    assert {job["id"]: job["position"] for job in listed} == {first["id"]: 0, second["id"]: 1}


@pytest.mark.our_nodes
def test_stopping_ends_a_waiting_and_a_running_job(ann: Api) -> None:
    up = ann.running(cpus=8)
    waiting = ann.submit(cpus=8)
    assert ann.ok("POST", f"/jobs/{waiting['id']}/stop", JobDetail)["state"] == "STOPPED"
    assert ann.ok("POST", f"/jobs/{up['id']}/stop", JobDetail)["state"] in ("STOPPING", "STOPPED")
    over = ann.until(up, "STOPPED")
    assert over["reason"]["message"] == f"stopped by {ann.name}"
    ann.refused("POST", f"/jobs/{up['id']}/stop", 409, says="already over")


def test_deleting_for_good_forgets_a_finished_job_and_its_files(ann: Api, server: Served) -> None:
    job = ann.finished()
    ann.write_log(job, b"something")
    ann.ok("DELETE", f"/jobs/{job['id']}?for_good=true", status=204)
    assert not list(server.home.glob(f"jobs/*/{job['id']}"))
    ann.refused("DELETE", f"/jobs/{job['id']}", 404)
    assert ann.submit(name=job["name"])["id"] != job["id"]


def test_deleting_a_running_job_stops_it_first(ann: Api) -> None:
    job = ann.running()
    ann.ok("DELETE", f"/jobs/{job['id']}?for_good=true", status=202)
    ann.until_gone(job)


def test_name_description_and_priority_can_be_edited(ann: Api) -> None:
    job = ann.submit(name=fresh("old"))
    name = fresh("new")
    change = {"name": name, "description": "better", "priority": 7}
    edited = ann.ok("PATCH", f"/jobs/{job['id']}", JobDetail, json=change)
    assert {field: edited[field] for field in change} == change
    assert ann.ok("GET", f"/jobs/{name}/config")["priority"] == 7
    ann.ok("PATCH", f"/jobs/{job['id']}", JobDetail, json={})
    assert ann.job(job["id"])["description"] == "better"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "no spaces"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "../up"}, "name"),
        ({"priority": 1001}, "priority"),
        ({"priority": "high"}, "priority"),
        ({"description": "\x00"}, "description"),
        ({"description": "x" * 4097}, "description"),
        ({"command": "rm"}, "command"),
    ],
)
def test_an_edit_out_of_bounds_changes_nothing(ann: Api, admin: Api, change: Data, field: str) -> None:
    job = ann.running()
    before = snapshot(admin)
    ann.refused("PATCH", f"/jobs/{job['id']}", 422, field, json=change)
    assert snapshot(admin) == before


def test_an_edit_to_a_taken_name_or_of_a_finished_jobs_priority_is_refused(ann: Api) -> None:
    taken, job = ann.submit(), ann.finished()
    ann.refused("PATCH", f"/jobs/{job['id']}", 409, says=taken["name"], json={"name": taken["name"]})
    ann.refused("PATCH", f"/jobs/{job['id']}", 409, says="no longer matters", json={"priority": 1})
    ann.ok("PATCH", f"/jobs/{job['id']}", JobDetail, json={"description": "kept for later"})


def test_a_clone_gets_the_next_free_name_and_the_fields_that_were_replaced(ann: Api) -> None:
    job = ann.submit(**{**DOCUMENT, "name": "run"})
    first = ann.ok("POST", f"/jobs/{job['id']}/clone", JobDetail, 201)
    second = ann.ok("POST", f"/jobs/{first['id']}/clone", JobDetail, 201, json={"priority": -1})
    named = ann.ok("POST", "/jobs/run/clone", JobDetail, 201, json={"name": "walk"})
    assert [one["name"] for one in (first, second, named)] == ["run-2", "run-3", "walk"]
    assert {**first["config"], "name": "run"} == job["config"]
    assert second["priority"] == -1
    ann.refused("POST", "/jobs/run/clone", 422, "roles[0].gpus", json={"gpus": "many"})
    ann.refused("POST", "/jobs/run/clone", 422, json=[1])


JSON = {"Content-Type": "application/json"}


def test_a_clone_is_changed_as_a_submit_is(ann: Api) -> None:
    env = {"A": "1", "B": "2"}
    job = ann.submit(env=env, tags=["old"], command="run ${{ parameters.rate }}", parameters={"rate": 0.1})
    body = '{"env": {"B": null, "C": 1.10}, "parameters": {"rate": 1e5}, "cpus": 2, "tags": ["new"]}'
    copy = ann.ok("POST", f"/jobs/{job['id']}/clone", JobDetail, 201, content=body, headers=JSON)
    config = ann.ok("GET", f"/jobs/{copy['id']}/config")
    assert config["env"] == {"A": "1", "C": "1.10"}
    assert (config["parameters"], config["tags"]) == ({"rate": "1e5"}, ["new"])
    assert config["roles"][0]["cpus"] == 2
    says = "is not used by the job"
    ann.refused("POST", f"/jobs/{job['id']}/clone", 422, says=says, json={"parameters": {"rat": 1}})


def test_a_json_number_reaches_the_job_as_it_was_sent(ann: Api) -> None:
    values = '"env": {"A": 1.10, "B": 1E5, "C": 7}'
    body = f'{{"name": "{fresh("typed")}", "command": "true", {values}}}'
    job = ann.ok("POST", "/jobs", JobDetail, 201, content=body, headers=JSON)
    assert job["config"]["env"] == {"A": "1.10", "B": "1E5", "C": "7"}


def test_a_stranger_may_clone_only_what_they_see(ann: Api, hire: Hire) -> None:
    job = ann.submit(shared=True)
    viewer, stranger = hire(default="viewer"), hire()
    viewer.refused("POST", f"/jobs/{job['id']}/clone", 403, says="viewer")
    stranger.refused("POST", f"/jobs/{job['id']}/clone", 404)


def test_a_clone_of_somebody_elses_job_is_not_shared_by_that(ann: Api, hire: Hire) -> None:
    job = ann.submit(shared=True)
    member = hire(default="member")
    path = f"/jobs/{job['id']}/clone"
    assert member.ok("POST", path, JobDetail, 201)["is_shared"] is False
    assert member.ok("POST", path, JobDetail, 201, json={"shared": True})["is_shared"] is True
    assert ann.ok("POST", path, JobDetail, 201)["is_shared"] is True


def test_repeating_a_submit_with_one_key_makes_one_job(ann: Api) -> None:
    document = {"name": fresh("job"), "command": "wait"}
    key = {"Idempotency-Key": "attempt é 1".encode("latin-1")}
    first = ann.ok("POST", "/jobs", JobDetail, 201, json=document, headers=key)
    again = ann.ok("POST", "/jobs", JobDetail, 200, json=document, headers=key)
    assert again["id"] == first["id"]
    other = {**document, "command": "other"}
    ann.refused("POST", "/jobs", 409, says="idempotency key", json=other, headers=key)


def test_keys_of_different_users_do_not_meet(ann: Api, admin: Api) -> None:
    key = {"Idempotency-Key": "k"}
    one = ann.ok("POST", "/jobs", status=201, json={"name": "a", "command": "wait"}, headers=key)
    two = admin.ok("POST", "/jobs", status=201, json={"name": "b", "command": "wait"}, headers=key)
    assert one["id"] != two["id"]


def test_repeating_a_clone_with_one_key_makes_one_job(ann: Api) -> None:
    job = ann.submit()
    key = {"Idempotency-Key": fresh("key")}
    first = ann.ok("POST", f"/jobs/{job['id']}/clone", JobDetail, 201, headers=key)
    again = ann.ok("POST", f"/jobs/{job['id']}/clone", JobDetail, 200, headers=key)
    assert again["id"] == first["id"]
    ann.refused("POST", f"/jobs/{job['id']}/clone", 409, headers=key, json={"priority": 1})


def test_a_repeated_submit_finds_its_job_also_after_its_deadline(ann: Api, clock: FakeClock) -> None:
    deadline = "2023-11-15T00:00:00Z"
    document = {"name": fresh("job"), "command": "true", "deadline": deadline}
    key = {"Idempotency-Key": fresh("key")}
    first = ann.ok("POST", "/jobs", status=201, json=document, headers=key)
    ann.until(first, "SUCCEEDED")
    clock.advance(86_400)
    again = ann.ok("POST", "/jobs", JobDetail, 200, json=document, headers=key)
    assert again["id"] == first["id"]
    ann.refused("POST", "/jobs", 422, "deadline", json={**document, "name": "new"})


@pytest.mark.parametrize("key", [b"\x85", b"x" * 256])
def test_an_unusable_key_is_refused(ann: Api, key: bytes) -> None:
    headers = {"Idempotency-Key": key}
    ann.refused("POST", "/jobs", 422, "Idempotency-Key", json={"name": "k", "command": "x"}, headers=headers)


def test_the_attempts_of_a_retried_job_are_all_shown(ann: Api) -> None:
    job = ann.running(retry=1)
    ann.finish(job, code=3)
    ann.until(job, "RUNNING", attempt=1)
    ann.finish(job, attempt=1)
    over = ann.until(job, "SUCCEEDED")
    assert (over["attempt"], over["retries_used"]) == (1, 1)
    first, second = ann.ok("GET", f"/jobs/{job['id']}/attempts", Attempts)["items"]
    assert (first["state"], first["tasks"][0]["exit_code"]) == ("FAILED", 3)
    assert first["finished_at"] is not None
    assert (second["state"], second["tasks"][0]["exit_code"]) == ("SUCCEEDED", 0)
    assert ann.ok("GET", f"/jobs/{job['id']}/tasks", Tasks)["items"] == second["tasks"]


def test_a_time_limit_ends_a_job(ann: Api, clock: FakeClock) -> None:
    job = ann.running(time_limit="10m")
    clock.advance(601)
    over = ann.until(job, "STOPPED")
    assert over["reason"]["code"] == "time_limit"
    assert "10 minutes" in over["reason"]["message"]


def test_the_list_is_filtered_searched_sorted_and_paged(ann: Api, admin: Api) -> None:
    for number in range(7):
        ann.submit(name=f"seven-{number}", priority=number, tags=["odd"] if number % 2 else [], cpus=0.1)
    admin.submit(name="other", description="Something Else")

    def names(**params: Any) -> list[str]:
        return [job["name"] for job in admin.ok("GET", "/jobs", Jobs, params=params)["items"]]

    assert names(sort="name") == ["other", *(f"seven-{number}" for number in range(7))]
    assert names(sort="-priority", limit=2) == ["seven-6", "seven-5"]
    assert names(owner=ann.name, search="SEVEN-3") == ["seven-3"]
    assert names(search="something") == ["other"]
    assert names(tag="odd", sort="submitted_at") == ["seven-1", "seven-3", "seven-5"]
    assert names(tag="od") == []
    assert names(owner=["admin", ann.name], state=["SUCCEEDED", "FAILED"]) == []
    assert names(queue="nowhere") == []


@pytest.mark.parametrize(
    "sort",
    [
        "-submitted_at",
        "submitted_at",
        "name",
        "-priority",
        "finished_at",
        "-finished_at",
        "state",
        "owner",
        "queue",
        "run_time",
        "-run_time",
        "resources",
        "-resources",
    ],
)
def test_following_page_tokens_brings_every_job_once(ann: Api, sort: str) -> None:
    jobs = [ann.submit(cpus=0.1, command="true" if n % 2 else "wait") for n in range(7)]
    for job in jobs[1::2]:
        ann.until(job, "SUCCEEDED")
    for job in jobs[::2]:
        ann.until(job, "RUNNING")
    seen: list[str] = []
    params: Data = {"sort": sort, "limit": 3}
    while True:
        page = ann.ok("GET", "/jobs", Jobs, params=params)
        seen += [job["id"] for job in page["items"]]
        if page["next_page_token"] is None:
            break
        params["page_token"] = page["next_page_token"]
    assert sorted(seen) == sorted(job["id"] for job in jobs)
    assert len(seen) == 7


def test_jobs_are_sorted_by_how_long_they_ran_and_what_they_take(ann: Api, clock: FakeClock) -> None:
    small, large, cards = (ann.running(**asks) for asks in ({"cpus": 0.1}, {"cpus": 2}, {"gpus": 1}))
    clock.advance(10)
    ann.finish(large)
    ann.until(large, "SUCCEEDED")
    clock.advance(10)
    ann.finish(small)
    ann.until(small, "SUCCEEDED")

    def order(sort: str) -> list[str]:
        items = ann.ok("GET", "/jobs", Jobs, params={"sort": sort, "owner": ann.name})["items"]
        names = {small["id"]: "small", large["id"]: "large", cards["id"]: "cards"}
        return [names[job["id"]] for job in items if job["id"] in names]

    assert order("-resources") == ["cards", "large", "small"]
    assert order("run_time") == ["large", "small", "cards"]
    assert order("-run_time") == ["cards", "small", "large"]


def test_a_page_token_serves_its_own_sort_only(ann: Api) -> None:
    for _ in range(2):
        ann.submit()
    token = ann.ok("GET", "/jobs", params={"limit": 1})["next_page_token"]
    ann.refused("GET", "/jobs", 422, "page_token", params={"sort": "name", "page_token": token})


def test_a_name_of_somebody_elses_job_is_answered_with_what_to_write_instead(ann: Api, admin: Api) -> None:
    job = ann.running()
    admin.refused("GET", f"/jobs/{job['name']}", 404, says="use its ID")
    assert admin.ok("GET", f"/jobs/{job['id']}")["name"] == job["name"]
