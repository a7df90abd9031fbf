"""The requests of FfDL's and Prophecis' commands: they do what they did, and refuse as they did."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ffdlclient import Ffdl, prophecis, zipped

from footplate.testing.process import PASSWORD, ServerProcess, await_that

MANIFEST: dict[str, Any] = {
    "name": "demo",
    "description": "d",
    "cpus": 0.2,
    "gpus": 0,
    "memory": "128MiB",
    "learners": 1,
    "data_stores": [
        {
            "id": "ds1",
            "type": "mount_volume",
            "training_data": {"container": "data"},
            "training_results": {"container": "result"},
            "connection": {"type": "host_mount", "name": "host-mount", "path": "/nowhere/alice"},
        }
    ],
    "framework": {"name": "tensorflow", "version": "1.5.0-py3", "command": "python3 train.py"},
}
OF_PROPHECIS = {"namespace": "default", "code_selector": "codeFile", "memory": "128Mib", "job_type": "Local"}
TRAIN = """import os
print('learner', os.environ['LEARNER_ID'], 'of', os.environ['NUM_LEARNERS'])
with open(os.path.join(os.environ['RESULT_DIR'], 'model.txt'), 'w') as out:
    out.write('weights')
print('done')
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    home: Path = tmp_path_factory.mktemp("home")
    store: Path = tmp_path_factory.mktemp("store")
    (store / "alice" / "data").mkdir(parents=True)
    (store / "alice" / "data" / "x.txt").write_text("from the lake")
    settings = f"[node]\ncpus = 16\nmemory = '64GB'\n[[storages]]\nname = 'lake'\npath = '{store}'\n"
    with ServerProcess(home, settings) as running, running.client() as client:
        running.store = store  # type: ignore[attr-defined]
        # The image of the manifest stands for the Python of this machine.
        environments = {"tensorflow:1.5.0-py3": sys.prefix}
        answer = client.patch("/queues/default", json={"environments": environments})
        assert answer.status_code == 200, answer.text
        account = {"name": "bob", "password": "a long password", "queues": {"default": "member"}}
        assert client.post("/users", json=account).status_code == 201
        yield running


@pytest.fixture
def ffdl(server: ServerProcess) -> Ffdl:
    return Ffdl(server.url, "admin", PASSWORD)


@pytest.fixture
def di(server: ServerProcess) -> Ffdl:
    return prophecis(server.url, "admin", PASSWORD)


def trained(client: Ffdl, **changes: Any) -> str:
    answer = client.train(yaml.safe_dump({**MANIFEST, **changes}), zipped(train__py=TRAIN))
    assert answer.status_code == 201, answer.text
    model = str(answer.json()["model_id"])
    assert answer.headers["Location"] == answer.json()["location"] == f"{client.prefix}/v1/models/{model}"
    return model


def state_of(client: Ffdl, model: str) -> str:
    return str(client.call("GET", f"/v1/models/{model}").json()["training"]["training_status"]["status"])


def until(client: Ffdl, model: str, *states: str) -> str:
    return str(await_that(lambda: (now := state_of(client, model)) in states and now, 30, f"{states}"))


def test_a_model_is_trained_watched_and_fetched_as_by_ffdls_command(ffdl: Ffdl) -> None:
    model = trained(ffdl)
    text, code = ffdl.follow(model, "ws")
    assert text == "learner 1 of 1\ndone\n"
    assert code == 1000
    assert until(ffdl, model, "COMPLETED", "FAILED") == "COMPLETED"
    shown = ffdl.call("GET", f"/v1/models/{model}").json()
    assert shown["framework"] == {"name": "tensorflow", "version": "1.5.0-py3"}
    assert shown["training"]["input_data"] == ["ds1-input"]
    assert shown["training"]["training_status"]["completed"].endswith(" +0000 UTC")
    assert ffdl.call("GET", f"/v1/models/{model}/logs").text == text
    assert ffdl.call("GET", f"/v1/models/{model}/logs", params={"follow": "true"}).text == text
    packed = ffdl.call("GET", f"/v1/models/{model}/trained_model").content
    with zipfile.ZipFile(io.BytesIO(packed)) as files:
        assert files.read("model.txt") == b"weights"
    packed = ffdl.call("GET", f"/v1/models/{model}/definition").content
    with zipfile.ZipFile(io.BytesIO(packed)) as files:
        assert files.read("train.py").decode() == TRAIN
    listed = ffdl.call("GET", "/v1/models").json()["models"]
    assert model in [one["model_id"] for one in listed]
    assert ffdl.call("DELETE", f"/v1/models/{model}").json() == {"model_id": model}
    assert ffdl.call("GET", "/health").status_code == 200


