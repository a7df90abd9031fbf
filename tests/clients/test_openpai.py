"""OpenPAI's own JavaScript client and its command against a real server: what they ask for really happens."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from openpaiclient import OpenPai

from footplate.testing.process import PASSWORD, ServerProcess, await_that

# A machine with cards on paper, and reads without a token, as the first version of the client makes them.
SETTINGS = """
retry_pause = 0
[clouds]
open_reads = true
[node]
cpus = 4
memory = "8GB"
"""
IMAGE = "python:3.9"
Call = tuple[str, str, list[Any]]
called: set[tuple[str, str]] = set()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    hdfs = tmp_path_factory.mktemp("hdfs")
    (hdfs / "alice" / "code").mkdir(parents=True)
    (hdfs / "alice" / "data").mkdir()
    (hdfs / "alice" / "code" / "train.sh").write_text("cat $PAI_DATA_DIR/x.txt | tee $PAI_OUTPUT_DIR/y.txt\n")
    (hdfs / "alice" / "data" / "x.txt").write_text("from the lake\n")
    settings = f"{SETTINGS}[[storages]]\nname = 'hdfs'\npath = '{hdfs}'\nread_only = false\n"
    with ServerProcess(tmp_path_factory.mktemp("openpai") / "home", settings) as running:
        with running.client() as admin:
            # The image stands for the Python of these tests: no container engine is needed.
            stands_in = {"environments": {IMAGE: sys.prefix}}
            admin.patch("/queues/default", json=stands_in).raise_for_status()
        yield running


@pytest.fixture(scope="module")
def pai(openpai_folder: Path, server: ServerProcess) -> OpenPai:
    return OpenPai(openpai_folder, {"pai_uri": server.url, "username": "admin", "password": PASSWORD})


def values(pai: OpenPai, *calls: Call, **cluster: Any) -> list[Any]:
    """Call methods, all of which must succeed."""
    results = pai.call(*calls, **cluster)
    called.update((on, call) for on, call, _ in calls)
    assert [one for one in results if "error" in one] == []
    return [one["value"] for one in results]


def errors(pai: OpenPai, *calls: Call, **cluster: Any) -> list[tuple[int, str]]:
    """Call methods, all of which must be refused; return status and code of each."""
    results = pai.call(*calls, **cluster)
    called.update((on, call) for on, call, _ in calls)
    found = []
    for one in results:
        error = one["error"]
        body = json.loads(error["body"]) if isinstance(error["body"], str) else error["body"] or {}
        found.append((error["status"], error["code"] or body.get("code")))
    return found


def job(name: str, command: str, **role: Any) -> dict[str, Any]:
    return {
        "protocolVersion": 2,
        "name": name,
        "type": "job",
        "prerequisites": [{"type": "dockerimage", "name": "img", "uri": IMAGE}],
        "parameters": {"word": "hello"},
        "secrets": {"pw": "hunter2hunter2"},
        "taskRoles": {
            "train": {
                "instances": 1,
                "dockerImage": "img",
                "resourcePerInstance": {"cpu": 1, "memoryMB": 256, "gpu": 0},
                "commands": [command],
                **role,
            }
        },
    }


def ended(pai: OpenPai, name: str, version: str = "v2") -> Any:
    """Wait until a job is over."""

    def look() -> Any:
        (shown,) = values(pai, (version, "job.getJob" if version == "v2" else "job.get", ["admin", name]))
        return shown if shown["jobStatus"]["state"] in ("SUCCEEDED", "FAILED", "STOPPED") else None

    return await_that(look, 60, f"{name} ends", every_s=0.2)


def test_a_job_runs_with_its_exit_code_log_files_and_history(pai: OpenPai, server: ServerProcess) -> None:
    command = (
        "echo <% $parameters.word %> <% $secrets.pw %> $PAI_USER_NAME $PAI_TASK_ROLE_LIST; "
        "echo kept > $PAI_OUTPUT_DIR/result.txt; exit 7"
    )
    (created,) = values(pai, ("v2", "job.createJob", [job("first", command)]))
    assert created["status"] == 202
    shown = ended(pai, "first")
    status = shown["jobStatus"]
    assert (status["state"], status["appExitCode"], status["appExitTriggerTaskIndex"]) == ("FAILED", 7, 0)
    listed, config, task, logs, tail, events, healthz, attempts, attempt = values(
        pai,
        ("v2", "job.listJobs", [{"username": "admin", "keyword": "fir"}]),
        ("v2", "job.getJobConfig", ["admin", "first"]),
        ("v2", "job.getTask", ["admin", "first", 0, "train", 0]),
        ("v2", "job.getTaskLogs", ["admin", "first", 0, "train", 0, 0]),
        ("v2", "job.getTaskLogs", ["admin", "first", 0, "train", 0, 0, True]),
        ("v2", "job.listEvents", ["admin", "first"]),
        ("v2", "jobHistory.getJobAttemptsHealthz", ["admin", "first"]),
        ("v2", "jobHistory.getJobAttempts", ["admin", "first"]),
        ("v2", "jobHistory.getJobAttempt", ["admin", "first", 0]),
    )
    assert [(one["name"], one["appExitCode"]) for one in listed] == [("first", 7)]
    assert (config["secrets"], config["taskRoles"]["train"]["commands"]) == ("******", [command])
    assert (task["containerExitCode"], task["attempts"][0]["containerExitCode"]) == (7, 7)
    text = httpx.get(server.url + logs["locations"][0]["uri"]).text
    assert text == f"hello {'*' * 14} admin train\n"
    assert httpx.get(server.url + tail["locations"][0]["uri"]).text == text
    assert events["data"][-1]["reason"] == "Submitted"
    assert healthz == "ok"
    assert (attempts[0]["exitCode"], attempt["exitCode"]) == (7, 7)
    assert server.command("files", "first").stdout.split()[-1] == "result.txt"


def test_a_job_is_followed_until_it_runs_tagged_stopped_and_looked_at(pai: OpenPai) -> None:
    values(pai, ("v2", "job.createRunningJob", [job("long", "sleep 600")]))
    tagged = values(
        pai,
        ("v2", "job.addTag", ["admin", "long", "mine"]),
        ("v2", "job.listJobs", [{"tagsContain": "mine"}]),
        ("v2", "job.deleteTag", ["admin", "long", "mine"]),
        ("v2", "job.listJobs", [{"tagsContain": "mine"}]),
        ("v2", "job.getJob", ["admin", "long", 0]),
        ("v2", "job.updateJobExecutionType", ["admin", "long", "STOP"]),
    )
    assert ([one["name"] for one in tagged[1]], tagged[3]) == (["long"], [])
    assert tagged[4]["jobStatus"]["state"] == "RUNNING"
    shown = ended(pai, "long")
    assert (shown["jobStatus"]["state"], shown["jobStatus"]["appExitCode"]) == ("STOPPED", -210)


def test_roles_find_each_other_and_completion_is_that_of_the_original(pai: OpenPai) -> None:
    """The worker ends the job although the server would sleep on."""
    both = job("both", "sleep 600", completion={"minFailedInstances": 1, "minSucceededInstances": -1})
    roles = both["taskRoles"]
    roles["ps"] = roles.pop("train")
    seen = 'test -n "$PAI_TASK_ROLE_ps_HOST_LIST" -a "$PAI_TASK_ROLE_TASK_COUNT_worker" = 2'
    roles["worker"] = {**roles["ps"], "instances": 2, "commands": [seen], "completion": {}}
    values(pai, ("v2", "job.createJob", [both]))
    shown = ended(pai, "both")
    assert shown["jobStatus"]["state"] == "SUCCEEDED"
    assert shown["taskRoles"]["ps"]["taskStatuses"][0]["taskState"] == "STOPPED"


def test_people_tokens_and_groups_are_kept(pai: OpenPai) -> None:
    acls = {"acls": {"admin": False, "virtualClusters": ["default"], "storageConfigs": []}}
    group = {"groupname": "team", "description": "d", "externalName": "", "extension": acls}
    user = {"username": "eve", "password": PASSWORD, "email": "e@x.y", "virtualCluster": []}
    login, info, _, _, listed, *_, shown, members, groups, all_users = values(
        pai,
        ("v2", "authn.basicLogin", []),
        ("v2", "api.getClusterInfo", []),
        ("v2", "group.createGroup", [group]),
        ("v2", "user.createUser", [user]),
        ("v2", "user.getAllUser", []),
        ("v2", "user.updateUser", [{"username": "eve", "email": "eve@x.y"}]),
        ("v2", "user.updateUserSelf", [{"username": "admin", "email": "a@x.y"}]),
        ("v2", "user.updateUserGroup", ["eve", "team"]),
        ("v2", "user.deleteUserGroup", ["eve", "team"]),
        ("v2", "user.updateUserGrouplist", ["eve", ["team"]]),
        ("v2", "group.updateGroup", [{"patch": True, "data": {"groupname": "team", "description": "e"}}]),
        ("v2", "group.getGroup", ["team"]),
        ("v2", "user.getUser", ["eve"]),
        ("v2", "group.getGroupMembers", ["team"]),
        ("v2", "group.getAllGroup", []),
        ("v2", "user.getAllUser", []),
    )
    assert (login["user"], login["admin"], info["authnMethod"]) == ("admin", True, "basic")
    assert {"admin", "eve"} == {one["username"] for one in listed} == {one["username"] for one in all_users}
    assert (shown["email"], shown["grouplist"], shown["virtualCluster"]) == ("eve@x.y", ["team"], ["default"])
    assert members == [{"username": "eve", "clusterAdmin": False}]
    assert groups[0]["description"] == "e"
    # She may submit because of her group; not after it is gone.
    hers = {"username": "eve", "password": PASSWORD}
    values(pai, ("v2", "job.createJob", [job("hers", "true")]), **hers)
    forbidden = errors(pai, ("v2", "user.getUser", ["nobody"]), ("v2", "user.deleteUser", ["admin"]), **hers)
    assert forbidden == [(400, "NoUserError"), (403, "ForbiddenUserError")]
    values(pai, ("v2", "group.deleteGroup", ["team"]))
    assert errors(pai, ("v2", "job.createJob", [job("again", "true")]), **hers) == [
        (403, "ForbiddenUserError")
    ]
    values(pai, ("v2", "user.deleteUser", ["eve"]))
    assert errors(pai, ("v2", "user.getUser", ["eve"])) == [(400, "NoUserError")]


def test_tokens_of_programs_are_made_used_and_revoked(pai: OpenPai) -> None:
    (made,) = values(pai, ("v2", "token.createApplicationToken", []))
    alone = {"username": None, "password": None, "token": made["token"]}
    assert isinstance(values(pai, ("v2", "job.listJobs", []), **alone)[0], list)
    assert errors(pai, ("v2", "token.getTokens", []), **alone) == [(403, "ForbiddenUserError")]
    (listed, _) = values(pai, ("v2", "token.getTokens", []), ("v2", "token.deleteToken", [made["token"]]))
    assert made["token"] in listed["tokens"]
    assert errors(pai, ("v2", "job.listJobs", []), **alone) == [(401, "UnauthorizedUserError")]
    values(pai, ("v2", "authn.basicLogout", []))


def test_the_cluster_is_shown(pai: OpenPai) -> None:
    clusters, one, skus, storages, storage, nodes, pods, cached = values(
        pai,
        ("v2", "virtualCluster.listVirtualClusters", []),
        ("v2", "virtualCluster.getVirtualCluster", ["default"]),
        ("v2", "virtualCluster.getVirtualClusterSkuTypes", ["default"]),
        ("v2", "storage.getStorages", []),
        ("v2", "storage.getStorage", ["home"]),
        ("v2", "kubernetes.getK8sNodes", []),
        ("v2", "kubernetes.getK8sPods", [{"namespace": "default"}]),
        ("v2", "cache.functions.getStorages", [True]),
    )
    assert clusters["default"] == one
    assert one["resourcesTotal"]["cpu"] == 4
    assert isinstance(skus, dict)
    assert {"home", "shared"} <= {found["name"] for found in storages["storages"]}
    assert (storage["name"], storages["storages"]) == ("home", cached["storages"])
    assert (nodes["kind"], pods["kind"]) == ("NodeList", "PodList")


def test_the_first_version_of_the_client_runs_a_job(pai: OpenPai, server: ServerProcess) -> None:
    command = "echo old $N; test $PAI_TASK_INDEX = 0 -o $PAI_TASK_INDEX = 1"
    role = {"name": "main", "taskNumber": 2, "cpuNumber": 1, "memoryMB": 256, "command": command}
    old = {"jobName": "old", "image": IMAGE, "jobEnvs": {"N": "5"}, "taskRoles": [role]}
    (made,) = values(pai, ("v1", "job.submit", ["admin", old]))
    assert made["message"] == "update job old successfully"
    assert ended(pai, "old", "v1")["jobStatus"]["state"] == "SUCCEEDED"
    assert server.command("logs", "old", "--task", "main/1").stdout == "old 5\n"
    listed, framework, config, info, tokens, token = values(
        pai,
        ("v1", "job.list", [{"username": "admin"}]),
        ("v1", "job.getFrameworkInfo", ["admin", "old"]),
        ("v1", "job.getConfig", ["admin", "old"]),
        ("v1", "authn.info", []),
        ("v1", "authn.getTokens", []),
        ("v1", "authn.createApplicationToken", []),
    )
    assert "old" in [one["name"] for one in listed]
    assert framework["jobStatus"]["appExitCode"] == 0
    assert config["jobEnvs"] == {"N": "5"}
    assert info["authn_type"] == "basic"
    assert isinstance(tokens["tokens"], list)
    values(pai, ("v1", "authn.deleteToken", [token["token"]]))
    assert errors(pai, ("v1", "job.getSshInfo", ["admin", "old"])) == [(404, "NoJobSshInfoError")]
    values(
        pai,
        ("v1", "job.execute", ["admin", "old", "STOP"]),
        ("v1", "job.delete", ["admin", "old"]),
    )
    assert errors(pai, ("v1", "job.get", ["admin", "old"])) == [(404, "NoJobError")]


def test_folders_of_a_job_file_are_those_of_the_storage_that_stands_for_hdfs(
    pai: OpenPai, server: ServerProcess
) -> None:
    role = {"name": "main", "taskNumber": 1, "memoryMB": 256, "command": "sh code/train.sh"}
    folders = {
        "codeDir": "$PAI_DEFAULT_FS_URI/alice/code",
        "dataDir": "hdfs://10.0.0.1:9000/alice/data",
        "outputDir": "$PAI_DEFAULT_FS_URI/out/$PAI_JOB_NAME",
    }
    wanted = {"jobName": "folders", "image": IMAGE, **folders, "taskRoles": [role]}
    values(pai, ("v1", "job.submit", ["admin", wanted]))
    assert ended(pai, "folders", "v1")["jobStatus"]["state"] == "SUCCEEDED"
    assert server.command("logs", "folders").stdout == "from the lake\n"
    (config,) = values(pai, ("v1", "job.getConfig", ["admin", "folders"]))
    assert {name: config[name] for name in folders} == folders
    with server.client() as admin:
        job_id = admin.get("/jobs/folders").json()["id"]
        kept = {"path": f"out/admin~folders/{job_id}/y.txt"}
        await_that(
            lambda: admin.get("/storages/hdfs/content", params=kept).content == b"from the lake\n",
            60,
            "the results are there",
        )


def test_single_sign_on_is_refused_as_where_it_is_off(pai: OpenPai) -> None:
    for version in ("v1", "v2"):
        for call in ("authn.oidcLogin", "authn.oidcLogout"):
            # The later version of the client drops the body of such a refusal.
            code = "NoApiError" if version == "v1" else None
            assert errors(pai, (version, call, [])) == [(404, code)], (version, call)


def test_wrong_passwords_tokens_and_jobs_of_others_are_refused(pai: OpenPai) -> None:
    listing: Call = ("v2", "job.listJobs", [])
    wrong: Call = ("v2", "authn.basicLogin", ["admin", "wrong wrong wrong"])
    assert errors(pai, wrong) == [(400, "IncorrectPasswordError")]
    bad = {"username": None, "password": None, "token": "a.b.c"}
    assert errors(pai, listing, **bad) == [(401, "UnauthorizedUserError")]
    values(pai, ("v2", "user.createUser", [{"username": "mallory", "password": PASSWORD}]))
    values(pai, ("v2", "job.createJob", [job("private", "sleep 600")]))
    hers = {"username": "mallory", "password": PASSWORD}
    refused = errors(
        pai,
        ("v2", "job.getJob", ["admin", "private"]),
        ("v2", "job.getJobConfig", ["admin", "private"]),
        ("v2", "job.updateJobExecutionType", ["admin", "private", "STOP"]),
        ("v2", "job.getJob", ["admin", "nothing"]),
        ("v2", "kubernetes.getK8sNodes", []),
        **hers,
    )
    assert refused == [
        (403, "ForbiddenUserError"),
        # Of a configuration the client reads no refusals.
        (403, None),
        (403, "ForbiddenUserError"),
        (404, "NoJobError"),
        (403, "ForbiddenUserError"),
    ]
    values(pai, ("v2", "job.updateJobExecutionType", ["admin", "private", "STOP"]))


def test_the_command_submits_lists_and_shows(pai: OpenPai, server: ServerProcess, tmp_path: Path) -> None:
    (login,) = values(pai, ("v2", "authn.basicLogin", []))
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump(job("typed", "echo typed", resourcePerInstance={
        "cpu": 1, "memoryMB": 256, "gpu": 0, "ports": {"ssh": 1}})))  # fmt: skip
    # The command keeps what it knows in a file of the home folder, and complains while that is not there.
    (tmp_path / ".openpai").mkdir()
    (tmp_path / ".openpai" / "clusters.json").write_text("[]")
    added = pai.command(tmp_path, "addc", server.url, "admin", login["token"], "-a", "mine")
    assert added.stderr == ""
    assert "mine" in pai.command(tmp_path, "listc").stdout
    submitted = pai.command(tmp_path, "subj", "mine", str(file))
    assert (submitted.stderr, "202" in submitted.stdout) == ("", True)
    assert ended(pai, "typed")["jobStatus"]["appExitCode"] == 0
    assert "typed" in pai.command(tmp_path, "listj", "mine").stdout
    assert '"SUCCEEDED"' in pai.command(tmp_path, "getj", "mine", "typed").stdout.replace("'", '"')
    assert "shared" in pai.command(tmp_path, "lists", "mine").stdout
    assert "NoJobError" in pai.command(tmp_path, "getj", "mine", "nothing").stderr
    assert pai.command(tmp_path, "delc", "mine").stderr == ""


needs_ssh = pytest.mark.skipif(
    shutil.which("ssh") is None, reason="needs a client: apt install openssh-client"
)
ASKED: dict[str, Any] = {"plugin": "ssh", "parameters": {"jobssh": True}}


def entered(line: str, key: Path, command: str) -> str:
    """Do as the command says that was printed, with a key of one's own."""
    words = [*line.split(), "-oUserKnownHostsFile=/dev/null", "-oIdentitiesOnly=yes", "-oBatchMode=yes"]
    done = subprocess.run(
        [words[0], "-i", str(key), *words[1:], command],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout if done.returncode == 0 else done.stderr


def new_key(folder: Path) -> Path:
    file = folder / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True)
    return file


