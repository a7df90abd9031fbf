"""Models with a real server, real jobs and the real command, also when the server is killed."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from footplate.domain.errors import FootplateError
from footplate.sdk.client import Client
from footplate.testing.process import PASSWORD, ServerProcess, await_that

# How much of a model has come when the server is killed.
MOMENTS = (0.0, 0.1, 0.5, 0.9, 1.0, 1.0)
MODEL_BYTES = 8 * 1024**2


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("models") / "home") as running:
        yield running


def done(server: ServerProcess, *words: str) -> str:
    ran = server.command(*words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_a_job_registers_its_model_and_the_command_fetches_it(server: ServerProcess, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        "name: trains\ncommand: echo weights > $FOOTPLATE_OUTPUT_DIR/model.bin\n"
        "cpus: 0.1\nmemory: 64MB\nmodel: {name: trained, path: model.bin, aliases: [production]}\n"
    )
    done(server, "submit", str(tmp_path / "job.yaml"), "-f")
    await_that(lambda: "trained" in done(server, "models"), 20)
    done(server, "models", "register", "trained", "--job", "trains", "-m", "accuracy=0.9")
    done(server, "delete", "trains", "--for-good", "-y")
    target = tmp_path / "fetched.bin"
    done(server, "models", "download", "trained@production", str(target))
    assert target.read_text() == "weights\n"
    assert "accuracy" in done(server, "models", "compare", "trained", "1", "2")


def test_a_halted_job_leaves_its_last_snapshot_as_a_model(server: ServerProcess, tmp_path: Path) -> None:
    command = "echo snapshot > $FOOTPLATE_CHECKPOINT_DIR/last; touch ready; sleep 600"
    done(server, "submit", "-n", "halts", "--cpus", "0.1", "--memory", "64MB", "--", command)
    await_that(lambda: "last" in server.command("files", "halts", "--what", "checkpoints").stdout, 20)
    done(server, "halt", "halts", "--wait")
    done(server, "models", "register", "snapshot", "--job", "halts", "--from", "checkpoints")
    done(server, "models", "download", "snapshot", str(tmp_path / "last"))
    assert (tmp_path / "last").read_text() == "snapshot\n"


def test_kills_at_any_moment_leave_whole_versions_only(server: ServerProcess, tmp_path: Path) -> None:
    answered: list[int] = []
    for number, part in enumerate(MOMENTS):
        file = tmp_path / f"{number}.bin"
        file.write_bytes(hashlib.sha256(str(number).encode()).digest() * (MODEL_BYTES // 32))
        kill_within(server, file, part, answered)
        server.start()
    with Client(server.url, user="admin", password=PASSWORD) as client:
        versions = client.model("killed")["versions"] if answered else []
        assert {one["number"] for one in versions} >= set(answered)
        for one in versions:
            # The client checks the digest of all that it fetches.
            client.download_model(f"killed:{one['number']}", tmp_path / "out.bin")
            assert (tmp_path / "out.bin").stat().st_size == MODEL_BYTES
        (tmp_path / "last.bin").write_bytes(b"after all")
        assert client.register_model("killed", tmp_path / "last.bin")["size_bytes"] == 9


def kill_within(server: ServerProcess, file: Path, part: float, answered: list[int]) -> None:
    """Kill the server when so much of a model has come, or it was registered before that."""
    worker = threading.Thread(target=register, args=(server, file, answered))
    wanted = kept_bytes(server) + part * MODEL_BYTES
    worker.start()
    await_that(lambda: not worker.is_alive() or kept_bytes(server) >= wanted, 60)
    server.kill()
    worker.join()


def kept_bytes(server: ServerProcess) -> int:
    sizes = []
    for path in (server.home / "models").rglob("*"):
        # A file may get its name just now.
        with suppress(FileNotFoundError):
            sizes.append(path.stat().st_size if path.is_file() else 0)
    return sum(sizes)


def register(server: ServerProcess, file: Path, answered: list[int]) -> None:
    try:
        with Client(server.url, user="admin", password=PASSWORD, give_up_s=0.1) as client:
            answered.append(client.register_model("killed", file)["number"])
    except (FootplateError, httpx.HTTPError):
        return