def test_the_same_manifest_can_be_sent_twice(ffdl: Ffdl) -> None:
    assert trained(ffdl) != trained(ffdl)


def test_data_of_a_folder_is_mounted_where_a_storage_has_it(server: ServerProcess, ffdl: Ffdl) -> None:
    store = {**MANIFEST["data_stores"][0]}
    store["connection"] = {**store["connection"], "path": f"{server.store}/alice"}  # type: ignore[attr-defined]
    framework = {**MANIFEST["framework"], "command": "cat $DATA_DIR/x.txt"}
    model = trained(ffdl, data_stores=[store], framework=framework)
    assert until(ffdl, model, "COMPLETED", "FAILED") == "COMPLETED"
    assert ffdl.call("GET", f"/v1/models/{model}/logs").text == "from the lake"


def test_a_bucket_is_the_storage_of_its_name(ffdl: Ffdl) -> None:
    store = {**MANIFEST["data_stores"][0], "type": "mount_cos", "training_data": {"container": "lake"}}
    framework = {**MANIFEST["framework"], "command": "cat $DATA_DIR/alice/data/x.txt"}
    model = trained(ffdl, data_stores=[store], framework=framework)
    assert until(ffdl, model, "COMPLETED", "FAILED") == "COMPLETED"
    assert ffdl.call("GET", f"/v1/models/{model}/logs").text == "from the lake"


def test_data_that_no_storage_has_is_told_in_the_answer(ffdl: Ffdl) -> None:
    bucket = {**MANIFEST["data_stores"][0], "type": "mount_cos"}
    for store, missing in ((MANIFEST["data_stores"][0], "/nowhere/alice/data"), (bucket, "bucket data")):
        manifest = yaml.safe_dump({**MANIFEST, "data_stores": [store]})
        answer = ffdl.train(manifest, zipped(train__py=TRAIN)).json()
        assert any(missing in one for one in answer["warnings"]), answer
        ffdl.call("DELETE", f"/v1/models/{answer['model_id']}")


def test_log_lines_come_by_pages_and_from_a_time_on(ffdl: Ffdl) -> None:
    model = trained(ffdl)
    until(ffdl, model, "COMPLETED")
    path = f"/v1/logs/{model}/loglines"
    first = ffdl.call("GET", path, params={"pagesize": "1"}).json()["models"]
    assert [(one["line"], one["meta"]["rindex"]) for one in first] == [("learner 1 of 1", 1)]
    last = ffdl.call("GET", path, params={"pagesize": "5", "pos": "-1"}).json()["models"]
    assert [one["line"] for one in last] == ["done"]
    since = {"pagesize": "5", "since_time": str(first[0]["meta"]["time"] + 1)}
    assert [one["line"] for one in ffdl.call("GET", path, params=since).json()["models"]] == ["done"]
    assert ffdl.call("GET", f"/v1/logs/{model}/emetrics").json() == {"models": []}


LINES = """
mkdir -p $LOG_DIR;
echo '{"grouplabel": "test", "etimes": {"iteration": {"value": "9"}}, "values": {"acc": {"value": "0.5"}}}'
> $LOG_DIR/evaluation-metrics.txt;
echo 'Iteration 7, loss = 0.25'
"""
GROUP = {
    "regex": r"Iteration %{INT:it}, loss = (?P<value>[0-9.]+)",
    "scalars": {"loss": {"type": "FLOAT", "value": "$value"}},
    "etimes": {"iteration": {"type": "INT", "value": "$it"}},
}


def test_metrics_that_a_manifest_tells_of_are_found_in_files_and_in_the_log(ffdl: Ffdl) -> None:
    framework = {**MANIFEST["framework"], "command": LINES}
    wanted = {"type": "regex_extractor", "in": "$JOB_STATE_DIR/latest-log", "groups": {"val": GROUP}}
    model = trained(ffdl, framework=framework, evaluation_metrics=wanted)
    until(ffdl, model, "COMPLETED")

    def told() -> Any:
        models = ffdl.call("GET", f"/v1/logs/{model}/emetrics").json()["models"]
        return models if len(models) > 1 else None

    found = {
        (one["grouplabel"], one["etimes"]["iteration"]["value"], name, value["value"])
        for one in await_that(told, 30, "metrics")
        for name, value in one["values"].items()
    }
    assert found == {("test", "9", "acc", "0.5"), ("val", "7", "loss", "0.25")}


