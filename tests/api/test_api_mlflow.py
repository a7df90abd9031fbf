"""The real client of MLflow against the server: what trainings and their loggers call."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from apiclient import Api, Data, Hire, fresh

from footplate.testing.fake_engine import FakeTasks

mlflow = pytest.importorskip("mlflow", reason="needs the package mlflow-skinny")


def address(api: Api, job: Data, task: int = 0) -> str:
    engine = api.served.engine
    assert isinstance(engine, FakeTasks)
    env = engine.world.requests[f"{job['id']}.0"]["tasks"][task]["env"]
    told = str(env["MLFLOW_TRACKING_URI"])
    # The fake engine's jobs are told the address of the settings.
    return f"{told.rpartition('@')[0]}@{api.served.url.partition('//')[2]}"


@pytest.fixture
def inside(ann: Api, monkeypatch: pytest.MonkeyPatch) -> Iterator[Data]:
    """A job, and this process as if it ran in it."""
    job = ann.running(parameters={"lr": 0.1})
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    # A new process has chosen no experiment; the client remembers the one of the test before.
    monkeypatch.setattr("mlflow.tracking.fluent._active_experiment_id", None)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", "")
    monkeypatch.delenv("MLFLOW_EXPERIMENT_ID")
    mlflow.set_tracking_uri(address(ann, job))
    yield job
    while mlflow.active_run() is not None:
        mlflow.end_run()
    mlflow.set_tracking_uri("")


def curves(api: Api, job: Data) -> dict[str, list[float]]:
    items = api.ok("GET", f"/jobs/{job['id']}/metrics")["items"]
    return {one["name"]: one["values"] for one in items}


def test_a_script_logs_params_metrics_tags_and_artifacts(ann: Api, inside: Data, tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"weights" * 100_000)
    with mlflow.start_run(run_name="first") as run:
        mlflow.log_param("optimizer", "adam")
        mlflow.log_params({"lr": 0.1, "layers": 3})
        for step in range(5):
            mlflow.log_metric("loss", 1 / (step + 1), step=step)
        mlflow.log_metrics({"acc": 0.9, "bad": float("nan")}, step=4)
        mlflow.set_tag("kind", "baseline")
        mlflow.log_artifact(str(tmp_path / "model.bin"), artifact_path="models")
        mlflow.log_text("hello", "notes/read.txt")
        mlflow.log_dict({"a": 1}, "config.json")
    found = mlflow.get_run(run.info.run_id)
    assert (found.info.status, found.info.run_name) == ("FINISHED", "first")
    assert found.data.params == {"optimizer": "adam", "lr": "0.1", "layers": "3"}
    assert found.data.metrics["loss"] == 0.2
    assert found.data.tags["kind"] == "baseline"
    assert curves(ann, inside)["loss"] == [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]
    client = mlflow.MlflowClient()
    assert [one.step for one in client.get_metric_history(run.info.run_id, "loss")] == [0, 1, 2, 3, 4]
    listed = {one.path: one.is_dir for one in client.list_artifacts(run.info.run_id)}
    assert listed == {"config.json": False, "models": True, "notes": True}
    fetched = client.download_artifacts(run.info.run_id, "models/model.bin", str(tmp_path))
    assert Path(fetched).read_bytes() == b"weights" * 100_000
    output = ann.folder(inside) / "mlflow" / run.info.run_id
    assert (output / "notes" / "read.txt").read_text() == "hello"


def test_runs_are_searched(ann: Api, inside: Data) -> None:
    experiment = mlflow.set_experiment(f"search-{inside['id']}")
    for lr, loss in ((0.1, 0.5), (0.01, 0.2), (0.001, 0.8)):
        with mlflow.start_run(run_name=f"lr-{lr}"):
            mlflow.log_param("lr", lr)
            mlflow.log_metric("loss", loss)
    client = mlflow.MlflowClient()

    def names(wanted: str = "", **more: Any) -> list[str]:
        found = client.search_runs([experiment.experiment_id], wanted, **more)
        return [run.info.run_name for run in found]

    assert names(order_by=["metrics.loss ASC"]) == ["lr-0.01", "lr-0.1", "lr-0.001"]
    assert names("metrics.loss < 0.6 and params.lr = '0.1'") == ["lr-0.1"]
    assert set(names("attributes.run_name LIKE 'lr-0.0%'")) == {"lr-0.01", "lr-0.001"}
    assert names("metrics.loss > 0.7 and attributes.status = 'FINISHED'") == ["lr-0.001"]
    assert len(names(max_results=2)) == 2
    with pytest.raises(mlflow.MlflowException, match="filter"):
        names("nonsense")
    # The second run of a task has its curves beside those of the first.
    assert curves(ann, inside) == {"loss": [0.5], "lr-0.01/loss": [0.2], "lr-0.001/loss": [0.8]}


def test_what_the_logger_of_lightning_calls(ann: Api, inside: Data) -> None:
    client = mlflow.MlflowClient()
    experiment_id = client.create_experiment(f"lightning-{inside['id']}")
    run = client.create_run(experiment_id, tags={"mlflow.runName": "fit"})
    entities = mlflow.entities
    client.log_batch(run.info.run_id, params=[entities.Param("max_epochs", "3")])
    for epoch in range(3):
        metrics = [
            entities.Metric("epoch", epoch, 1_700_000_000_000, epoch),
            entities.Metric("train_loss", 1 / (epoch + 1), 1_700_000_000_000, epoch),
        ]
        client.log_batch(run.info.run_id, metrics=metrics)
    client.set_terminated(run.info.run_id, "FINISHED")
    assert client.get_run(run.info.run_id).info.status == "FINISHED"
    assert curves(ann, inside)["train_loss"] == [1, 1 / 2, 1 / 3]
    with pytest.raises(mlflow.MlflowException, match="experiment"):
        client.create_experiment(f"lightning-{inside['id']}")


def test_what_the_callback_of_hugging_face_calls(ann: Api, inside: Data) -> None:
    mlflow.set_experiment(f"trainer-{inside['id']}")
    mlflow.start_run(run_name="bert")
    mlflow.log_params({f"option_{number}": number for number in range(150)}, synchronous=True)
    mlflow.log_metrics({"loss": 2.5, "learning_rate": 5e-5, "epoch": 0.1}, step=10, synchronous=False)
    mlflow.log_metrics({"eval_loss": 2.0}, step=20, synchronous=False)
    mlflow.flush_async_logging()
    mlflow.end_run()
    found = curves(ann, inside)
    assert (found["loss"], found["eval_loss"]) == ([2.5], [2.0])


def test_a_script_registers_its_model_and_another_fetches_it(
    ann: Api, inside: Data, tmp_path: Path, hire: Hire
) -> None:
    name, client = fresh("mlflow"), mlflow.MlflowClient()
    (tmp_path / "model").mkdir()
    (tmp_path / "model/weights.bin").write_bytes(b"weights" * 100_000)
    (tmp_path / "model/notes").mkdir()
    # By this the client knows a model.
    (tmp_path / "model/MLmodel").write_text("flavors: {}\n")
    (tmp_path / "model/notes/read me.txt").write_text("hello")
    with mlflow.start_run() as run:
        mlflow.log_artifacts(str(tmp_path / "model"), "model")
        version = mlflow.register_model(f"runs:/{run.info.run_id}/model", name, tags={"stage": "test"})
    assert (version.version, version.status, version.run_id) == ("1", "READY", run.info.run_id)
    assert version.tags == {"stage": "test"}
    # It outlives what it was made of.
    shutil.rmtree(ann.folder(inside) / "mlflow")
    client.set_registered_model_alias(name, "production", "1")
    client.update_model_version(name, "1", description="the first")
    client.set_model_version_tag(name, "1", "checked", "yes")
    for reference in (f"{name}/1", f"{name}/latest", f"{name}@production"):
        fetched = Path(
            mlflow.artifacts.download_artifacts(f"models:/{reference}", dst_path=str(tmp_path / "got"))
        )
        assert (fetched / "weights.bin").read_bytes() == b"weights" * 100_000
        assert (fetched / "notes/read me.txt").read_text() == "hello"
    found = client.get_model_version_by_alias(name, "production")
    assert (found.description, found.tags, found.aliases) == (
        "the first",
        {"stage": "test", "checked": "yes"},
        ["production"],
    )
    assert [one.version for one in client.search_model_versions(f"name='{name}'")] == ["1"]
    assert [one.name for one in client.search_registered_models(f"name LIKE '%{name[-6:]}%'")] == [name]
    # It is a model as any other here.
    seen = ann.ok("GET", f"/models/{name}")
    assert (seen["aliases"], seen["latest"]["origin"]["job_id"]) == ({"production": 1}, inside["id"])
    with pytest.raises(mlflow.exceptions.MlflowException, match="ALREADY_EXISTS"):
        client.create_registered_model(name)
    assert client.create_registered_model(f"{name}-empty", description="none yet").latest_versions == []
    client.delete_registered_model_alias(name, "production")
    client.delete_model_version(name, "1")
    with pytest.raises(mlflow.exceptions.MlflowException, match="no version"):
        client.get_model_version(name, "1")
    client.delete_registered_model(name)
    with pytest.raises(mlflow.exceptions.MlflowException, match="no model"):
        client.get_registered_model(name)


def log_model(folder: Path, run_id: str, **about: Any) -> Any:
    """Log a model as `log_model` of a flavor does; the flavors themselves need more than mlflow-skinny."""
    client = mlflow.MlflowClient()
    made = client.create_logged_model("0", name="net", source_run_id=run_id, **about)
    folder.mkdir(exist_ok=True)
    (folder / "weights.bin").write_bytes(b"weights")
    mlflow.models.Model(artifact_path=made.artifact_location, model_id=made.model_id).save(
        str(folder / "MLmodel")
    )
    client.log_model_artifacts(made.model_id, str(folder))
    return client.finalize_logged_model(made.model_id, "READY")


def test_a_model_that_a_flavor_logs_is_registered_and_fetched(
    ann: Api, inside: Data, tmp_path: Path, hire: Hire
) -> None:
    name, client = fresh("mlflow"), mlflow.MlflowClient()
    with mlflow.start_run() as run:
        made = log_model(tmp_path / "net", run.info.run_id, params={"depth": "3"})
        again = log_model(tmp_path / "net", run.info.run_id, tags={"kept": "no"})
        mlflow.register_model(f"models:/{made.model_id}", name)
        mlflow.log_outputs(models=[mlflow.entities.LoggedModelOutput(made.model_id, step=1)])
    logged = client.get_logged_model(made.model_id)
    assert (logged.name, logged.source_run_id, str(logged.status)) == ("net", run.info.run_id, "READY")
    assert (logged.params, again.model_id != made.model_id) == ({"depth": "3"}, True)
    found = client.search_logged_models(["0"], filter_string="name = 'net'")
    assert {made.model_id, again.model_id} <= {one.model_id for one in found}
    client.set_logged_model_tags(made.model_id, {"a": "1", "b": "2"})
    client.delete_logged_model_tag(made.model_id, "a")
    assert client.get_logged_model(made.model_id).tags["b"] == "2"
    assert not [key for key in client.get_run(run.info.run_id).data.tags if key.startswith("footplate.")]
    for number, uri in enumerate((f"models:/{made.model_id}", f"models:/{name}/1")):
        fetched = Path(mlflow.artifacts.download_artifacts(uri, dst_path=str(tmp_path / str(number))))
        assert (fetched / "weights.bin").read_bytes() == b"weights"
    assert client.get_model_version(name, "1").run_id == run.info.run_id
    assert ann.ok("GET", f"/models/{name}")["latest"]["origin"]["path"] == f"mlflow/{run.info.run_id}/net"
    at, other = f"{ann.served.url}/api/2.0/mlflow/logged-models", hire(default="member").http
    assert other.get(f"{at}/{made.model_id}").status_code in (403, 404)
    assert other.patch(f"{at}/{made.model_id}/tags", json={"tags": []}).status_code in (403, 404)
    assert other.post(f"{at}/search", json={"experiment_ids": ["0"]}).json() == {"models": []}
    client.delete_logged_model(made.model_id)
    with pytest.raises(mlflow.exceptions.MlflowException, match="no model"):
        client.get_logged_model(made.model_id)


def test_nobody_reaches_models_or_artifacts_of_somebody_else(ann: Api, inside: Data, hire: Hire) -> None:
    name = fresh("mlflow")
    with mlflow.start_run() as run:
        mlflow.log_text("only the owner may read this", "model/secret")
        mlflow.log_text("flavors: {}", "model/MLmodel")
        source = mlflow.register_model(f"runs:/{run.info.run_id}/model", name).source
    other, base = hire(default="member"), f"{ann.served.url}/api/2.0"
    place = source.removeprefix("mlflow-artifacts:/")
    run_source = f"mlflow-artifacts:/{run.info.run_id}/artifacts/model"
    calls = (
        ("GET", f"/mlflow/registered-models/get?name={name}", None),
        ("GET", f"/mlflow/model-versions/get?name={name}&version=1", None),
        ("GET", f"/mlflow/model-versions/get-download-uri?name={name}&version=1", None),
        ("GET", f"/mlflow-artifacts/artifacts?path={place}", None),
        ("GET", f"/mlflow-artifacts/artifacts/{place}/secret", None),
        ("PUT", f"/mlflow-artifacts/artifacts/{place}/secret", None),
        ("GET", f"/mlflow-artifacts/artifacts?path={run.info.run_id}/artifacts/model", None),
        ("GET", f"/mlflow-artifacts/artifacts/{run.info.run_id}/artifacts/model/secret", None),
        ("GET", f"/mlflow/artifacts/list?run_id={run.info.run_id}&path=model", None),
        ("POST", "/mlflow/model-versions/create", {"name": fresh("stolen"), "source": run_source}),
        ("PATCH", "/mlflow/registered-models/update", {"name": name, "description": "mine"}),
        ("DELETE", "/mlflow/registered-models/delete", {"name": name}),
        ("POST", "/mlflow/registered-models/alias", {"name": name, "alias": "a", "version": "1"}),
    )
    for method, path, body in calls:
        answer = other.http.request(method, base + path, json=body)
        assert answer.status_code in (403, 404, 405), (path, answer.status_code, answer.text)
        assert "only the owner" not in answer.text, path
    for path in ("registered-models/search", "model-versions/search"):
        assert name not in other.http.get(f"{base}/mlflow/{path}").text
        assert name in ann.http.get(f"{base}/mlflow/{path}").text
    assert (
        ann.http.get(f"{base}/mlflow-artifacts/artifacts/{place}/secret").text
        == "only the owner may read this"
    )


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "model-versions/create", {"name": "x", "source": "/etc/passwd"}),
        (
            "POST",
            "model-versions/create",
            {"name": "x", "source": "mlflow-artifacts:/none/artifacts/../../x"},
        ),
        ("POST", "model-versions/create", {"name": "x", "source": "runs:/none/x"}),
        ("POST", "registered-models/create", {"name": "a b/c"}),
        ("POST", "registered-models/create", {"name": "x", "tags": [{"key": "y" * 80}]}),
        ("POST", "registered-models/alias", {"name": "x", "alias": "1/2", "version": "1"}),
        ("GET", "model-versions/search?filter=tags.x%3D1", None),
        ("GET", "registered-models/get", None),
    ],
)
def test_bad_calls_of_the_registry_are_refused(ann: Api, method: str, path: str, body: Data | None) -> None:
    answer = ann.http.request(method, f"{ann.served.url}/api/2.0/mlflow/{path}", json=body)
    assert answer.status_code in (404, 422), answer.text
    assert answer.json()["error_code"] in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")


def test_others_see_runs_only_of_jobs_that_they_may_look_into(ann: Api, inside: Data, hire: Hire) -> None:
    with mlflow.start_run() as run:
        mlflow.log_metric("loss", 1)
    run_id = run.info.run_id
    for somebody in (ann, another := hire(default="member"), hire()):
        answer = somebody.http.get(f"{ann.served.url}/api/2.0/mlflow/runs/get", params={"run_id": run_id})
        assert answer.status_code == (200 if somebody is ann else 403 if somebody is another else 404)
    at = f"{ann.served.url}/api/2.0/mlflow"
    metric = {"run_id": run_id, "key": "loss", "value": 1, "timestamp": 1}
    assert another.http.post(f"{at}/runs/log-metric", json=metric).status_code == 403
    upload = f"{ann.served.url}/api/2.0/mlflow-artifacts/artifacts/{run_id}/artifacts/x"
    assert another.http.put(upload, content=b"x").status_code == 403
    searched = another.http.post(f"{at}/runs/search", json={"experiment_ids": ["0"]}).json()
    assert run_id not in [one["info"]["run_id"] for one in searched["runs"]]
    # A run is begun in a job, not by a person.
    made = ann.http.post(f"{at}/runs/create", json={"experiment_id": "0"})
    assert (made.status_code, made.json()["error_code"]) == (403, "PERMISSION_DENIED")


@pytest.mark.parametrize("path", ["../x", "a/../../x", "%2e%2e/x"])
def test_artifacts_stay_in_their_run(ann: Api, inside: Data, path: str) -> None:
    with mlflow.start_run() as run:
        pass
    at = f"{ann.served.url}/api/2.0/mlflow-artifacts/artifacts/{run.info.run_id}/artifacts"
    assert ann.http.put(f"{at}/{path}", content=b"x").status_code in (404, 405, 422)
    folder = ann.folder(inside) / "mlflow" / run.info.run_id
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "link").symlink_to("/etc")
    assert ann.http.put(f"{at}/link/x", content=b"x").status_code >= 400
    assert ann.http.get(f"{at}/link/passwd").status_code == 404
    listed = ann.http.get(
        f"{ann.served.url}/api/2.0/mlflow/artifacts/list", params={"run_id": run.info.run_id}
    ).json()
    assert [(one["path"], one["is_dir"]) for one in listed["files"]] == [("link", False)]


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"run_id": 5}', b'{"run_id": "x", "metrics": 5}'])
def test_bad_calls_are_refused(ann: Api, body: bytes) -> None:
    answer = ann.http.post(f"{ann.served.url}/api/2.0/mlflow/runs/log-batch", content=body)
    assert answer.status_code in (404, 422)
    assert answer.json()["error_code"]
