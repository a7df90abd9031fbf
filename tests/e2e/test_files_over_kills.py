"""A real server that is killed while files come in, go to jobs, and leave them: old or new, never half.

`FOOTPLATE_TEST_SEED` changes how far each is when the server is killed. Kills while models are registered
are in `test_models_for_real`.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.domain.errors import FootplateError
from footplate.sdk.client import Client
from footplate.testing.bucket import KEY, BucketServer, running_bucket_server
from footplate.testing.process import PASSWORD, ServerProcess, await_that

SEED = int(os.environ.get("FOOTPLATE_TEST_SEED", "1"))
N_KILLS = 3
LARGE_BYTES = 24 * 1024**2
N_SMALL, SMALL_BYTES = 700, 700
# Each is large enough to be linked, not copied; and as many small ones.
N_RESULTS, RESULT_BYTES = 24, 1200 * 1024
COMMAND = f"""
cd $FOOTPLATE_OUTPUT_DIR
for i in $(seq {N_RESULTS}); do
  head -c {RESULT_BYTES} /dev/urandom >large-$i
  head -c {SMALL_BYTES} /dev/urandom >small-$i
done
sha256sum *
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def chance() -> random.Random:
    return random.Random(SEED)


@pytest.fixture
def home(server: ServerProcess) -> Path:
    """The folder of the admin's own storage."""
    with server.client() as client:
        client.put("/storages/home/content", params={"path": "first"}, content=b"").raise_for_status()
    (folder,) = (server.home / "storages" / "home").glob("admin-*")
    return folder


def kill_while(server: ServerProcess, work: Callable[[Client], object], is_due: Callable[[], bool]) -> None:
    """Kill the server once something is so far, or is done before that; start it again."""

    def act() -> None:
        with (
            suppress(FootplateError, httpx.HTTPError),
            Client(server.url, user="admin", password=PASSWORD, give_up_s=0.1) as client,
        ):
            work(client)

    worker = threading.Thread(target=act)
    worker.start()
    await_that(lambda: not worker.is_alive() or is_due(), 60, every_s=0.001)
    server.kill()
    worker.join()


def size_below(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            # A file may get its name just now.
            with suppress(FileNotFoundError):
                total += os.stat(f"{place}/{name}").st_size  # noqa: PTH116  # very often
    return total


def test_a_kill_within_an_upload_leaves_the_old_or_the_new_file(
    server: ServerProcess, home: Path, chance: random.Random, tmp_path: Path
) -> None:
    local, file = tmp_path / "file", home / "file"
    file.write_bytes(b"old")
    known = {b"old"}
    for number in range(N_KILLS):
        content = chance.randbytes(1024) * (LARGE_BYTES // 1024)
        local.write_bytes(content)
        wanted = size_below(home) + chance.random() * LARGE_BYTES
        kill_while(
            server,
            lambda client: client.storage("home").upload(local, "file"),
            lambda wanted=wanted: size_below(home) >= wanted,  # type: ignore[misc]
        )
        found = file.read_bytes()
        assert found in known or found == content, f"half a file after kill {number}"
        known = {found}
        server.start()
    assert server.command("cp", str(local), "home:file").returncode == 0
    assert file.read_bytes() == content


def test_a_kill_within_many_small_files_leaves_each_old_or_new(
    server: ServerProcess, home: Path, chance: random.Random, tmp_path: Path
) -> None:
    local, there = tmp_path / "many", home / "many"
    local.mkdir()
    generations: list[bytes] = []
    for number in range(N_KILLS):
        generations.append(f"{number} ".encode().ljust(SMALL_BYTES, b"."))
        for index in range(N_SMALL):
            (local / f"{index:05}").write_bytes(generations[-1])
        n_wanted = chance.randrange(N_SMALL)

        def is_due(number: int = number, n_wanted: int = n_wanted) -> bool:
            """Whether so many are of this generation: they come in their order."""
            try:
                return (there / f"{n_wanted:05}").read_bytes() == generations[number]
            except FileNotFoundError:
                return False

        kill_while(server, lambda client: client.storage("home").upload(local, ""), is_due)
        assert {one.read_bytes() for one in there.iterdir()} <= set(generations)
        server.start()
    assert server.command("cp", str(local), "home:").returncode == 0
    assert {one.read_bytes() for one in there.iterdir()} == {generations[-1]}
    assert len(list(there.iterdir())) == N_SMALL


@pytest.fixture(scope="module")
def buckets() -> Iterator[BucketServer]:
    with running_bucket_server() as running:
        yield running


def test_a_kill_while_data_is_brought_leaves_no_half_of_it_for_the_job(
    server: ServerProcess, buckets: BucketServer, chance: random.Random
) -> None:
    bucket, staged = buckets.new_bucket(), server.home / "staged"
    content = chance.randbytes(LARGE_BYTES)
    assert httpx.put(f"{buckets.url}/{bucket}/set/data", content=content, trust_env=False).is_success
    declared = {"name": "sets", "kind": "s3", "endpoint": buckets.url, "bucket": bucket, "credentials": KEY}
    with server.client() as client:
        client.post("/storages", json=declared).raise_for_status()
    words = ("-n", "brought", "--cpus", "0.1", "-d", "sets/set:/data", "--", "sha256sum </data/data")
    done = server.command("submit", *words)
    assert done.returncode == 0, done.stderr
    for _ in range(N_KILLS):
        wanted = size_below(staged) + chance.random() * LARGE_BYTES
        await_that(lambda wanted=wanted: size_below(staged) >= wanted or is_over(server, "brought"), 60)  # type: ignore[misc]
        server.kill()
        for file in staged.glob("files/*/*"):
            assert file.name.endswith(".part") or file.read_bytes() == content
        server.start()
    waited = server.command("wait", "brought")
    assert waited.returncode == 0, waited.stdout + waited.stderr
    assert server.command("logs", "brought").stdout.split()[0] == hashlib.sha256(content).hexdigest()


def is_over(server: ServerProcess, name: str) -> bool:
    return str(shown(server, name)["state"]) in ("SUCCEEDED", "FAILED")


def shown(server: ServerProcess, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(server.command("show", name, "--json").stdout)
    return found


def test_a_kill_while_results_are_saved_leaves_whole_files_and_all_come(
    server: ServerProcess, home: Path, chance: random.Random
) -> None:
    for number in range(N_KILLS):
        name, n_wanted = f"saves-{number}", chance.randrange(1, 2 * N_RESULTS)
        done = server.command("submit", "-n", name, "--cpus", "0.5", "--results", "home:", "--", COMMAND)
        assert done.returncode == 0, done.stderr
        folder = home / shown(server, name)["results"]["path"]
        await_that(lambda folder=folder, n=n_wanted: count_in(folder) >= n, 60, every_s=0.001)  # type: ignore[misc]
        server.kill()
        there = digests_in(folder)
        server.start()
        assert server.command("wait", name, "--results").returncode == 0
        lines = server.command("logs", name).stdout.splitlines()
        wanted = {name: digest for digest, name in (line.split() for line in lines)}
        assert there.items() <= wanted.items(), f"half a result after kill {number}"
        assert digests_in(folder) == wanted
        listed = json.loads((folder / "footplate-manifest.json").read_text())["files"]
        assert {one["path"]: one["sha256"] for one in listed} == wanted


def count_in(folder: Path) -> int:
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def digests_in(folder: Path) -> dict[str, str]:
    files = [one for one in folder.iterdir() if one.suffix != ".json"]
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in files}