def test_metrics_are_told_as_emetrics(server: ServerProcess, ffdl: Ffdl) -> None:
    framework = {**MANIFEST["framework"], "command": "sleep 60"}
    model = trained(ffdl, framework=framework)
    until(ffdl, model, "PROCESSING")
    with server.client() as client:
        points = [{"values": {"test/accuracy": 0.91}, "step": 100}]
        job = model.removeprefix("training-")
        assert client.post(f"/jobs/{job}/metrics", json={"points": points}).status_code == 200
    [one] = ffdl.call("GET", f"/v1/logs/{model}/emetrics").json()["models"]
    assert one["grouplabel"] == "test"
    assert one["etimes"] == {"iteration": {"type": "INT", "value": "100"}}
    assert one["values"] == {"accuracy": {"type": "FLOAT", "value": "0.91"}}
    ffdl.call("DELETE", f"/v1/models/{model}")


def test_a_halt_keeps_the_model_and_a_second_one_is_silent(ffdl: Ffdl) -> None:
    framework = {**MANIFEST["framework"], "command": "sleep 60"}
    model = trained(ffdl, framework=framework)
    until(ffdl, model, "PROCESSING")
    for _ in range(2):
        halted = ffdl.call("PATCH", f"/v1/models/{model}", json={"status": "halt"})
        assert (halted.status_code, halted.json()) == (202, {"model_id": model})
        until(ffdl, model, "HALTED")
    refused = ffdl.call("PATCH", f"/v1/models/{model}", json={"status": "sing"})
    assert (refused.status_code, set(refused.json())) == (400, {"code", "error", "description"})


def test_prophecis_trains_kills_retries_and_exports(di: Ffdl) -> None:
    model = trained(di, **OF_PROPHECIS)
    text, code = di.follow(model)
    assert (text, code) == ("learner 1 of 1\ndone\n", 1000)
    assert until(di, model, "COMPLETED", "FAILED") == "COMPLETED"
    shown = di.call("GET", f"/v1/models/{model}").json()
    assert (shown["job_namespace"], shown["user_id"]) == ("default", "admin")
    assert shown["training"]["training_status"]["completed"].isdigit()
    packed = di.call("GET", f"/v1/models/{model}/export").content
    with zipfile.ZipFile(io.BytesIO(packed)) as files:
        assert set(files.namelist()) == {"model/manifest.yaml", "model/train.py"}
    lines = f"/v1/job/{model}/log"
    for first, told in ((0, ("learner 1 of 1", "false")), (1, ("done", "true"))):
        page = di.call("GET", lines, params={"from": str(first), "size": "1"}).json()
        assert page == {"logs": [told[0]], "is_last_line": told[1]}
    again = di.call("GET", f"/v1/models/{model}/retry").json()
    assert again["code"] == "200"
    until(di, again["result"], "COMPLETED")
    page = di.call("GET", "/v1/models", params={"page": "1", "size": "1"}).json()
    assert len(page["models"]) == 1
    assert page["total"] >= 2
    counts = di.call("GET", "/v1/dashboards", params={"clusterName": "default"}).json()
    assert counts["result"]["jobTotal"] >= 2
    framework = {**MANIFEST["framework"], "command": "sleep 60"}
    longer = trained(di, **OF_PROPHECIS, framework=framework)
    until(di, longer, "RUNNING")
    killed = di.call("GET", f"/v1/models/{longer}/kill")
    assert (killed.status_code, killed.json()["model_id"]) == (200, longer)
    # Its command would wait for ever for any other word.
    until(di, longer, "FAILED")


def test_a_failed_command_is_told_with_its_exit_code(ffdl: Ffdl) -> None:
    framework = {**MANIFEST["framework"], "command": "exit 7"}
    model = trained(ffdl, framework=framework)
    until(ffdl, model, "FAILED")
    status = ffdl.call("GET", f"/v1/models/{model}").json()["training"]["training_status"]
    assert status["error_code"] == "C201"
    assert "7" in status["status_message"]