@needs_ssh
def test_the_line_that_the_command_prints_leads_into_the_task(
    pai: OpenPai, server: ServerProcess, tmp_path: Path
) -> None:
    """By the key that the job's file names, and by no other."""
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    mine, other = new_key(mine), new_key(other)
    named = {"type": "custom", "value": mine.with_suffix(".pub").read_text().strip()}
    asked = {**ASKED, "parameters": {"jobssh": True, "userssh": named}}
    wanted = job("inside", "sleep 600", instances=2)
    wanted["extras"] = {"com.microsoft.pai.runtimeplugin": [asked]}
    values(pai, ("v2", "job.createRunningJob", [wanted]))
    (login,) = values(pai, ("v2", "authn.basicLogin", []))
    (tmp_path / ".openpai").mkdir()
    (tmp_path / ".openpai" / "clusters.json").write_text("[]")
    pai.command(tmp_path, "addc", server.url, "admin", login["token"], "-a", "here")
    for index in ("0", "1"):
        line = await_that(
            lambda index=index: pai.command(tmp_path, "ssh", "here", "inside", "train", index).stdout.strip(),
            30,
            "the command knows where",
        )
        assert entered(line, mine, "echo $PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX") == f"{index}\n"
    assert "Permission denied" in entered(line, other, "true")
    values(pai, ("v2", "job.updateJobExecutionType", ["admin", "inside", "STOP"]))
    ended(pai, "inside")
    assert "Connection refused" in entered(line, mine, "true")


