"""Jobs with images, by the real command, on a real server and a real container engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.home.layout import attempt_folder, task_folder
from footplate.testing import container_engine as engines
from footplate.testing.bucket import KEY, running_bucket_server
from footplate.testing.container_engine import LOGIN, ContainerEngine, ContainerEngineMissing
from footplate.testing.process import ServerProcess, await_that


@pytest.fixture(scope="module")
def engine() -> Iterator[ContainerEngine]:
    try:
        with engines.running_podman() as running:
            running.load(engines.BUSYBOX, engines.busybox())
            yield running
    except ContainerEngineMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def containers(engine: ContainerEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    home = tmp_path_factory.mktemp("containers") / "home"
    with ServerProcess(home, FOOTPLATE_CONTAINER_SOCKET=str(engine.socket)) as running:
        yield running


def submit(server: ServerProcess, name: str, image: str, command: str, *more: str) -> Any:
    return server.command("submit", "--name", name, "--image", image, *more, "--", command)


def events_of(server: ServerProcess, job: str) -> list[dict[str, Any]]:
    answer = server.command("events", job, "--json")
    assert answer.returncode == 0, answer.stderr
    return [json.loads(line) for line in answer.stdout.splitlines()]


def is_running(server: ServerProcess, job: str) -> bool:
    return bool(json.loads(server.command("show", job, "--json").stdout)["state"] == "RUNNING")


def test_a_job_runs_in_its_image_and_its_log_outlives_the_container(
    containers: ServerProcess, engine: ContainerEngine
) -> None:
    done = submit(containers, "hello", engines.BUSYBOX, "echo hello from $FOOTPLATE_TASK", "--follow")
    assert done.returncode == 0, done.stderr
    await_that(lambda: engine.containers() == [], what="the container is removed")
    assert containers.command("logs", "hello").stdout == "hello from main-0\n"
    steps = [event for event in events_of(containers, "hello") if event["kind"] == "step"]
    # A start that takes longer than a second is a step of its own.
    names = [event["data"]["step"] for event in steps if event["data"]["step"] != "launch"]
    assert names == ["image", "container"]


def test_a_container_is_entered_adopted_and_stopped_although_its_image_is_mapped_meanwhile(
    containers: ServerProcess, engine: ContainerEngine, tmp_path: Path
) -> None:
    assert submit(containers, "stays", engines.BUSYBOX, "echo ready; sleep 1000").returncode == 0
    await_that(lambda: containers.command("logs", "stays").stdout == "ready\n", what="the task runs")
    mapping = ("queues", "edit", "default", "--environment")
    mapped = containers.command(*mapping, f"{engines.BUSYBOX}={tmp_path}")
    assert mapped.returncode == 0, mapped.stderr
    try:
        inside = containers.command("exec", "stays", "--", "sh", "-c", "echo in ${VIRTUAL_ENV:-container}")
        assert inside.stdout == "in container\n", inside.stderr
        containers.kill()
        containers.start()
        stopped = containers.command("stop", "stays", "--now", "--wait")
        assert "STOPPED" in stopped.stdout, stopped.stderr
        await_that(lambda: engine.containers() == [], what="the container is removed")
    finally:
        containers.command(*mapping, "none")


def test_a_private_image_is_pulled_with_a_stored_login(
    containers: ServerProcess, engine: ContainerEngine, tmp_path: Path
) -> None:
    try:
        with engines.running_registry(tmp_path / "registry", is_private=True) as registry:
            image = f"{registry.address}/team/train:1"
            engine.push(engines.BUSYBOX, image, LOGIN)
            engine.remove_image(image)
            refused = submit(containers, "locked-out", image, "true", "--follow")
            assert refused.returncode == 1
            assert "image_credentials" in refused.stdout + refused.stderr
            words = ("secrets", "set", "hub", "--registry", registry.address, "--username", LOGIN[0])
            stored = containers.command(*words, input=LOGIN[1])
            assert stored.returncode == 0, stored.stderr
            job = tmp_path / "job.yaml"
            job.write_text(f"name: let-in\nimage: {image}\nimage_credentials: hub\ncommand: exit 3\n")
            done = containers.command("submit", str(job), "--follow")
            assert done.returncode == 3, done.stderr
            told = [event["message"] for event in events_of(containers, "let-in")]
            assert f"pulling image {image}" in told
    except ContainerEngineMissing as error:
        pytest.skip(str(error))
    assert LOGIN[1] not in containers.log
    assert LOGIN[1] not in json.dumps(events_of(containers, "let-in"))


def test_a_private_image_that_somebody_has_pulled_runs_for_nobody_else(
    containers: ServerProcess, engine: ContainerEngine, tmp_path: Path
) -> None:
    try:
        with engines.running_registry(tmp_path / "registry", is_private=True) as registry:
            image = f"{registry.address}/team/closed:1"
            engine.load("localhost/closed:1", engines.busybox(), Env=["WHO=team"])
            engine.push("localhost/closed:1", image, LOGIN)
            engine.remove_image("localhost/closed:1")
            engine.remove_image(image)
            words = ("secrets", "set", "team-hub", "--registry", registry.address, "--username", LOGIN[0])
            assert containers.command(*words, input=LOGIN[1]).returncode == 0
            job = tmp_path / "job.yaml"
            job.write_text(f"name: member\nimage: {image}\nimage_credentials: team-hub\ncommand: echo $WHO\n")
            assert containers.command("submit", str(job), "--follow").returncode == 0
            other, digest, image_id = alias_of(engine, image)
            for name in (image, digest, other, image_id, image_id.removeprefix("sha256:")[:12]):
                refuse(containers, name)
            containers.kill()
            containers.start()
            for name in (image, other, image_id):
                refuse(containers, name)
            again = containers.command("submit", str(job), "--name", "member-again", "--follow")
            assert again.returncode == 0, again.stdout + again.stderr
            assert containers.command("logs", "member-again").stdout == "team\n"
    except ContainerEngineMissing as error:
        pytest.skip(str(error))
    # What was here before somebody's login brought it once more stays open.
    assert submit(containers, "still-open", engines.BUSYBOX, "true", "--follow").returncode == 0


def alias_of(engine: ContainerEngine, image: str) -> tuple[str, str, str]:
    """Give an image one more tag; return it, its name by digest, and its id."""
    repository = image.rpartition(":")[0]
    with engine.client() as client:
        params = {"repo": repository, "tag": "other"}
        client.post(f"/images/{image}/tag", params=params).raise_for_status()
        found = client.get(f"/images/{image}/json").raise_for_status().json()
    digest = next(name for name in found["RepoDigests"] if name.startswith(f"{repository}@"))
    return f"{repository}:other", digest, found["Id"]


def refuse(server: ServerProcess, image: str) -> None:
    answer = submit(server, "stranger", image, "echo $WHO", "--again", "--follow")
    assert answer.returncode == 1, answer.stdout
    assert "image_credentials" in answer.stdout + answer.stderr
    assert "team\n" not in answer.stdout


def test_a_container_engine_that_is_away_for_a_while_fails_no_job(
    containers: ServerProcess, engine: ContainerEngine
) -> None:
    engine.kill()
    try:
        assert submit(containers, "patient", engines.BUSYBOX, "echo here at last").returncode == 0
        paused = await_that(lambda: _pausing(containers, "patient"), 30, "the job pauses", every_s=0.1)
        # What it waits for must not be forgotten with the server.
        containers.kill()
    finally:
        engine.start()
    containers.start()
    done = containers.command("wait", "patient", "--timeout", "30s")
    assert done.returncode == 0, done.stdout + done.stderr
    reason = paused["reason"]
    retry = reason["details"]["retry"]
    assert f"retry {retry} of 8 after a platform fault, not before" in reason["message"]
    assert "after a platform fault, not before" in containers.command("events", "patient").stdout
    assert containers.command("logs", "patient").stdout == "here at last\n"
    over = json.loads(containers.command("show", "patient", "--json").stdout)
    assert (over["state"], over["attempt"], over["retries_used"]) == ("SUCCEEDED", retry, 0)
    assert over["started_at"] >= reason["details"]["not_before"]


def _pausing(server: ServerProcess, job: str) -> dict[str, Any] | None:
    shown: dict[str, Any] = json.loads(server.command("show", job, "--json").stdout)
    return shown if shown["reason"]["code"] == "retry_later" else None


def test_a_killed_server_finds_its_containers_again(
    containers: ServerProcess, engine: ContainerEngine
) -> None:
    submit(containers, "outlives", engines.BUSYBOX, "until [ -e go ]; do sleep 0.1; done; exit 5")
    await_that(lambda: is_running(containers, "outlives"))
    shown = containers.command("show", "outlives", "--json").stdout
    containers.kill()
    job_id = json.loads(shown)["id"]
    (task_folder(attempt_folder(containers.home, job_id, 0), "main", 0) / "work" / "go").touch()
    containers.start()
    waited = containers.command("wait", "outlives", "--timeout", "30s")
    assert waited.returncode == 5, waited.stderr
    await_that(lambda: engine.containers() == [], what="the container is removed")


def test_a_running_job_that_is_deleted_leaves_no_container(
    containers: ServerProcess, engine: ContainerEngine
) -> None:
    submit(containers, "deleted", engines.BUSYBOX, "sleep 600")
    await_that(lambda: is_running(containers, "deleted"))
    inside = containers.command("exec", "deleted", "--", "cat", "/proc/1/comm")
    assert inside.stdout == "sh\n"
    reads = containers.command("exec", "deleted", "-i", "--", "wc", "-c", input="x" * 3_000_000)
    assert reads.stdout.strip() == "3000000", reads.stderr
    deleted = containers.command("delete", "deleted", "--yes")
    assert deleted.returncode == 0, deleted.stderr
    await_that(lambda: engine.containers() == [], what="the container is removed")


def test_a_container_has_data_of_a_bucket_and_its_results_are_kept(containers: ServerProcess) -> None:
    with running_bucket_server() as buckets, containers.client() as client:
        bucket = buckets.new_bucket()
        assert httpx.put(f"{buckets.url}/{bucket}/sets/one", content="1\n", trust_env=False).is_success
        declared = {"kind": "s3", "endpoint": buckets.url, "bucket": bucket, "credentials": KEY}
        assert client.post("/storages", json={"name": "sets", **declared}).is_success
        command = "cat /data/one; ! touch /data/two; cp /data/one $FOOTPLATE_OUTPUT_DIR/copy"
        options = ("--follow", "-d", "sets/sets:/data", "--results", "home:")
        done = submit(containers, "staged", engines.BUSYBOX, command, *options)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.splitlines()[0] == "1"
        await_that(lambda: client.get("/jobs/staged").json()["results"]["is_complete"])
        kept = client.get("/jobs/staged").json()["results"]["path"]
        where = {"path": f"{kept}/copy"}
        assert client.get("/storages/home/content", params=where).text == "1\n"


# As much of JupyterLab as is asked for to start it; it shows one page where it was told to be.
LAB = """#!/bin/sh
for word; do
  case $word in --port=*) port=${word#*=} ;; --ServerApp.base_url=*) base=${word#*=} ;; esac
done
mkdir -p ".$base" && echo "in $FOOTPLATE_TASK" > ".$base/index.html"
exec httpd -f -p "127.0.0.1:$port"
"""


def test_a_service_runs_in_a_container_and_ends_with_it(
    containers: ServerProcess, engine: ContainerEngine, tmp_path: Path
) -> None:
    lab = tmp_path / "bin" / "jupyter-lab"
    lab.parent.mkdir()
    lab.write_text(LAB)
    lab.chmod(0o755)
    words = ("--code", str(tmp_path), "--env", "PATH=bin:/bin")
    made = submit(containers, "lab", engines.BUSYBOX, "sleep 600", *words)
    assert made.returncode == 0, made.stderr
    await_that(lambda: is_running(containers, "lab"), what="the job runs")
    opened = containers.command("open", "lab", "jupyter", "--json")
    assert opened.returncode == 0, opened.stderr
    with httpx.Client(follow_redirects=True, timeout=30) as browser:
        assert browser.get(json.loads(opened.stdout)["url"]).text == "in main-0\n"
    bare = containers.command("open", "lab", "desktop", "--print")
    assert "take an image" in bare.stderr
    containers.command("stop", "lab")
    await_that(lambda: engine.containers() == [], what="the container is removed")