def test_what_they_refuse_is_refused_in_their_shapes(ffdl: Ffdl, di: Ffdl) -> None:
    bad = ffdl.train(yaml.safe_dump({**MANIFEST, "name": ""}), zipped(train__py=TRAIN))
    assert bad.status_code == 400
    assert "Model definition name is not set" in bad.json()["error"]
    assert set(bad.json()) == {"code", "error", "description"}
    without = ffdl.train(yaml.safe_dump(MANIFEST), None)
    assert (without.status_code, "content is not set" in without.json()["error"]) == (400, True)
    bad = di.train(yaml.safe_dump({**MANIFEST, **OF_PROPHECIS, "memory": "1GiB"}), zipped(train__py=TRAIN))
    assert bad.status_code == 400
    assert "now only support unit Mib, GB" in bad.json()["msg"]
    for content in ("{", "[1, 2]", "\x00", "a: &a [*a]"):
        assert ffdl.train(content, zipped(train__py=TRAIN)).status_code == 400
    assert ffdl.train(yaml.safe_dump(MANIFEST), b"no archive").status_code == 400
    assert ffdl.call("GET", "/v1/models/training-000000000000").status_code == 404
    assert ffdl.call("GET", "/v1/logs/training-000000000000/loglines").status_code == 404


def test_what_is_not_there_is_refused_in_their_shapes_too(ffdl: Ffdl, di: Ffdl) -> None:
    for client, path, word in (
        (ffdl, "/v1/models/x/metrics", "description"),
        (di, "/v1/experiments", "msg"),
        (ffdl, "/cc/v1/nothing", "result"),
    ):
        answer = client.call("GET", path)
        assert (answer.status_code, answer.json()["code"]) == (404, 404)
        assert word in answer.json()
    assert ffdl.call("PUT", "/v1/models").json()["code"] == 405
    for query in ({"page": "0", "size": "5"}, {"page": "1"}):
        assert di.call("GET", "/v1/models", params=query).json()["code"] == 400


def test_code_is_sent_before_the_manifest_that_names_it(server: ServerProcess, di: Ffdl) -> None:
    code = {"file": ("code.zip", zipped(train__py=TRAIN), "application/zip")}
    path = di.call("POST", "/v1/codeUpload", files=code).json()["s3Path"]
    manifest = yaml.safe_dump({**MANIFEST, **OF_PROPHECIS, "code_path": path})
    model = str(di.train(manifest, None).json()["model_id"])
    assert until(di, model, "COMPLETED", "FAILED") == "COMPLETED"
    # Knowing where somebody's code lies is not having it.
    bob = prophecis(server.url, "bob", "a long password")
    assert bob.train(manifest, None).status_code == 400
    assert di.call("POST", "/v1/codeUpload", files={"other": code["file"]}).status_code == 400


def test_nobody_without_the_right_password_gets_in(server: ServerProcess, ffdl: Ffdl) -> None:
    import httpx

    nobody = httpx.get(f"{server.url}/v1/models", headers={"X-Watson-Userinfo": "bluemix-instance-id=admin"})
    assert nobody.status_code == 401
    assert nobody.json() == {"message": "Missing or malformed X-Watson-Userinfo header."}
    trusting = {"MLSS-UserID": "admin", "MLSS-Superadmin": "true"}
    assert httpx.get(f"{server.url}/di/v1/models", headers=trusting).status_code == 403
    wrong = Ffdl(server.url, "bob", "wrong password")
    assert wrong.call("GET", "/v1/models").status_code == 401
    assert prophecis(server.url, "bob", "wrong password").call("GET", "/v1/models").status_code == 403
    model = trained(ffdl)
    with pytest.raises(Exception, match="403"):
        wrong.follow(model)


def test_a_program_of_prophecis_calls_with_an_access_key(server: ServerProcess) -> None:
    import httpx

    with server.client(user="bob", password="a long password") as bob:
        key = bob.post("/access-keys", json={"name": "dss"}).json()
    signed = {
        "MLSS-Auth-Type": "SYSTEM",
        "MLSS-APPID": key["id"],
        "MLSS-APPTimestamp": "1603274993343",
        "MLSS-APPSignature": key["secret"],
        "MLSS-UserID": "bob",
    }
    models = f"{server.url}/di/v1/models"
    assert httpx.get(models, headers=signed).status_code == 200
    for wrong in ({"MLSS-APPSignature": "x"}, {"MLSS-APPID": "x"}, {"MLSS-UserID": "admin"}):
        assert httpx.get(models, headers={**signed, **wrong}).status_code == 403