@needs_ssh
def test_the_first_version_hands_out_a_key_by_a_link(
    pai: OpenPai, server: ServerProcess, tmp_path: Path
) -> None:
    role = {"name": "main", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 256, "command": "sleep 600"}
    values(pai, ("v1", "job.submit", ["admin", {"jobName": "open", "image": IMAGE, "taskRoles": [role]}]))
    api = f"{server.url}/rest-server/api/v1/user/admin/jobs/open/ssh"
    (login,) = values(pai, ("v2", "authn.basicLogin", []))
    token = {"Authorization": f"Bearer {login['token']}"}
    told = await_that(
        lambda: found.json() if (found := httpx.get(api, headers=token)).status_code == 200 else None,
        30,
        "the task can be entered",
    )
    (one,), pair = told["containers"], told["keyPair"]
    (shown,) = values(pai, ("v1", "job.get", ["admin", "open"]))
    assert one["id"] == shown["taskRoles"]["main"]["taskStatuses"][0]["containerId"]
    key = tmp_path / pair["privateKeyFileName"]
    key.write_text(httpx.get(pair["privateKeyDirectDownloadLink"]).text)
    key.chmod(0o600)
    line = f"ssh -oStrictHostKeyChecking=no -p {one['sshPort']} root@{one['sshIp']}"
    assert entered(line, key, "echo $PAI_JOB_NAME") == "admin~open\n"
    # Without a token one may read here, and gets no key.
    (seen,) = values(pai, ("v1", "job.getSshInfo", ["admin", "open"]))
    assert (seen["containers"], seen["keyPair"]["privateKeyDirectDownloadLink"]) == ([one], "")
    values(pai, ("v1", "job.delete", ["admin", "open"]))


def test_every_method_of_both_clients_was_called(pai: OpenPai) -> None:
    """All but helpers of the clients, which nobody calls from outside."""
    missing = {
        (version, method)
        for version, methods in pai.methods().items()
        for method in methods
        if (version, method) not in called and not method.startswith(("cache.", "httpClient."))
    }
    assert missing - {("v2", "authn.oidcRequest")} == set()
