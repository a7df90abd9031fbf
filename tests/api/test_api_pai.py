"""OpenPAI's REST server, with the engine faked: shapes, rights, refusals in its own words."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import pytest
import yaml
from apiclient import PASSWORD, Api, Hire, fresh

from footplate.testing.fake_clock import FakeClock
from footplate.testing.server import Served, until

Data = dict[str, Any]


def v2(name: str, **changes: Any) -> str:
    role = {
        "instances": 2,
        "completion": {"minSucceededInstances": 2},
        "dockerImage": "img",
        "resourcePerInstance": {"cpu": 1, "memoryMB": 512, "gpu": 0, "ports": {"web": 1}},
        "commands": ["echo <% $parameters.word %>"],
    }
    document = {
        "protocolVersion": 2,
        "name": name,
        "type": "job",
        "prerequisites": [{"type": "dockerimage", "name": "img", "uri": "python:3.9"}],
        "parameters": {"word": "hi"},
        "taskRoles": {"Train_1": role},
        **changes,
    }
    return yaml.safe_dump(document, sort_keys=False)


def v1(name: str, **changes: Any) -> Data:
    roles = [{"name": "main", "command": "true", "memoryMB": 256}]
    return {"jobName": name, "image": "python:3.9", "taskRoles": roles, **changes}


class Pai:
    """A client of OpenPAI, with or without a token."""

    def __init__(self, served: Served, token: str = "", name: str = "", scheme: str = "Bearer") -> None:
        self._headers = {"Authorization": f"{scheme} {token}"} if token else {}
        self._url = f"{served.url}/rest-server/api"
        self.token, self.name = token, name

    def send(self, method: str, path: str, **request: Any) -> httpx.Response:
        with httpx.Client(headers=self._headers, timeout=10) as http:
            return http.request(method, f"{self._url}{path}", **request)

    def ok(self, method: str, path: str, status: int = 200, **request: Any) -> Any:
        answer = self.send(method, path, **request)
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.json() if "json" in answer.headers.get("content-type", "") else answer.text

    def refused(self, method: str, path: str, status: int, code: str, **request: Any) -> str:
        answer = self.send(method, path, **request)
        body = answer.json()
        assert (answer.status_code, body.get("code")) == (status, code), body
        assert set(body) == {"code", "message"}
        assert body["message"]
        return str(body["message"])

    def submit(self, **changes: Any) -> str:
        name = fresh("job")
        self.ok("POST", "/v2/jobs", 202, content=v2(name, **changes), headers={"Content-Type": "text/yaml"})
        return name


def login(served: Served, name: str, password: str = PASSWORD) -> Pai:
    with httpx.Client() as http:
        answer = http.post(
            f"{served.url}/rest-server/api/v2/authn/basic/login",
            data={"username": name, "password": password, "expiration": 4000},
        )
    assert answer.status_code == 200, answer.text
    return Pai(served, answer.json()["token"], name)


@pytest.fixture(scope="module")
def boss(server: Served, hire: Hire) -> Pai:
    return login(server, hire(is_admin=True).name)


@pytest.fixture(scope="module")
def ada(server: Served, hire: Hire) -> Pai:
    return login(server, hire(default="member").name)


@pytest.fixture(scope="module")
def guest(server: Served) -> Pai:
    return Pai(server)


def payload(token: str) -> Data:
    part = token.split(".")[1]
    read: Data = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return read


# Who is calling


def test_what_needs_no_token_is_answered_to_everybody(guest: Pai, server: Served) -> None:
    assert guest.ok("GET", "/v2/info")["name"] == "PAI RESTful API"
    assert guest.ok("GET", "/v1/") == guest.ok("GET", "/v2/info")
    assert "PAI" in guest.ok("GET", "/v2/")
    assert guest.ok("GET", "/v1/authn/info")["authn_type"] == "basic"
    for path in ("/healthz", "/rest-server/healthz"):
        assert httpx.get(f"{server.url}{path}").text == "ok"


def test_a_token_is_a_json_web_token_that_says_who_and_until_when(ada: Pai) -> None:
    claims = payload(ada.token)
    assert (claims["username"], claims["application"]) == (ada.name, False)
    assert claims["exp"] - claims["iat"] == 7 * 86400
    assert ada.ok("GET", "/v2/tokens/check") == claims


def test_nobody_is_refused_as_a_guest(guest: Pai) -> None:
    for path in ("/v2/jobs", "/v2/users", "/v2/virtual-clusters", "/v2/storages", "/v1/jobs"):
        assert "Guest" in guest.refused("GET", path, 401, "UnauthorizedUserError")


@pytest.mark.parametrize("bad", ["x", "a.b.c", "Ä"])
def test_a_bad_token_is_refused(server: Served, bad: str) -> None:
    pai = Pai(server, base64.b64encode(bad.encode()).decode())
    assert pai.refused("GET", "/v2/jobs", 401, "UnauthorizedUserError") == "Your token is invalid."


def test_a_forged_token_is_refused(server: Served, ada: Pai) -> None:
    head, _, signature = ada.token.split(".")
    claims = json.dumps({**payload(ada.token), "username": "admin"}).encode()
    forged = f"{head}.{base64.urlsafe_b64encode(claims).decode().rstrip('=')}.{signature}"
    pai = Pai(server, forged)
    pai.refused("GET", "/v2/jobs", 401, "UnauthorizedUserError")


def test_wrong_passwords_are_refused(guest: Pai, ada: Pai) -> None:
    for path in ("/v2/authn/basic/login", "/v1/token", "/v1/authn/basic/login"):
        wrong = {"username": ada.name, "password": "not the password"}
        guest.refused("POST", path, 400, "IncorrectPasswordError", json=wrong)
        nobody = {"username": fresh("nobody"), "password": "not the password"}
        guest.refused("POST", path, 400, "IncorrectPasswordError", data=nobody)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"username": "a b", "password": PASSWORD},
        {"username": "ada", "password": "short"},
        {"username": "ada", "password": PASSWORD, "expiration": 5},
        {"username": 1, "password": PASSWORD},
    ],
)
def test_a_bad_login_is_refused_for_its_fields(guest: Pai, fields: Data) -> None:
    guest.refused("POST", "/v2/authn/basic/login", 400, "InvalidParametersError", json=fields)


def test_tokens_are_listed_and_revoked_one_by_one(server: Served, hire: Hire) -> None:
    name = hire(default="member").name
    first, second = login(server, name), login(server, name)
    assert {first.token, second.token} <= set(second.ok("GET", "/v2/tokens")["tokens"])
    second.ok("DELETE", f"/v2/tokens/{first.token}")
    first.refused("GET", "/v2/jobs", 401, "UnauthorizedUserError")
    assert first.token not in second.ok("GET", "/v1/token")["tokens"]
    assert second.ok("DELETE", "/v2/authn/basic/logout") == {"message": "Logout successfully"}
    second.refused("GET", "/v2/jobs", 401, "UnauthorizedUserError")


def test_the_token_of_somebody_else_is_not_revoked(ada: Pai, boss: Pai) -> None:
    ada.refused("DELETE", f"/v2/tokens/{boss.token}", 403, "ForbiddenUserError")
    assert boss.ok("GET", "/v2/tokens/check")


def test_a_token_expires_after_a_week(server: Served, hire: Hire, clock: FakeClock) -> None:
    pai = login(server, hire(default="member").name)
    program = Pai(server, pai.ok("POST", "/v2/tokens/application", json={})["token"])
    now = clock.now()
    clock.advance(7 * 86400 + 1)
    try:
        pai.refused("GET", "/v2/jobs", 401, "UnauthorizedUserError")
        assert program.ok("GET", "/v2/jobs") == []
    finally:
        clock.advance(now - clock.now())


def test_a_token_of_a_program_works_for_jobs_and_not_for_accounts(server: Served, ada: Pai) -> None:
    made = ada.ok("POST", "/v2/tokens/application", json={})
    assert made["application"] is True
    assert "exp" not in payload(made["token"])
    program = Pai(server, made["token"], ada.name)
    assert isinstance(program.ok("GET", "/v2/jobs"), list)
    program.refused("GET", "/v2/tokens", 403, "ForbiddenUserError")
    program.refused("DELETE", "/v2/authn/basic/logout", 403, "ForbiddenUserError")
    basic = base64.b64encode(f"{ada.name}:{made['token']}".encode()).decode()
    assert isinstance(Pai(server, basic, scheme="Basic").ok("GET", "/v2/jobs"), list)
    other = base64.b64encode(f"admin:{made['token']}".encode()).decode()
    Pai(server, other, scheme="Basic").refused("GET", "/v2/jobs", 401, "UnauthorizedUserError")
    login_token = base64.b64encode(f"{ada.name}:{ada.token}".encode()).decode()
    Pai(server, login_token, scheme="Basic").refused("GET", "/v2/jobs", 401, "UnauthorizedUserError")


# Jobs


def test_a_job_is_submitted_shown_listed_and_given_back(ada: Pai, ann: Api) -> None:
    name = ada.submit(secrets={"pw": "hunter2hunter2"}, extras={"submitFrom": "test"})
    shown = ada.ok("GET", f"/v2/jobs/{ada.name}~{name}")
    assert shown["jobStatus"]["virtualCluster"] == "default"
    assert list(shown["taskRoles"]) == ["train1"]
    tasks = shown["taskRoles"]["train1"]["taskStatuses"]
    assert [one["taskIndex"] for one in tasks] == [0, 1]
    (line,) = ada.ok("GET", "/v2/jobs", params={"username": ada.name})
    assert (line["name"], line["totalTaskNumber"], line["virtualCluster"]) == (name, 2, "default")
    assert line["debugId"] == shown["debugId"]
    config = yaml.safe_load(ada.ok("GET", f"/v2/jobs/{ada.name}~{name}/config"))
    assert config["secrets"] == "******"
    assert config["parameters"] == {"word": "hi"}
    assert ann.call("GET", "/jobs", params={"owner": ada.name}).json()["items"][0]["name"] == name


def test_a_job_goes_from_waiting_to_its_end(ada: Pai, admin: Api) -> None:
    name = ada.submit()
    path = f"/v2/jobs/{ada.name}~{name}"
    (job,) = admin.ok("GET", "/jobs", params={"owner": ada.name})["items"]
    until(lambda: ada.ok("GET", path)["jobStatus"]["state"] == "RUNNING")
    for index in (0, 1):
        admin.finish(job, 3 if index else 0, index=index, role="Train_1")
    status = until(lambda: (found := ada.ok("GET", path)["jobStatus"])["state"] == "FAILED" and found)
    assert (status["appExitCode"], status["appExitSpec"]["type"]) == (3, "UNKNOWN_FAILURE")
    assert (status["appExitTriggerTaskRoleName"], status["appExitTriggerTaskIndex"]) == ("Train_1", 1)
    assert status["completedTime"] >= status["submissionTime"] > 1e12
    task = ada.ok("GET", f"{path}/attempts/0/taskRoles/train1/taskIndex/1/attempts")
    assert (task["containerExitCode"], task["jobName"], len(task["attempts"])) == (3, name, 1)
    (attempt,) = ada.ok("GET", f"{path}/job-attempts")
    assert (attempt["exitCode"], attempt["isLatest"], attempt["state"]) == (3, True, "FAILED")
    assert ada.ok("GET", f"{path}/job-attempts/0")["attemptIndex"] == 0
    assert ada.ok("GET", f"{path}/attempts/0")["jobStatus"]["attemptId"] == 0
    (line,) = ada.ok("GET", "/v2/jobs", params={"username": ada.name, "state": "FAILED"})
    assert (line["appExitCode"], line["totalTaskRoleNumber"]) == (3, 1)


def test_a_retried_job_keeps_its_first_attempt(ada: Pai, admin: Api) -> None:
    name = ada.submit(jobRetryCount=1)
    path = f"/v2/jobs/{ada.name}~{name}"
    (job,) = admin.ok("GET", "/jobs", params={"owner": ada.name})["items"]
    admin.until(job, "RUNNING")
    admin.finish(job, 9, role="Train_1")
    admin.until(job, "RUNNING", attempt=1)
    shown = ada.ok("GET", path)["jobStatus"]
    assert (shown["retries"], shown["retryDetails"]["user"], shown["attemptId"]) == (1, 1, 1)
    assert [one["attemptIndex"] for one in ada.ok("GET", f"{path}/job-attempts")] == [1, 0]
    first = ada.ok("GET", f"{path}/attempts/0")
    assert first["jobStatus"]["state"] == "FAILED"
    assert first["taskRoles"]["train1"]["taskStatuses"][0]["containerExitCode"] == 9


def test_a_log_is_found_by_its_link_which_says_for_itself(ada: Pai, admin: Api, server: Served) -> None:
    name = ada.submit()
    (job,) = admin.ok("GET", "/jobs", params={"owner": ada.name})["items"]
    admin.until(job, "RUNNING")
    admin.write_log(job, b"hello\n" * 10_000, role="Train_1")
    task = ada.ok("GET", f"/v2/jobs/{ada.name}~{name}")["taskRoles"]["train1"]["taskStatuses"][0]
    logs = task["containerLog"].removeprefix("/rest-server/api")
    (link, _) = ada.ok("GET", logs)["locations"]
    assert link["name"] == "stdout"
    assert httpx.get(f"{server.url}{link['uri']}").text == "hello\n" * 10_000
    for mode in ("tail-mode", "tailMode"):
        (tail, _) = ada.ok("GET", logs, params={mode: "true"})["locations"]
        assert len(httpx.get(f"{server.url}{tail['uri']}").text) == 16 * 1024
    bare = httpx.get(f"{server.url}{link['uri'].partition('?')[0]}")
    assert (bare.status_code, bare.json()["code"]) == (401, "UnauthorizedUserError")
    assert httpx.get(f"{server.url}{link['uri']}x").status_code == 401
    ada.refused("GET", logs.replace("/attempts/0/logs", "/attempts/7/logs"), 404, "NoTaskLogError")


def test_a_job_is_stopped_and_a_start_after_that_is_accepted(ada: Pai) -> None:
    name = ada.submit()
    path = f"/v2/jobs/{ada.name}~{name}"
    assert ada.ok("PUT", f"{path}/executionType", 202, json={"value": "STOP"})["status"] == 202
    until(lambda: ada.ok("GET", path)["jobStatus"]["state"] == "STOPPED")
    assert ada.ok("GET", path)["jobStatus"]["appExitCode"] == -210
    ada.ok("PUT", f"{path}/executionType", 202, json={"value": "START"})
    ada.ok("PUT", f"{path}/executionType", 202, json={"value": "STOP"})
    ada.refused("PUT", f"{path}/executionType", 400, "InvalidParametersError", json={"value": "x"})


def test_tags_are_added_once_found_and_removed(ada: Pai) -> None:
    name, other = ada.submit(), ada.submit()
    path = f"/v2/jobs/{ada.name}~{name}/tag"
    for _ in range(2):
        ada.ok("PUT", path, json={"value": "good"})
    assert ada.ok("GET", f"/v2/jobs/{ada.name}~{name}")["tags"] == ["good"]
    mine = {"username": ada.name}
    assert [one["name"] for one in ada.ok("GET", "/v2/jobs", params={**mine, "tagsContain": "x,good"})] == [
        name
    ]
    found = ada.ok("GET", "/v2/jobs", params={**mine, "tagsNotContain": "good"})
    assert [one["name"] for one in found] == [other]
    ada.ok(
        "DELETE", path, content=json.dumps({"value": "good"}), headers={"Content-Type": "application/json"}
    )
    ada.refused("DELETE", path, 404, "NoTagError", content=b'{"value": "good"}')
    ada.refused("PUT", path, 400, "InvalidParametersError", json={"value": "a,b"})


def test_lists_are_filtered_ordered_and_cut(ada: Pai) -> None:
    names = sorted(ada.submit() for _ in range(3))
    mine = {"username": ada.name}

    def listed(**query: Any) -> list[str]:
        return [one["name"] for one in ada.ok("GET", "/v2/jobs", params={**mine, **query})]

    assert listed(order="jobName,ASC") == names
    assert listed(order="jobName,DESC", limit=1) == names[2:]
    assert listed(order="jobName,ASC", offset=1) == names[1:]
    assert sorted(listed(order="nonsense")) == names
    assert listed(keyword=names[0][1:]) == [names[0]]
    assert listed(keyword="no such job") == []
    assert listed(vc="none") == []
    assert listed(state="SUCCEEDED,FAILED") == []
    assert listed(state="NONSENSE") == []
    assert listed(jobPriority="oppo") == []
    assert sorted(listed(jobPriority="default")) == names
    for field in ("submissionTime", "vc", "retries", "totalTaskNumber", "totalGpuNumber", "completionTime"):
        assert sorted(listed(order=f"{field},ASC")) == names
    counted = ada.ok("GET", "/v2/jobs", params={**mine, "withTotalCount": "true", "limit": 1})
    assert (counted["totalCount"], len(counted["data"])) == (3, 1)
    ada.refused("GET", "/v2/jobs?limit=50001", 400, "InvalidParametersError")
    ada.refused("GET", "/v2/jobs?limit=x", 400, "InvalidParametersError")


def test_events_are_told_newest_first_and_by_type(ada: Pai) -> None:
    name = ada.submit()
    path = f"/v2/jobs/{ada.name}~{name}"
    until(lambda: ada.ok("GET", path)["jobStatus"]["state"] == "RUNNING")
    told = ada.ok("GET", f"{path}/events")
    assert told["totalCount"] == len(told["data"]) >= 3
    assert told["data"][-1]["reason"] == "Submitted"
    assert {one["type"] for one in ada.ok("GET", f"{path}/events?type=Normal")["data"]} == {"Normal"}
    ada.refused("GET", f"{path}/events?type=x", 400, "InvalidParametersError")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("}{", 400, "InvalidProtocolError"),
        ("", 400, "InvalidProtocolError"),
        ("name: x", 400, "InvalidProtocolError"),
        (v2("x.y"), 400, "InvalidProtocolError"),
        (v2("x", taskRoles={}), 400, "InvalidProtocolError"),
        (v2("x", defaults={"virtualCluster": "nothing"}), 400, "NoVirtualClusterError"),
        (v2("x", extras={"storages": [{"name": "nothing"}]}), 404, "NoStorageError"),
    ],
)
def test_a_bad_job_is_refused_as_there(ada: Pai, body: str, status: int, code: str) -> None:
    ada.refused("POST", "/v2/jobs", status, code, content=body, headers={"Content-Type": "text/yaml"})


def test_a_job_that_could_never_run_is_refused_with_its_field(ada: Pai) -> None:
    role = yaml.safe_load(v2("x"))["taskRoles"]["Train_1"]
    role["resourcePerInstance"] = {"cpu": 1, "memoryMB": 512, "gpu": 99}
    body = v2("x", taskRoles={"a": role})
    message = ada.refused("POST", "/v2/jobs", 400, "InvalidProtocolError", content=body)
    assert "taskRoles.a.resourcePerInstance.gpu" in message


def test_a_name_that_is_taken_and_a_queue_that_is_closed_to_the_caller(ada: Pai, admin: Api) -> None:
    name = ada.submit()
    message = ada.refused("POST", "/v2/jobs", 409, "ConflictJobError", content=v2(name))
    assert message == f"Job {ada.name}~{name} already exists."
    queue = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    elsewhere = v2(fresh("job"), defaults={"virtualCluster": queue})
    ada.refused("POST", "/v2/jobs", 403, "ForbiddenUserError", content=elsewhere)


def test_what_is_not_there_is_not_found_in_its_own_words(ada: Pai, boss: Pai) -> None:
    none = f"/v2/jobs/{ada.name}~nothing"
    for path in ("", "/config", "/events", "/job-attempts", "/attempts/0", "/ssh", "/job-attempts/0"):
        ada.refused("GET", none + path, 404, "NoJobError")
    assert ada.ok("GET", f"{none}/job-attempts/healthz") == "ok"
    ada.refused("GET", "/v2/jobs/nothing", 404, "NoJobError")
    ada.refused("GET", "/v2/jobs/protocolversion/config", 404, "NoJobError")
    name = ada.submit()
    path = f"/v2/jobs/{ada.name}~{name}"
    ada.refused("GET", f"{path}/attempts/9", 404, "NoJobError")
    ada.refused("GET", f"{path}/attempts/0/taskRoles/none/taskIndex/0/attempts", 404, "NoTaskError")
    ada.refused("GET", f"{path}/ssh", 404, "NoJobSshInfoError")
    for token in ("", "x", ada.token):
        ada.refused("GET", f"/v2/ssh/key?token={token}", 401, "UnauthorizedUserError")
    ada.refused("GET", "/v2/users/nothing", 400, "NoUserError")
    boss.refused("DELETE", "/v2/users/nothing", 404, "NoUserError")
    ada.refused("GET", "/v2/groups/nothing", 404, "NoGroupError")
    ada.refused("GET", "/v2/virtual-clusters/nothing", 404, "NoVirtualClusterError")
    ada.refused("GET", "/v2/virtual-clusters/a$b", 400, "InvalidParametersError")
    ada.refused("GET", "/v2/storages/nothing", 404, "NoStorageError")
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH"):
        message = ada.refused(method, "/v2/nothing/here", 404, "NoApiError")
        assert message == "API /rest-server/api/v2/nothing/here is not found."


def test_jobs_of_others_are_not_touched_and_private_ones_not_shown(
    ada: Pai, server: Served, hire: Hire
) -> None:
    name = ada.submit()
    path = f"/v2/jobs/{ada.name}~{name}"
    mate = login(server, hire(default="member").name)
    mate.refused("GET", path, 403, "ForbiddenUserError")
    mate.refused("GET", f"{path}/config", 403, "ForbiddenUserError")
    for value in ("STOP", "START"):
        mate.refused("PUT", f"{path}/executionType", 403, "ForbiddenUserError", json={"value": value})
    mate.refused("PUT", f"{path}/tag", 403, "ForbiddenUserError", json={"value": "x"})
    mate.refused("DELETE", f"/v1/user/{ada.name}/jobs/{name}", 403, "ForbiddenUserError")
    mate.refused("POST", f"/v1/user/{ada.name}/jobs", 403, "ForbiddenUserError", json=v1("x"))
    assert name in [one["name"] for one in mate.ok("GET", "/v2/jobs")]
    stranger = login(server, hire().name)
    stranger.refused("GET", path, 404, "NoJobError")
    assert stranger.ok("GET", "/v2/jobs") == []


def test_a_job_of_ours_has_a_config_of_theirs_without_secrets(server: Served, hire: Hire) -> None:
    api = hire(default="member")
    job = api.submit(env={"HF_TOKEN": "hunter2hunter2"}, image="python:3.9")
    pai = login(server, api.name)
    config = pai.ok("GET", f"/v2/jobs/{api.name}~{job['name']}/config")
    assert "hunter2" not in config
    assert yaml.safe_load(config)["taskRoles"]["main"]["instances"] == 1
    old = pai.ok("GET", f"/v1/user/{api.name}/jobs/{job['name']}/config")
    assert (old["jobName"], "hunter2" in json.dumps(old)) == (job["name"], False)


# v1


def test_v1_takes_jobs_as_json_and_as_a_form(ada: Pai) -> None:
    name = fresh("job")
    answer = ada.send("POST", f"/v1/user/{ada.name}/jobs", json=v1(name, killAllOnCompletedTaskNumber=1))
    assert (answer.status_code, answer.json()["message"]) == (202, f"update job {name} successfully")
    assert answer.headers["location"] == f"/api/v1/user/{ada.name}/jobs/{name}"
    assert "obsolete" in answer.headers["x-warning"]
    form = {
        "jobName": (other := fresh("job")),
        "image": "x",
        "codeDir": "",
        "jobEnvs[A]": "",
        "taskRoles[0][name]": "main",
        "taskRoles[0][taskNumber]": "2",
        "taskRoles[0][command]": "true",
        "taskRoles[0][minSucceededTaskCount]": "",
    }
    ada.ok("POST", "/v1/jobs", 202, data=form)

    def shown_twice() -> Any:
        # Between two answers the job may go on.
        one = ada.ok("GET", f"/v1/user/{ada.name}/jobs/{other}")
        return one if one == ada.ok("GET", f"/v1/jobs/{ada.name}~{other}") else None

    shown = until(shown_twice)
    assert len(shown["taskRoles"]["main"]["taskStatuses"]) == 2
    assert "tags" not in shown
    assert shown["jobStatus"]["subState"].startswith(("FRAMEWORK_", "APPLICATION_"))
    assert ada.ok("GET", f"/v1/jobs/{ada.name}/jobs/{name}/config")["image"] == "python:3.9"
    as_yaml = {"Accept": "text/yaml"}
    assert "protocolVersion" in ada.ok("GET", f"/v1/user/{ada.name}/jobs/{name}/config", headers=as_yaml)
    assert {name, other} <= {one["name"] for one in ada.ok("GET", f"/v1/user/{ada.name}/jobs")}
    ada.ok("PUT", f"/v1/user/{ada.name}/jobs/{name}/executionType", 202, json={"value": "STOP"})
    ada.ok("DELETE", f"/v1/user/{ada.name}/jobs/{name}", 202)
    ada.refused("GET", f"/v1/user/{ada.name}/jobs/{name}/ssh", 404, "NoJobError")
    ada.refused("GET", f"/v1/user/{ada.name}/jobs/{other}/ssh", 404, "NoJobSshInfoError")


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"mystery": 1}, 400, "InvalidParametersError"),
        ({"taskRoles": []}, 400, "InvalidParametersError"),
        ({"virtualCluster": "nothing"}, 400, "NoVirtualClusterError"),
    ],
)
def test_v1_refuses_bad_jobs(ada: Pai, changes: Data, status: int, code: str) -> None:
    ada.refused("POST", "/v1/jobs", status, code, json=v1("x", **changes))


def test_v1_refuses_a_taken_name(ada: Pai) -> None:
    name = ada.submit()
    ada.refused("POST", "/v1/jobs", 409, "ConflictJobError", json=v1(name))


# People


def test_admins_keep_users(boss: Pai, ada: Pai, server: Served) -> None:
    name = fresh("user")
    user = {"username": name, "password": PASSWORD, "email": "a@b.c", "extension": {"x": 1}}
    assert boss.ok("POST", "/v2/users/", 201, json=user)["message"] == "User is created successfully"
    shown = boss.ok("GET", f"/v2/users/{name}")
    assert shown == {
        "username": name,
        "admin": False,
        "virtualCluster": ["default"],
        "storageConfig": shown["storageConfig"],
        "email": "a@b.c",
        "extension": {"x": 1},
        "grouplist": [],
    }
    boss.refused("POST", "/v2/users", 409, "ConflictUserError", json=user)
    unknown = {**user, "username": fresh("user"), "virtualCluster": ["nothing"]}
    boss.refused("POST", "/v2/users", 400, "NoVirtualClusterError", json=unknown)
    ada.refused("POST", "/v2/users", 403, "ForbiddenUserError", json=user)
    boss.ok("PUT", "/v2/users", 201, json={"patch": True, "data": {"username": name, "virtualCluster": []}})
    assert boss.ok("GET", f"/v2/users/{name}")["virtualCluster"] == []
    boss.refused("PUT", "/v2/users", 400, "InvalidParametersError", json={"data": {"username": name}})
    boss.refused("PUT", "/v2/users", 404, "NoUserError", json={"patch": True, "data": {"username": "none"}})
    me = login(server, name)
    me.ok(
        "PUT",
        "/v2/users/me",
        201,
        json={"data": {"username": name, "email": "d@e.f", "newPassword": PASSWORD}},
    )
    assert me.ok("GET", f"/v2/users/{name}")["email"] == "d@e.f"
    me.refused("PUT", "/v2/users/me", 403, "ForbiddenUserError", json={"data": {"username": "admin"}})
    me.refused("PUT", f"/v2/users/{ada.name}/email", 403, "ForbiddenUserError", json={"email": "x@y.z"})
    boss.ok("PUT", f"/v2/users/{name}/virtualcluster", 201, json={"virtualCluster": ["default"]})
    boss.ok("PUT", f"/v2/users/{name}/password", 201, json={"newPassword": "another password"})
    me.refused("GET", "/v2/jobs", 401, "UnauthorizedUserError")
    boss.refused("DELETE", f"/v2/users/{boss.name}", 403, "RemoveAdminError")
    ada.refused("DELETE", f"/v2/users/{name}", 403, "ForbiddenUserError")
    boss.ok("DELETE", f"/v2/users/{name}")
    assert name not in [one["username"] for one in ada.ok("GET", "/v2/users/")]


def test_one_changes_ones_own_password_with_the_old_one(server: Served, hire: Hire) -> None:
    me = login(server, hire(default="member").name)
    path = f"/v2/users/{me.name}/password"
    wrong = {"oldPassword": "wrong wrong", "newPassword": "another password"}
    me.refused("PUT", path, 400, "IncorrectPasswordError", json=wrong)
    me.ok("PUT", path, 201, json={"oldPassword": PASSWORD, "newPassword": "another password"})
    assert login(server, me.name, "another password").token


def test_a_group_opens_its_virtual_clusters_to_its_members(
    boss: Pai, admin: Api, server: Served, hire: Hire
) -> None:
    queue, group = fresh("queue"), fresh("group").replace("-", "_")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    pai = login(server, hire().name)
    body = v2(fresh("job"), defaults={"virtualCluster": queue})
    pai.refused("POST", "/v2/jobs", 403, "ForbiddenUserError", content=body)
    acls = {"acls": {"admin": False, "virtualClusters": [queue], "storageConfigs": []}}
    boss.ok("POST", "/v2/groups", 201, json={"groupname": group, "extension": acls})
    boss.refused("POST", "/v2/groups", 409, "ConflictGroupError", json={"groupname": group})
    boss.ok("PUT", f"/v2/users/{pai.name}/group", 201, json={"groupname": group})
    assert boss.ok("GET", f"/v2/users/{pai.name}")["grouplist"] == [group]
    assert boss.ok("GET", f"/v2/users/{pai.name}")["virtualCluster"] == [queue]
    pai.ok("POST", "/v2/jobs", 202, content=body)
    members = boss.ok("GET", f"/v2/groups/{group}/userlist")
    assert members == [{"username": pai.name, "clusterAdmin": False}]
    assert boss.ok("GET", "/v2/groups/nothing/userlist") == []
    pai.refused("GET", f"/v2/groups/{group}/userlist", 403, "ForbiddenUserError")
    change = {"patch": True, "data": {"groupname": group, "description": "d"}}
    boss.ok("PUT", "/v2/groups", 201, json=change)
    assert pai.ok("GET", f"/v2/groups/{group}")["description"] == "d"
    assert pai.ok("GET", f"/v2/groups/{group}")["extension"] == acls
    boss.refused("PUT", f"/v2/users/{pai.name}/grouplist", 404, "NoGroupError", json={"grouplist": ["none"]})
    boss.refused("PUT", f"/v2/users/{pai.name}/group", 400, "InvalidParametersError", json={})
    leave = {"content": json.dumps({"groupname": group}), "headers": {"Content-Type": "application/json"}}
    boss.ok("DELETE", f"/v2/users/{pai.name}/group", 201, **leave)
    pai.refused(
        "POST", "/v2/jobs", 403, "ForbiddenUserError", content=v2("y", defaults={"virtualCluster": queue})
    )
    boss.ok("PUT", f"/v2/users/{pai.name}/grouplist", 201, json={"grouplist": [group]})
    boss.ok("DELETE", f"/v2/groups/{group}")
    boss.refused("DELETE", f"/v2/groups/{group}", 404, "NoGroupError")
    assert boss.ok("GET", f"/v2/users/{pai.name}")["virtualCluster"] == []


def test_v1_keeps_users(boss: Pai) -> None:
    name = fresh("user")
    fields = {"username": name, "password": PASSWORD, "admin": False, "modify": False}
    boss.ok("PUT", "/v1/user", 201, json=fields)
    boss.ok("PUT", "/v1/user", 201, json={**fields, "password": "another password", "modify": True})
    boss.ok("PUT", f"/v1/user/{name}/virtualClusters", 201, json={"virtualClusters": ""})
    assert boss.ok("GET", f"/v1/user/{name}")["virtualCluster"] == []
    gone = {"content": json.dumps({"username": name}), "headers": {"Content-Type": "application/json"}}
    boss.ok("DELETE", "/v1/user", **gone)


# The cluster


def test_virtual_clusters_say_what_they_have(ada: Pai, boss: Pai) -> None:
    vc = ada.ok("GET", "/v2/virtual-clusters")["default"]
    assert vc == ada.ok("GET", "/v2/virtual-clusters/default")
    assert vc["resourcesTotal"] == {"cpu": 8, "vCores": 8, "memory": 16384, "gpu": 2, "GPUs": 2}
    assert (vc["maxCapacity"], vc["dedicated"]) == (100, False)
    assert ada.ok("GET", "/v1/virtual-clusters/default")["status"] == "RUNNING"
    nodes = ada.ok("GET", "/v2/virtual-clusters?nodes")
    assert nodes == {"fake": {"gpuUsed": 0, "gpuAvailable": 2, "gpuTotal": 2}}
    boss.refused("PUT", "/v2/virtual-clusters/default", 403, "ForbiddenUserError", json={"vcCapacity": 1})
    boss.refused("PUT", "/v2/virtual-clusters/x", 400, "NotImplementedError", json={"vcCapacity": 1})
    ada.refused("DELETE", "/v2/virtual-clusters/x", 403, "ForbiddenUserError")
    assert ada.ok("GET", "/v2/virtual-clusters/default/sku-types") == ada.ok("GET", "/v2/cluster/sku-types")


def test_storages_are_those_that_one_may_use(ada: Pai) -> None:
    names = {one["name"] for one in ada.ok("GET", "/v2/storages")["storages"]}
    assert {"home", "shared"} <= names
    assert ada.ok("GET", "/v2/storages?default=true") == {"storages": []}
    home = ada.ok("GET", "/v2/storages/home")
    assert (home["name"], home["share"], home["type"]) == ("home", False, "other")


def test_nodes_and_pods_are_lists_of_kubernetes_for_admins(ada: Pai, boss: Pai) -> None:
    ada.refused("GET", "/v2/kubernetes/nodes", 403, "ForbiddenUserError")
    ada.refused("GET", "/v2/kubernetes/pods", 403, "ForbiddenUserError")
    listed = boss.ok("GET", "/v2/kubernetes/nodes")
    assert (listed["kind"], listed["items"][0]["metadata"]["name"]) == ("NodeList", "fake")
    name = ada.submit()
    until(lambda: len(boss.ok("GET", "/v2/kubernetes/pods")["items"]) == 2)
    pod = boss.ok("GET", "/v2/kubernetes/pods?namespace=default")["items"][0]
    assert (pod["metadata"]["labels"]["jobName"], pod["spec"]["nodeName"]) == (name, "fake")
    assert boss.ok("GET", "/v2/kubernetes/pods?namespace=other")["items"] == []
    assert boss.ok("GET", "/v2/alerts") == []


@pytest.mark.parametrize("body", [b"\xff", b"[]", b"1", b'{"value": ' + b"[" * 200 + b"]" * 200 + b"}", b"{"])
def test_bodies_that_are_none_are_refused(ada: Pai, body: bytes) -> None:
    name = ada.submit()
    path = f"/v2/jobs/{ada.name}~{name}/executionType"
    ada.refused("PUT", path, 400, "InvalidParametersError", content=body)


def test_a_body_that_is_too_large_is_refused_in_its_shape(ada: Pai) -> None:
    ada.refused("POST", "/v2/jobs", 413, "InvalidParametersError", content=b"x" * (2 * 1024**2))


def test_a_storage_of_a_group_is_for_its_members(ada: Pai, boss: Pai, admin: Api) -> None:
    storage, group = fresh("lake"), fresh("group").replace("-", "_")
    admin.ok("POST", "/storages", status=201, json={"name": storage, "kind": "folder", "users": [boss.name]})
    mounted = {"extras": {"storages": [{"name": storage, "mountPath": "/mnt/lake"}]}}
    text = {"content": v2(fresh("job"), **mounted), "headers": {"Content-Type": "text/yaml"}}
    ada.refused("POST", "/v2/jobs", 404, "NoStorageError", **text)
    ada.refused("GET", f"/v2/storages/{storage}", 404, "NoStorageError")
    acls = {"extension": {"acls": {"storageConfigs": [storage]}}}
    boss.ok("POST", "/v2/groups", 201, json={"groupname": group, **acls})
    boss.ok("PUT", f"/v2/users/{ada.name}/group", 201, json={"groupname": group})
    assert storage in [one["name"] for one in ada.ok("GET", "/v2/storages")["storages"]]
    assert storage in ada.ok("GET", f"/v2/users/{ada.name}")["storageConfig"]
    ada.ok("POST", "/v2/jobs", 202, **text)
    boss.ok("DELETE", f"/v2/users/{ada.name}/group", 201, json={"groupname": group})
    text["content"] = v2(fresh("job"), **mounted)
    ada.refused("POST", "/v2/jobs", 404, "NoStorageError", **text)


def test_a_later_account_of_the_same_name_is_in_no_group(server: Served, boss: Pai, admin: Api) -> None:
    storage, group, name = fresh("lake"), fresh("group").replace("-", "_"), fresh("again")
    admin.ok("POST", "/storages", status=201, json={"name": storage, "kind": "folder", "users": [boss.name]})
    acls = {"extension": {"acls": {"storageConfigs": [storage]}}}
    boss.ok("POST", "/v2/groups", 201, json={"groupname": group, **acls})
    account = {"username": name, "password": PASSWORD}
    boss.ok("POST", "/v2/users", 201, json=account)
    boss.ok("PUT", f"/v2/users/{name}/grouplist", 201, json={"grouplist": [group]})
    assert login(server, name).ok("GET", f"/v2/storages/{storage}")["name"] == storage
    boss.ok("DELETE", f"/v2/users/{name}")
    boss.ok("POST", "/v2/users", 201, json=account)
    login(server, name).refused("GET", f"/v2/storages/{storage}", 404, "NoStorageError")


def test_what_is_wrong_with_a_job_is_listed_as_an_alert_to_its_owner(
    boss: Pai, server: Served, hire: Hire, clock: FakeClock
) -> None:
    owner = hire(default="member")
    ada = login(server, owner.name)
    alert = {"on": "overtime", "after": "1h", "level": "major"}
    late = owner.running(alerts=[alert])
    clock.advance(3601)

    def listed(pai: Pai) -> list[Data]:
        every = pai.ok("GET", "/v2/alerts")
        return [one for one in every if one["labels"].get("job_name") == late["name"]]

    (mine,) = until(lambda: listed(ada))
    assert mine["labels"] == {
        "alertname": "FootplateOvertime",
        "severity": "major",
        "job_name": late["name"],
        "username": ada.name,
        "vc_name": "default",
    }
    assert mine["status"]["state"] == "active"
    assert "1" in mine["annotations"]["summary"]
    assert listed(boss) == [mine]
    assert listed(login(server, hire(default="member").name)) == []
    owner.finish(late)
    until(lambda: not listed(ada))


def test_pages_of_other_servers_may_ask_but_not_what_is_open_to_all(
    ada: Pai, guest: Pai, server: Served
) -> None:
    path, origin = "/v2/jobs", {"Origin": "https://portal.example.com"}
    asked = {
        **origin,
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "authorization",
    }
    before = guest.send("OPTIONS", path, headers=asked)
    assert before.status_code == 204
    assert "Authorization" in before.headers["access-control-allow-headers"]
    for answer in (before, ada.send("GET", path, headers=origin), guest.send("GET", path, headers=origin)):
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers
    ours = httpx.options(f"{server.url}/api/v1/jobs", headers=asked)
    assert "access-control-allow-origin" not in ours.headers