def test_models_of_others_are_neither_seen_nor_touched(server: ServerProcess, ffdl: Ffdl) -> None:
    framework = {**MANIFEST["framework"], "command": "sleep 60"}
    model = trained(ffdl, framework=framework)
    bob = Ffdl(server.url, "bob", "a long password")
    di = prophecis(server.url, "bob", "a long password")
    assert bob.call("GET", "/v1/models").json() == {"models": []}
    assert model not in str(di.call("GET", "/v1/models").json())
    for path in ("", "/definition", "/trained_model", "/logs"):
        refused = bob.call("GET", f"/v1/models/{model}{path}")
        assert refused.status_code == 404
        # Not even whose it is.
        assert "admin" not in refused.text
        assert di.call("GET", f"/v1/models/{model}{path}").status_code == 403
    assert bob.call("GET", f"/v1/logs/{model}/loglines").status_code == 404
    assert bob.call("DELETE", f"/v1/models/{model}").status_code == 404
    assert di.call("DELETE", f"/v1/models/{model}").status_code == 403
    assert bob.call("PATCH", f"/v1/models/{model}", json={"status": "halt"}).status_code == 404
    assert state_of(ffdl, model) in ("QUEUED", "DOWNLOADING", "PROCESSING")
    ffdl.call("DELETE", f"/v1/models/{model}")


def test_prophecis_pages_sign_in_and_list_namespaces(
    server: ServerProcess,
) -> None:
    import base64

    import httpx
    from cryptography.hazmat.primitives.asymmetric import padding
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    root = f"{server.url}/cc/v1"
    key = load_pem_public_key(httpx.get(f"{root}/getrsapubkey").json()["result"].encode())
    assert isinstance(key, RSAPublicKey)
    sent = base64.b64encode(key.encrypt(b"a long password", padding.PKCS1v15())).decode()
    answer = httpx.post(f"{root}/LDAPlogin", json={"username": "bob", "password": sent})
    token = {"MLSS-Token": answer.json()["result"]["token"]}
    mine = httpx.get(f"{root}/namespaces/myNamespace", headers=token).json()["result"]
    assert mine == [{"namespace": "default", "role": "GU"}]
    there = f"{root}/auth/access/users/bob/namespaces/default"
    assert httpx.get(there, headers=token).json()["result"] == "GU"
    assert httpx.get(there.replace("bob", "admin"), headers=token).status_code == 403
    wrong = httpx.post(f"{root}/LDAPlogin", json={"username": "bob", "password": "wrong"})
    assert (wrong.status_code, wrong.json()["code"]) == (401, 401)
    assert httpx.get(f"{server.url}/di/v1/models", headers=token).status_code == 200


def test_our_command_serves_as_theirs(server: ServerProcess, tmp_path: Path) -> None:
    import os
    import subprocess

    from footplate.testing.process import FOOTPLATE

    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("FOOTPLATE_", "XDG_"))
    }
    environment |= {
        "HOME": str(tmp_path),
        "DLAAS_URL": f"{server.url}/di",
        "MLSS_AUTH_TYPE": "LDAP",
        "MLSS_AUTH_USER": "bob",
        "MLSS_AUTH_PASSWD": "YSBsb25nIHBhc3N3b3Jk",
        "LC_ALL": "C.UTF-8",
    }
    manifest = {**MANIFEST, **OF_PROPHECIS, "name": "[#name]"}
    (tmp_path / "manifest.yml").write_text(yaml.safe_dump(manifest))
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text(TRAIN)

    def run(*words: str) -> str:
        command = [*FOOTPLATE, *words] if isinstance(FOOTPLATE, (list, tuple)) else [str(FOOTPLATE), *words]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    # As Prophecis' command it follows the training, and a name may be used again.
    for _ in range(2):
        said = run("train", "manifest.yml", "code", "-P", "name=old-times")
        assert "learner 1 of 1\ndone\n" in said
    model = said.partition("Model ID: ")[2].split()[0]
    assert "old-times-2" in run("list", "--userid", "bob", "--namespace", "default")
    assert "SUCCEEDED" in run("show", model)
    assert run("logs", model) == "learner 1 of 1\ndone\n"
    assert run("loglines", model, "--pagesize", "1").rstrip().endswith("learner 1 of 1")
    run("download", model, "--trainedmodel")
    run("download", model, "--definition")
    for what, inside in (("trainedmodel", "model.txt"), ("definition", "train.py")):
        with zipfile.ZipFile(tmp_path / f"{model}-{what}.zip") as files:
            assert inside in files.namelist()
    run("emetrics", model)
    run("logs", model, "--metrics")
    run("halt", model)
    run("delete", model)
    run("init", "mine", "--type", "tensorflow", "--version", "1.5.0-py3")
    assert "FAILED" not in run("train", "mine/manifest.yml", "code")
    run("version")
    run("help")
