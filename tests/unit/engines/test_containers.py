"""The parts of the container runtime that need no container."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.domain.messages import text
from footplate.domain.secret import RegistryLogin
from footplate.domain.spec import CodeRef, JobSpec, RoleSpec
from footplate.domain.states import TaskState
from footplate.domain.storage import Storage
from footplate.engines.base import Request
from footplate.engines.local.containers import claiming, images, starting
from footplate.engines.local.containers.cards import grant_cards, renumber
from footplate.engines.local.containers.describing import describe
from footplate.engines.local.containers.exec import frames
from footplate.engines.local.containers.finding import find_socket
from footplate.engines.local.containers.images import Progress
from footplate.engines.local.containers.losing import explain
from footplate.engines.local.containers.references import split_reference
from footplate.engines.local.containers.settings import ContainerSettings
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.machine.settings import LocalSettings
from footplate.engines.local.observe.records import Identity, read_claim
from footplate.engines.local.observe.task import Observed, read_end
from footplate.engines.local.observe.watches import TaskKey
from footplate.engines.refusals import refusal
from footplate.engines.streams import Output
from footplate.home.layout import job_folder
from footplate.testing.engine_bench import JOB_ID, Bench, local_settings, plan, volume

NOWHERE = local_settings(Path("/home/fp"), containers=ContainerSettings("/nowhere/engine.sock"))
CAPABLE = {"MemoryLimit": True, "CpuCfsQuota": True, "PidsLimit": True}


@pytest.mark.parametrize(
    ("reference", "parts"),
    [
        ("busybox", ("busybox", "latest")),
        ("busybox:1.36", ("busybox", "1.36")),
        ("registry.local:5000/team/train", ("registry.local:5000/team/train", "latest")),
        ("registry.local:5000/team/train:v2", ("registry.local:5000/team/train", "v2")),
        ("team/train@sha256:abc", ("team/train", "sha256:abc")),
        ("team/train:v2@sha256:abc", ("team/train", "sha256:abc")),
    ],
)
def test_an_image_name_is_parted_from_its_tag(reference: str, parts: tuple[str, str]) -> None:
    assert split_reference(reference) == parts


def test_progress_counts_layers_and_bytes() -> None:
    progress = Progress()
    progress.note({"status": "Pulling from team/train", "id": "v2"})
    progress.note({"status": "Pulling fs layer", "id": "a"})
    progress.note({"status": "Already exists", "id": "b"})
    assert str(progress.say("x")) == "pulling image x: 1 of 2 layers"
    progress.note(
        {"status": "Downloading", "id": "a", "progressDetail": {"current": 2**20, "total": 4 * 2**20}}
    )
    assert str(progress.say("x")) == "pulling image x: 1 of 2 layers, 1MB of 4MB"
    progress.note({"status": "Pull complete", "id": "a", "progressDetail": {}})
    progress.note({"status": "Status: Downloaded newer image"})
    assert str(progress.say("x")) == "pulling image x: 2 of 2 layers, 4MB of 4MB"


@pytest.mark.parametrize(
    ("said", "kind", "hint"),
    [
        ("dial tcp 10.0.0.1:443: connect: connection refused", EngineUnavailable, ""),
        ("Get https://r/v2/: net/http: TLS handshake timeout", EngineUnavailable, ""),
        ("toomanyrequests: You have reached your pull rate limit", EngineUnavailable, ""),
        ("write /var/lib: no space left on device", EngineUnavailable, ""),
        ("manifest for r/x:y not found: manifest unknown", EngineRejected, "its tag"),
        ("pull access denied for x, repository does not exist", EngineRejected, "image_credentials"),
        ("reading manifest 1: unauthorized: authentication required", EngineRejected, "image_credentials"),
    ],
)
def test_a_failed_pull_says_what_to_do(said: str, kind: type[Exception], hint: str) -> None:
    error = images._failure("team/train:1", said, None)
    assert type(error) is kind
    assert error.message.startswith(f"image team/train:1 cannot be pulled: {said}")
    assert hint in error.message


@pytest.mark.parametrize(
    ("image", "said", "kind", "hint"),
    [
        (
            "r:5000/timeout:1",
            "manifest for r:5000/timeout:1 not found: manifest unknown",
            EngineRejected,
            "tag",
        ),
        (
            "r:5000/timeout:1",
            "source docker://r:5000/timeout:1: reading manifest 1 in r:5000/timeout: manifest unknown",
            EngineRejected,
            "its tag",
        ),
        ("r/x:timeout", "reading manifest timeout in r/x: manifest unknown", EngineRejected, "its tag"),
        ("r/x:403", 'Head "https://r/v2/x/manifests/403": manifest unknown', EngineRejected, "its tag"),
        ("r/timeout", 'Get "https://a/?scope=repository%3Atimeout%3Apull": EOF?', EngineRejected, "its tag"),
        ("r/denied:1", "reading manifest 1 in r/denied: manifest unknown", EngineRejected, "its tag"),
        (
            "timeout",
            "pull access denied for timeout, repository does not exist",
            EngineRejected,
            "image_credentials",
        ),
        ("r/timeout:1", 'Get "https://r/v2/": dial tcp 10.0.0.1:443: i/o timeout', EngineUnavailable, ""),
        ("r/timeout:1", "Get https://r/v2/: net/http: TLS handshake timeout", EngineUnavailable, ""),
        ("r/denied:1", "denied: requested access to the resource is denied", EngineRejected, "credentials"),
    ],
)
def test_the_name_of_an_image_is_no_reason(image: str, said: str, kind: type[Exception], hint: str) -> None:
    error = images._failure(image, said, None)
    assert type(error) is kind
    assert hint in error.message


def test_a_refused_login_is_told_without_its_password() -> None:
    error = images._failure("r/x:1", "unauthorized", RegistryLogin("r", "ann", "hush"))
    assert "did not accept the user ann" in error.message
    assert "hush" not in error.message


def listen_at(path: Path) -> socket.socket:
    path.parent.mkdir(parents=True, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    return listener


def test_a_socket_is_found_where_it_was_declared_and_nowhere_else(tmp_path: Path) -> None:
    there, other = tmp_path / "a.sock", tmp_path / "podman" / "podman.sock"
    environment = {"XDG_RUNTIME_DIR": str(tmp_path)}
    with listen_at(there), listen_at(other):
        assert find_socket(str(there), environment) == there
        assert find_socket(f"unix://{there}", environment) == there
        assert find_socket(str(tmp_path / "missing"), environment) is None
        assert find_socket("", environment) == other
        assert find_socket("", {**environment, "DOCKER_HOST": f"unix://{there}"}) == there
        assert find_socket("", {**environment, "DOCKER_HOST": "tcp://far:2375"}) == other
    (tmp_path / "file").touch()
    assert find_socket(str(tmp_path / "file"), {}) is None


def test_an_image_is_refused_where_there_is_no_engine(tmp_path: Path) -> None:
    engine = LocalEngine(NOWHERE)
    spec = JobSpec("train", (RoleSpec("true", "ps"), RoleSpec("true", "worker", image="team/train:1")))
    refused = refusal(engine, spec, {})
    assert refused is not None
    assert refused.path == "image"
    assert "role worker needs the image team/train:1" in refused.message
    assert "no container engine at /nowhere/engine.sock" in refused.message
    # How to get one is for whoever keeps the machine: `footplate doctor` tells it.
    assert "Ask an admin" in refused.message
    assert refusal(engine, spec, {"team/train:1": "/opt/train"}) is None
    assert refusal(engine, JobSpec("train", (RoleSpec("true"),)), {}) is None
    # At a launch that may pass: the engine may be just starting again.
    with pytest.raises(EngineUnavailable, match="role worker needs the image"):
        asyncio.run(engine.launch(engine.compile(plan(*spec.roles))))


def test_an_engine_that_comes_later_is_found_later(tmp_path: Path) -> None:
    path = tmp_path / "engine.sock"
    engine = LocalEngine(local_settings(tmp_path, containers=ContainerSettings(str(path))))
    spec = JobSpec("train", (RoleSpec("true"),), image="team/train:1")
    assert refusal(engine, spec, {}) is not None
    with listen_at(path):
        assert refusal(engine, spec, {}) is None


def run_in(folder: Path, use: Callable[[Bench], Any]) -> None:
    async def main() -> None:
        bench = Bench(lambda: LocalEngine(replace(NOWHERE, home=folder)), folder)
        bench.open()
        try:
            await use(bench)
        finally:
            await bench.close()

    asyncio.run(main())


def test_a_local_environment_stands_in_for_an_image(tmp_path: Path) -> None:
    program = tmp_path / "environment" / "bin" / "train"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho trained in $VIRTUAL_ENV\n")
    program.chmod(0o755)
    home = str(program.parents[1])

    async def use(bench: Bench) -> None:
        role = RoleSpec("train", image="team/train:1")
        launched = await bench.launch(role, environments={"team/train:1": home})
        assert await bench.exit_code(launched) == 0
        assert bench.log(launched).decode() == f"trained in {home}\n"

    run_in(tmp_path / "job", use)


def test_a_stand_in_that_is_not_there_is_named(tmp_path: Path) -> None:
    async def use(bench: Bench) -> None:
        with pytest.raises(EngineRejected, match=r"maps the image team/train:1 to /nowhere"):
            await bench.launch(
                RoleSpec("true", image="team/train:1"), environments={"team/train:1": "/nowhere"}
            )

    run_in(tmp_path, use)


def compiled(folder: Path, role: RoleSpec | None = None, **more: Any) -> Request:
    settings = replace(NOWHERE, home=folder, storages=more.pop("storages", NOWHERE.storages))
    return LocalEngine(settings).compile(plan(role or RoleSpec("train", image="x:1"), **more))


def described(request: Request, info: Any = CAPABLE, settings: LocalSettings = NOWHERE) -> Any:
    return describe(request, request["tasks"][0], info, settings)


def test_nothing_of_the_servers_environment_reaches_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_TIME", "de_DE")
    role = RoleSpec("train", image="x:1", env={"PATH": "/mine", "GREETING": "hello"})
    env = dict(pair.split("=", 1) for pair in described(compiled(tmp_path, role))["Env"])
    assert (env["PATH"], env["GREETING"], env["RANK"]) == ("/mine", "hello", "0")
    assert "LC_TIME" not in env
    assert "HOME" not in env
    assert "PATH" not in "".join(described(compiled(tmp_path))["Env"])


def test_a_place_that_tasks_could_swap_for_a_link_is_not_left_to_the_engine_to_find(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    safe = volume(tmp_path, "/data", inner="set")
    mounts = described(compiled(tmp_path, volumes=(safe,)))["HostConfig"]["Mounts"]
    assert mounts[-1]["Source"] == str(tmp_path / "set")
    shared = {safe.storage: Storage("shared", str(tmp_path), read_only=False)}
    writable = replace(safe, read_only=False)
    with pytest.raises(EngineRejected, match="tasks can write beside it"):
        described(compiled(tmp_path, volumes=(writable,), storages=shared))
    # What they only read is copied instead.
    (mount,) = compiled(tmp_path, volumes=(safe,), storages=shared)["mounts"]
    assert (mount["staged"], mount["inner"], mount["source"]) == (safe.storage, "set", "")


def test_a_container_sees_its_jobs_folders_where_they_are_and_its_mounts(tmp_path: Path) -> None:
    request = compiled(
        tmp_path,
        spec={"code": CodeRef(upload="sha256:0")},
        volumes=(volume(Path("/srv/data"), "/data"),),
    )
    job = job_folder(tmp_path, JOB_ID)
    mounts = described(request)["HostConfig"]["Mounts"]
    assert [(one["Source"], one["Target"], one["ReadOnly"]) for one in mounts] == [
        (f"{job}/attempt-0", f"{job}/attempt-0", False),
        (f"{job}/checkpoints", f"{job}/checkpoints", False),
        (f"{job}/output", f"{job}/output", False),
        (f"{job}/code", f"{job}/code", True),
        ("/srv/data", "/data", True),
    ]


def test_a_container_makes_no_devices_that_others_could_open(tmp_path: Path) -> None:
    assert described(compiled(tmp_path))["HostConfig"]["CapDrop"] == ["MKNOD"]


def test_limits_are_asked_for_as_far_as_the_engine_has_them(tmp_path: Path) -> None:
    request = compiled(tmp_path, RoleSpec("train", image="x:1", shm_bytes=2**28))
    host = described(request)["HostConfig"]
    assert (host["Memory"], host["MemorySwap"], host["ShmSize"]) == (2**30, 2**30, 2**28)
    assert (host["CpuQuota"], host["CpuPeriod"], host["PidsLimit"]) == (100_000, 100_000, 4096)
    assert not {"Memory", "CpuQuota", "PidsLimit"} & described(request, {})["HostConfig"].keys()
    unlimited = replace(NOWHERE, limits=False)
    assert "Memory" not in described(request, CAPABLE, unlimited)["HostConfig"]


def test_ports_are_published_outside_of_the_hosts_network_only(tmp_path: Path) -> None:
    request = compiled(tmp_path)
    assert described(request)["HostConfig"]["NetworkMode"] == "host"
    assert "PortBindings" not in described(request)["HostConfig"]
    body = described(request, settings=replace(NOWHERE, containers=ContainerSettings(network="bridge")))
    assert body["ExposedPorts"] == {"40000/tcp": {}}
    assert body["HostConfig"]["PortBindings"] == {"40000/tcp": [{"HostIp": "127.0.0.1", "HostPort": "40000"}]}


def test_whoever_runs_inside_owns_files_like_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = compiled(tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("os.getegid", lambda: 100)
    assert described(request)["User"] == "1000:100"
    assert described(request, {"Rootless": True})["User"] == "0:0"
    assert described(request, {"SecurityOptions": ["name=rootless"]})["User"] == "0:0"
    named = replace(NOWHERE, containers=ContainerSettings(user="7:8"))
    assert described(request, CAPABLE, named)["User"] == "7:8"


def test_cards_come_by_the_engines_runtime_then_by_their_description_then_as_files(tmp_path: Path) -> None:
    dev, cdi = tmp_path / "dev", tmp_path / "cdi"
    dev.mkdir()
    for name in ("nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm"):
        (dev / name).touch()
    runtime = {"Runtimes": {"runc": {}, "nvidia": {}}}
    assert grant_cards([], runtime, dev, [cdi]) == {}
    assert grant_cards([1], runtime, dev, [cdi]) == {}, "a card that is only declared has no file"
    wanted = grant_cards([0, 3], runtime, dev, [cdi])["DeviceRequests"]
    assert wanted == [{"Driver": "nvidia", "DeviceIDs": ["0", "3"], "Capabilities": [["gpu"]]}]
    files = grant_cards([3], {}, dev, [cdi])["Devices"]
    assert [one["PathInContainer"] for one in files] == ["/dev/nvidia3", "/dev/nvidiactl", "/dev/nvidia-uvm"]
    cdi.mkdir()
    (cdi / "nvidia.yaml").touch()
    named = grant_cards([3], {}, dev, [cdi])["Devices"]
    assert [one["PathOnHost"] for one in named] == ["nvidia.com/gpu=3"]


def test_cards_are_counted_as_inside_a_container_that_has_no_others() -> None:
    env = {"CUDA_VISIBLE_DEVICES": "1,3", "NVIDIA_VISIBLE_DEVICES": "1,3"}
    assert renumber(env, {}) == env
    assert renumber(env, {"Devices": ["some"]}) == {
        "CUDA_VISIBLE_DEVICES": "0,1",
        "NVIDIA_VISIBLE_DEVICES": "1,3",
    }


def test_frames_are_read_however_they_are_cut() -> None:
    stream = b"\x01\0\0\0\0\0\0\x03one\x02\0\0\0\0\0\0\x00\x01\0\0\0\0\0\0\x05\0two\n"

    async def read(size: int) -> bytes:
        async def pieces() -> AsyncIterator[bytes]:
            for start in range(0, len(stream), size):
                yield stream[start : start + size]

        return b"".join([chunk async for chunk in frames(pieces())])

    for size in range(1, len(stream) + 1):
        assert asyncio.run(read(size)) == b"one\0two\n"


def test_output_beyond_its_bound_is_cut() -> None:
    output = Output(4)
    for chunk in (b"ab", b"cd"):
        output.add(chunk)
    assert (bytes(output.kept), output.is_cut) == (b"abcd", False)
    output.add(b"e")
    assert (bytes(output.kept), output.is_cut) == (b"abcd", True)


def test_a_claim_never_begins_after_the_task(tmp_path: Path) -> None:
    identity = Identity(5, 6, "boot")
    assert claiming.keep_from_beginning(tmp_path)
    at = claiming.publish(tmp_path, identity)
    assert at == (tmp_path / "begun").stat().st_mtime
    claim = read_claim(tmp_path)
    assert claim is not None
    assert (claim.identity, claim.at) == (identity, at)
    assert claiming.publish(tmp_path, Identity(7, 8, "boot")) is None
    assert not claiming.keep_from_beginning(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun", "pid"]


def test_a_process_of_this_namespace_is_no_container() -> None:
    assert claiming.identify(1) is None
    assert claiming.identify(2**22) is None


def test_an_engines_word_of_an_out_of_memory_kill_is_taken_and_kept(tmp_path: Path) -> None:
    container = {"State": {"OOMKilled": False, "ExitCode": 125}, "HostConfig": {}}
    lost = Observed(TaskState.LOST, started_at=5.0, detail=text("gone"))
    assert "could not write to the task's folder" in str(explain(lost, container, tmp_path).detail)
    claiming.keep_from_beginning(tmp_path)
    claiming.publish(tmp_path, claiming.gone())
    assert explain(lost, container, tmp_path).state is TaskState.LOST
    container = {"State": {"OOMKilled": True, "ExitCode": 137}, "HostConfig": {"Memory": 64 * 2**20}}
    seen = explain(lost, container, tmp_path)
    assert (seen.state, seen.exit_code, seen.cause) == (TaskState.EXITED, 137, "oom")
    assert seen.limit_bytes == 64 * 2**20
    assert read_end(tmp_path) == seen


@pytest.fixture
def unseen() -> Iterator[TaskKey]:
    """The first process of a namespace that no engine knows of, with the variables of a task."""
    key = TaskKey("0abcdefghjk1.0", "main", 0, 1, in_container=True)
    env = {**os.environ, **dict(mark.split("=") for mark in key.marks_of_run)}
    words = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "sh", "-c"]
    with subprocess.Popen([*words, "echo up; sleep 60; :"], env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        if not process.stdout.readline():
            pytest.skip("this machine gives no namespaces of processes")
        yield key
        process.kill()


def own_group() -> str:
    """Part of the name of the control group that this process, and so its children, are in."""
    return Path("/proc/self/cgroup").read_text().splitlines()[0].rpartition(":")[2]


def test_a_container_that_its_engine_has_forgotten_is_found_by_its_variables(unseen: TaskKey) -> None:
    found = claiming.find(unseen.marks_of_run, own_group())
    assert found is not None
    assert Path(f"/proc/{found.pid}/cmdline").read_bytes().startswith(b"sh\0")
    assert claiming.find(replace(unseen, run=0).marks_of_run, own_group()) is None
    for no_container in ("", "0123456789abcdef"):
        assert claiming.find(unseen.marks_of_run, no_container) is None


def test_a_container_that_began_unseen_is_adopted_unless_it_has_ended(
    unseen: TaskKey, tmp_path: Path
) -> None:
    marks, group = unseen.marks_of_run, own_group()
    assert starting._find_or_give_up(tmp_path, marks, group) == claiming.find(marks, group)
    (tmp_path / "exit").write_text("0\n")
    assert starting._find_or_give_up(tmp_path, marks, group) == claiming.gone()
